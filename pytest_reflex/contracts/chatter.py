"""Words of an agent to its reader: they are not part of the artifact that was asked for.

An answer with such words around one fence is what the fence holds. Where nothing says which part
is the artifact, the answer is refused. Promises: a document that has blocks of its own stays whole;
what is looked at are the first and the last words outside of fences, and only short ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_reflex.contracts.extract import unwrapped

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$", re.MULTILINE)
_LONGEST = 600  # characters of words around a fence, or of a refusal
_MARKDOWN = frozenset({"markdown", "md"})
_HEADING = re.compile(r"^\#{1,6}\s", re.MULTILINE)

_THING = r"""(?:artifact|document|documentation|file|files|text|version|draft|answer|content
    |contents|page|guide|readme|spec|specification|code|script|configuration|config|module|program|test|tests|
    result|output|markdown|yaml|json|toml|implementation|solution|schema|section|sections|
    [\w./-]+\.\w{1,5})"""
_HERE = rf"""(?:here\ (?:it|you|they)\ (?:is|are|go)\b
    | (?:here(?:['’]s|\ is|\ are)|below\ (?:is|are))\ (?:the|your|my|an?|our)[ ]
        (?:[\w'’`*-]+\ ){{0,6}}?[`*]*{_THING}\b(?!\ (?!(?:with|for|that|which|as|in|you|and
        |based|where|now|below|to|of|after|incorporating|including|addressing)\b)\w)
    | (?:the|your)\ (?:\w+\ ){{0,3}}?{_THING}\ (?:(?:is|are)\ (?:below|ready|here|as\ follows)
        |follows)\b)"""
_DID = r"""i(?:['’]ve|\ have|\ just)?\ (?:now\ |also\ |just\ |successfully\ )?
        (?:written|wrote|updated|created|added|fixed|changed|made|refined|rewritten|rewrote|revised|
        edited|saved|mended|implemented|completed|produced|generated|applied|included|corrected|
        kept|improved|expanded|reviewed)\b"""
_GOES = r"(?:i['’]ll|i\ will|let\ me|i['’]m\ going\ to|i\ am\ going\ to)\ (?!know\b)\w+\b"
_OPENING = re.compile(
    rf"""\W*(?:(?:sure(?:\ thing)?|certainly|of\ course|absolutely|okay|ok|great|got\ it|done|
        understood|no\ problem|alright|all\ done)\b[\s!.,:;—–-]*
        (?:(?:{_HERE}|{_DID}|{_GOES}).*)?$
    | (?:{_HERE}|{_DID}|{_GOES}).*)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CLOSING = re.compile(
    rf"""\W*(?:(?:please\ )?let\ me\ know\b | feel\ free\b | (?:i\ )?hope\ (?:this|that|it)\b
    | (?:would|do)\ you\ (?:like|want)\b | is\ there\ anything\b | if\ you(?:['’]d|\ would)\ like\b
    | if\ you\ (?:need|want|have)\b | (?:this|the)\ (?:\w+\ ){{0,3}}?(?:{_THING})\ (?:now|includes?|
        contains?|follows|covers|should|meets|satisfies|passes|addresses|has|keeps)\b
    | (?:this|it)\ (?:should|now|includes|covers|addresses|meets|satisfies|passes)\b
    | (?:all|each|every)\ (?:of\ )?(?:the\ )?(?:\w+\ )?(?:rules?|checks?|issues?|requirements?)\b
    | (?:changes?|what\ i\ changed|summary|notes?|key\ (?:changes|points))\b[^\n]{{0,40}}: | {_DID}
    ).*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# The whole of an answer that speaks of the work and shows none of it.
_NAME = r"[\w./-]+\.[A-Za-z]\w{0,4}"
_REPORT = re.compile(
    rf"""\W*(?:(?:done|okay|ok|great|sure|all\ done)\b[\s!.,:;—–-]*)?(?:
      i(?:['’]ve|\ have)\ (?:now\ |also\ )?\w+(?:ed|en|de|ne|it)\ [^\n]{{0,80}}?
        (?:\b(?:the|your|this)\ (?:[\w'’-]+\ ){{0,4}}?{_THING}\b | [`*]*\b{_NAME}\b)
    | {_DID}[^\n]{{0,120}}?\b(?:{_NAME}|requested|instructed)\b).*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_ABLE = r"(?:write|edit|create|modify|update|change|access|save|read|open|run|execute|use|produce)"
_REFUSAL = re.compile(
    rf"""\W*(?:(?:(?:i['’]m|i\ am)\ )?(?:sorry|afraid|unfortunately|apologies|i\ apologi[sz]e)\b
        (?:\ (?:but|that))?[\s,.:;—–-]*)?
        (?:it\ (?:seems|looks|appears)\ (?:like\ |that\ )?|however,?\ |but\ )?(?:
      i(?:['’]ll|\ will|\ would|['’]d|\ still)?\ (?:need|require)
        \ (?:\w+\ ){{0,3}}?(?:permissions?|approval|access|authori[sz]ation|consent)\b
    | i(?:['’]m|\ am)\ waiting\ for\ (?:\w+\ ){{0,3}}?(?:permissions?|approval|access)\b
    | i\ (?:do\ not|don['’]t|currently\ don['’]t)\ (?:\w+\ )?have\ (?:\w+\ ){{0,3}}?
        (?:permissions?|access|approval|tools?|ability)\b
    | i(?:\ can(?:no|['’])t|\ cannot|['’]m\ (?:not\ able|unable)\ to|\ am\ (?:not\ able|unable)\ to
        |\ was\ (?:not\ able|unable)\ to|\ could\ not|\ couldn['’]t)[ ]
        (?:\w+\ )?(?:{_ABLE}\ (?:\w+\ ){{0,4}}?[`]?(?:files?|artifact|document|disk|{_NAME})\b
            | (?:{_ABLE}|proceed|continue)\ (?:\w+\ ){{0,6}}?(?:permissions?|approval|access)\b
            | (?:help|assist|comply|continue|proceed)\ (?:you\ )?(?:with\ )?(?:this|that|the)[ ]
            (?:request|task)\b | (?:help|assist)\ with\ (?:this|that)\b[.!]*\s*$
            | (?:complete|fulfil+|do)\ (?:this|that|the|your)\ (?:\w+\ )?(?:request|task)\b)
    | (?:the\ )?(?:(?:write|edit|file|tool)\ )?(?:permissions?|access)\ (?:\w+\ ){{0,5}}?
        (?:(?:was|were|is|has\ been|have\ been)\ (?:denied|refused|needed|not\ granted)
        |(?:wasn['’]t|hasn['’]t\ been|not)\ granted|denied)\b
    | (?:could|can|would)\ you\ (?:please\ )?(?:grant|approve|allow|give|confirm|authori[sz]e)\b
    | (?:please|you(?:['’]ll)?\ need\ to|you\ must)\ (?:\w+\ )?
        (?:grant|approve|allow|authori[sz]e)\b
    | as\ an\ ai\b ).*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why an answer is not an artifact."""

    reason: str


def without_chatter(text: str) -> str | Unusable:
    """Return the artifact in an answer, or why there is none.

    A text with no such words is returned as it is.
    """
    bare = text.strip()
    if _is_short_prose(bare):
        if _REFUSAL.fullmatch(bare):
            return Unusable("the answer is a refusal or asks for a permission; " + _WHOLE)
        if _REPORT.fullmatch(bare):
            return Unusable("the answer describes what was done; " + _WHOLE)
    found = _in_fence(text)
    first, _, rest = bare.partition("\n")
    # "Here is the updated document:" over the document itself.
    if found == text and rest and len(first) <= 200 and _HERE_FIRST.fullmatch(first):
        return Unusable("there is text around the artifact; " + _WHOLE)
    return found


_WHOLE = "the whole artifact and nothing else is needed"
_HERE_FIRST = re.compile(rf"\W*(?:\w+[,!.]\ )?{_HERE}.*:\W*", re.IGNORECASE | re.VERBOSE)


def _in_fence(text: str) -> str:
    """Return what stands in the one fence that has words of an agent around it, else the text."""
    marks = list(_FENCE.finditer(text))
    if len(marks) < 2:
        return text
    before, after = text[: marks[0].start()].strip(), text[marks[-1].end() :].strip()
    around = f"{before}\n{after}"
    if not around.strip() or _HEADING.search(around) or max(len(before), len(after)) > _LONGEST:
        return text
    inside = text[marks[0].start() : marks[-1].end()]
    content = unwrapped(inside)
    if content == inside or not content.strip():
        return text
    opens, closes = bool(_OPENING.fullmatch(before)), bool(_CLOSING.fullmatch(after))
    is_wrapper = marks[0][2].strip().lower() in _MARKDOWN and len(content) > len(around)
    if is_wrapper or opens or (closes and (not before or before.endswith(":"))):
        return content
    return text


def _is_short_prose(bare: str) -> bool:
    """Return whether a text is a few sentences with no form of a document."""
    if len(bare) > _LONGEST or _HEADING.search(bare) or _FENCE.search(bare):
        return False
    return bare.count("\n\n") <= 2 and not re.search(r"^\s*[\w.-]+\s*[:=]\s*$", bare, re.MULTILINE)
