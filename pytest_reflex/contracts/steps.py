"""The answer of each step (seed 001), read from an agent's text, without words to its reader.

An answer with such words around one fence is what the fence holds. Where nothing says which part
is the artifact, the answer is refused. Promises: a document that has blocks of its own stays whole;
what is looked at are the first and the last words outside of fences, and only short ones.

Every function raises ContractError; its message goes to the agent with the one retry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.contracts.limits import is_limit_notice
from pytest_reflex.contracts.validate import ContractError, Faults, find_json, problems, unwrap
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import Rule

__all__ = [
    "ContractError",
    "blockers_left_out",
    "read_artifact",
    "read_checks",
    "read_files",
    "read_issues",
    "read_plan",
    "read_single_checks",
]


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
# An answer that only describes the work and has no result.
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
    content = unwrap(inside)
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


ISSUE_KEYS = ("rule_id", "problem", "fix_instruction", "expected_effect")


def read_plan(text: str) -> tuple[str, ...]:
    """Return the 3 to 5 steps of a plan."""
    found = _json(text, lambda value: problems("plan", value))
    return tuple(step.strip() for step in found["plan"])


def read_checks(text: str, rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return checks on the wire, each for one of `rules` and usable as it is."""
    ids = [rule.id for rule in rules]
    found = _json(text, lambda value: problems("checks", value) or _check_faults(value, ids))
    return [dict(check) for check in found["checks"]]


def read_single_checks(text: str, rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return the checks in an answer of those rules whose checks are all usable."""
    ids = [rule.id for rule in rules]
    try:
        found = find_json(text, lambda value: [] if _has_checks(value) else ["no checks"])
    except ContractError:
        return []
    usable = [check for check in found["checks"] if _is_usable({"checks": [check]}, ids)]
    bad = [check.get("rule_id") for check in found["checks"] if _is_a_fault(check, usable)]
    return [dict(check) for check in usable if check["rule_id"] not in bad]


def _is_a_fault(check: Any, usable: Sequence[Any]) -> bool:
    return isinstance(check, dict) and check not in usable


def _is_usable(value: Any, ids: Collection[str]) -> bool:
    return not (problems("checks", value) or _check_faults(value, ids))


def _has_checks(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("checks"), list)


def _check_faults(value: Any, ids: Collection[str]) -> list[str]:
    return [
        f"/checks/{number}{fault}"
        for number, check in enumerate(value["checks"])
        for fault in _faults_of(check, ids)
    ]


def _faults_of(check: dict[str, Any], ids: Collection[str]) -> Iterator[str]:
    if check["rule_id"] not in ids:
        yield f"/rule_id: {check['rule_id']!r} is none of the rules asked about: {', '.join(ids)}"
    key = "search" if check.get("type") == "content" else "expect_output"
    if key in check and not check.get("literal"):
        try:
            re.compile(check[key], re.MULTILINE)
        except (re.error, RecursionError, OverflowError) as error:
            wrong = f"{check[key]!r} is not a valid pattern: {error}"
            yield f"/{key}: {wrong}; literal: true takes text"
    if check.get("min_count", 0) > check.get("max_count", float("inf")):
        yield f"/min_count: {check['min_count']} is more than max_count {check['max_count']}"


MOST_ISSUES = 5


def read_issues(text: str, failed_ids: Sequence[str]) -> list[dict[str, str]]:
    """Return at most 5 issues, each for one of the failed rules, in the order of `failed_ids`."""
    found = _json(
        text, lambda value: problems("critique", value) or _issue_faults(value, failed_ids)
    )
    issues = [{key: issue[key].strip() for key in ISSUE_KEYS} for issue in found["issues"]]
    return sorted(issues, key=lambda issue: failed_ids.index(issue["rule_id"]))


def _issue_faults(value: Any, failed_ids: Sequence[str]) -> list[str]:
    if failed_ids and not value["issues"]:
        return [f"/issues: is empty, although rules failed: {', '.join(failed_ids)}"]
    return [
        f"/issues/{number}/rule_id: {issue['rule_id']!r} is none of the failed rules: "
        f"{', '.join(failed_ids)}"
        for number, issue in enumerate(value["issues"])
        if issue["rule_id"].strip() not in failed_ids
    ]


def blockers_left_out(issues: Sequence[Mapping[str, str]], blockers: Collection[str]) -> str:
    """Return what is wrong with a critique whose places others took from rules that block.

    Empty where every such rule is named, or where some are and there was room for the rest.
    """
    named = [issue["rule_id"] for issue in issues]
    missing = [rule_id for rule_id in blockers if rule_id not in named]
    others = [rule_id for rule_id in named if rule_id not in blockers]
    is_full = len(named) >= MOST_ISSUES or len(others) == len(named)
    if not (missing and others and is_full):
        return ""
    return f"rules of severity fail come first, and these are not named: {', '.join(missing)}"


def read_artifact(text: str) -> str:
    """Return the artifact that an answer is: without words around it, or a fence around it all."""
    found = without_chatter(text.removeprefix("\ufeff"))
    if isinstance(found, Unusable):
        raise ContractError(f"{found.reason}: {one_line(text.strip(), 120)!r}")
    artifact = unwrap(found)
    if not artifact.strip():
        raise ContractError("the answer is empty; the whole artifact is needed")
    if "\0" in artifact:
        raise ContractError(f"the answer holds a NUL at character {artifact.index(chr(0)) + 1}")
    try:
        artifact.encode()
    except UnicodeEncodeError as error:
        raise ContractError(
            f"the answer is not valid text at character {error.start + 1}: {error.reason}"
        ) from None
    _refuse_notice(artifact)
    return artifact


def read_files(text: str, allowed: Callable[[str], bool]) -> dict[str, str]:
    """Return whole new texts by path, each of a file that may be changed."""
    found = _json(
        text, lambda value: problems("files", value) or list(_file_faults(value, allowed))
    )
    return {file["path"]: file["text"] for file in found["files"]}


def _file_faults(value: Any, allowed: Callable[[str], bool]) -> Iterator[str]:
    paths = [file["path"] for file in value["files"]]
    for number, file in enumerate(value["files"]):
        path = file["path"]
        if not allowed(path):
            yield f"/files/{number}/path: {path!r} may not be changed"
        if paths.count(path) > 1:
            yield f"/files/{number}/path: {path!r} is there twice"
        if "\0" in file["text"]:
            yield f"/files/{number}/text: holds a NUL"


def _json(text: str, faults: Faults) -> Any:
    try:
        return find_json(text, faults)
    except ContractError:
        _refuse_notice(text)
        raise


def _refuse_notice(text: str) -> None:
    if is_limit_notice(text):
        raise ContractError(f"the answer is a notice about a limit: {text.strip()[:200]!r}")
