"""`prose`: sentences of bearable length, enough words, no placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, FALSE, FLAG, ParameterType
from pytest_reflex.checks.structure.check import Judge, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext

# A note stands where a text should be: it begins one or ends one, has a colon, or is a predicate.
# Elsewhere ("it finds TODO comments", "a TODO list", "TODO.md") such notes are only mentioned.
_PLACEHOLDER_TAG = "(?:TODO|FIXME|XXX)"
_NOTE = "(?:TODO|TBD|TBC|FIXME|XXX)"
_BEGINS = r"(?:^|(?<=[.!?;|(\[\n])|(?<=[.!?;:|(–—-] )) *"
_VERBS = (
    "add|check|clean|complete|decide|define|describe|document|expand|explain|fill|finish|fix|give|"
    "how|implement|improve|insert|link|list|make|mention|more|move|name|provide|put|remove|replace|"
    "rewrite|say|show|tell|test|this|update|what|why|write"
)
_MARKER = re.compile(
    rf"{_BEGINS}{_NOTE}\b(?=\s*(?:[:!?…]|\.(?!\w)|\([^()\n]*\)\s*(?::|\.?$)|$|\n))"
    rf"|{_BEGINS}(?:TODO|FIXME|TBD)(?=(?: | ?[–—-] )(?:{_VERBS}|later|soon)\b)"
    rf"|(?<=[(\[])(?:TBD|TBC)(?=[)\]])"
    rf"|\b(?:is|are|be|remains?|still|=) {_NOTE}(?=\s*(?:[,;)\]!]|\.(?!\w)|$))"
    rf"|(?<![`'\"“‘,/])\b{_NOTE}: (?!and\b|or\b)(?=\w)"
    rf"|^[^\w`]*(?:{_NOTE}|(?i:tbd|tbc))[^\w`]*$"
    r"|^[(\[]?(?:todo|fixme|tbd): ?(?=(?:complete|describe|document|explain|fill|write)\b)"
    r"|^(?i:lorem ipsum)\b|\b(?i:lorem ipsum)(?= dolor)",
)
_ONE_NOTE = re.compile(_NOTE, re.IGNORECASE)
_LONE = re.compile(rf"\W*({_PLACEHOLDER_TAG})\W*")
_DUMMY = re.compile(
    r"\W*(?:(?:a |an |the |some |your )?(?:description|summary|text|string)(?: (?:here|goes here))?"
    r"|placeholder|todo|tbd|n/a|none|foo|bar|baz|x+|\.{3}|…|fill (?:me )?in|to be (?:done|written|"
    r"defined|decided))?\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{4,}")
_LATIN_TEXT = """
accumsan adipiscing aenean aliquam aliquet ante auctor augue bibendum commodo condimentum
congue consectetur convallis cras curabitur cursus dapibus diam dictum dictumst dignissim dolor
donec duis efficitur egestas eget eleifend elementum elit enim erat etiam euismod facilisi
facilisis fames faucibus felis fermentum feugiat finibus fringilla fusce gravida habitant
habitasse hendrerit iaculis imperdiet interdum ipsum lacinia lacus laoreet lectus
ligula lobortis lorem luctus maecenas magna malesuada mattis mauris maximus metus
molestie mollis morbi nascetur netus nibh nisl nullam nunc odio orci ornare pellentesque
pharetra phasellus placerat platea porttitor posuere potenti praesent pretium proin
pulvinar purus quam quis quisque rhoncus risus rutrum sagittis sapien scelerisque semper
senectus sodales sollicitudin suscipit suspendisse tellus tempor tempus tincidunt tortor
tristique turpis ullamcorper ultrices ultricies urna vehicula velit venenatis vestibulum vitae
vivamus viverra volutpat vulputate
"""
_LATIN = frozenset(_LATIN_TEXT.split())
_LATIN_WORDS = 5


def placeholder_in(text: str) -> str:
    """Return what in a running text is a placeholder, or the empty string."""
    if marker := _MARKER.search(text):
        note = _ONE_NOTE.search(marker.group())
        return note.group() if note else marker.group()
    latin = dict.fromkeys(word for word in _WORD.findall(text.lower()) if word in _LATIN)
    return "pseudo-Latin: " + " ".join(list(latin)[:3]) if len(latin) >= _LATIN_WORDS else ""


def stands_for_text(text: str) -> str:
    """Return why a description has no content, or the empty string; an empty one has none."""
    if not text.strip():
        return "empty"
    if len(text) < 60 and _DUMMY.fullmatch(text):
        return text.strip()
    return placeholder_in(text)


def lone_tag(text: str) -> str:
    """Return the tag that is all of a text (TODO, FIXME, XXX), or the empty string."""
    lone = _LONE.fullmatch(text)
    return lone[1] if lone else ""


_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]")
_TAG = re.compile(r"<[^<>]*>")
_OPEN = re.compile(r"\W*(?:TBD|TBC)\W*", re.IGNORECASE)
_AVERAGE = ParameterType(
    "a number of words above 0",
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value > 0,
    float,
    schema={"type": "number", "exclusiveMinimum": 0},
)

Sentence = tuple[int, int, str]
"""(words, line of the paragraph, text)"""


def _make(params: Mapping[str, Any]) -> Judge:
    asked = [judge for key, judge in _JUDGES.items() if params.get(key)]
    if params.get("placeholders") is False:
        asked.append(_placeholders)
    if not asked:
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        document = model.of(artifact)
        reports = [look(document, params) for look in asked]
        findings = [finding for report in reports for finding in report.findings]
        return Report(findings, "; ".join(report.summary for report in reports))

    return judge


def sentences(document: model.Markdown, *, lists: bool = True) -> list[Sentence]:
    """Return the sentences of paragraphs, with `lists` of list items too; a code span is a word."""
    found = []
    for paragraph in document.paragraphs:
        if paragraph.in_list and not lists:
            continue
        for text in _SENTENCE_END.split(paragraph.text):
            if count := _words(text):
                found.append((count, paragraph.line, text))
    return found


def _words(text: str) -> int:
    return sum(any(c.isalnum() for c in word) for word in text.split())


def _average(document: model.Markdown, params: Mapping[str, Any]) -> Report:
    found, limit = sentences(document, lists=False), params["max_average_sentence"]
    # Entries of lists are mostly no sentences, and a hundred short ones would hide a long text.
    found = found or sentences(document)
    if not found:
        return Report([Finding("there is no prose to check")])
    average = sum(count for count, _, _ in found) / len(found)
    shown = f"{average:.1f} words per sentence"
    if average <= limit:
        return Report(summary=shown)
    longest = max(found)
    message = f"{shown}, at most {limit:g} are wanted; the longest has {longest[0]}"
    return Report([Finding(message, longest[1])])


def _longest(document: model.Markdown, params: Mapping[str, Any]) -> Report:
    limit, found = params["max_sentence"], sentences(document)
    findings = [
        Finding(
            f"a sentence of {count} words, at most {limit} are wanted: "
            f"{' '.join(text.split()[:6])} ...",
            line,
        )
        for count, line, text in found
        if count > limit
    ]
    longest = max((count for count, _, _ in found), default=0)
    return Report(findings, f"{longest} words in the longest")


def _enough(document: model.Markdown, params: Mapping[str, Any]) -> Report:
    words, least = sum(count for count, _, _ in sentences(document)), params["min_words"]
    short = [Finding(f"{words} words of prose, at least {least} are wanted")]
    return Report(short if words < least else [], f"{words} words of prose")


def _check_opening(document: model.Markdown, params: Mapping[str, Any]) -> Report:
    """Look before the first heading of level 2, and directly under it."""
    below = [h for h in document.headings if h.level >= 2 and not h.nested]
    end = below[1].line if len(below) > 1 else len(document.text) + 1
    texts = [(p.text, p.line) for p in document.paragraphs if not p.in_list]
    texts += [(_TAG.sub(" ", html), line) for html, line in document.html]
    longest = max((_words(text) for text, line in texts if line < end), default=0)
    shown = f"the longest paragraph of the opening has {longest} words"
    if longest >= params["opening"]:
        return Report(summary=shown)
    return Report([Finding(f"{shown}, at least {params['opening']} are wanted", 1)])


def _placeholders(document: model.Markdown, params: Mapping[str, Any]) -> Report:
    texts = [(_without_remarks(text), line) for text, line in document.prose_lines()]
    tags = [lone_tag(text) for text, _ in texts]
    # A section of plans is called so, and a list of tags names several.
    planned = {s.line for s in document.sections if document.text[s.start : s.end].strip()}
    open_rows = set(_rows_with_an_open_value(document))
    findings: list[Finding] = []
    left: list[int] = []
    for index, (text, line) in enumerate(texts):
        if why := placeholder_in(text):
            if line in open_rows and _OPEN.fullmatch(text):
                left.append(line)
            elif not (tags[index] and (line in planned or _is_named_beside(index, tags))):
                findings.append(Finding(f"placeholder text: {why}", line))
    message = f"; values that are not known yet: {len(left)} (line {left[0]})" if left else ""
    return Report(findings, f"no placeholders{message}")


def _rows_with_an_open_value(document: model.Markdown) -> Iterator[int]:
    """Yield the lines of rows with two or more filled cells: one beside them may be TBD."""
    line, cells = 0, list[str]()
    for token in document.tokens:
        if token.type == "tr_open":
            line, cells = (token.map[0] + 1 if token.map else 0), []
        elif token.type == "inline":
            cells.append(token.content)
        elif token.type == "tr_close":
            filled = [cell for cell in cells if cell.strip() and not placeholder_in(cell)]
            if len(filled) > 1:
                yield line


def _without_remarks(text: str) -> str:
    """Return a text without the comments of MDX, which are not shown."""
    first, *others = text.split("{/*")
    return first + "".join(other.partition("*/}")[2] for other in others)


def _is_named_beside(index: int, tags: list[str]) -> bool:
    return any(tag and tag != tags[index] for tag in tags[max(index - 1, 0) : index + 2])


def _one_style(document: model.Markdown, params: Mapping[str, Any]) -> Report:
    """Find the first bullet, fence and heading that is written in another way than the first."""
    marks = [
        ("bullet", [(t.markup, t.map[0] + 1) for t in document.tokens if _is_list(t) and t.map]),
        ("fence", [(block.marker[0] * 3, block.line - 1) for block in document.blocks]),
        (
            "heading",
            [("underlined" if h.setext else "#", h.line) for h in document.headings if h.level < 3],
        ),
    ]
    findings = []
    for what, used in marks:
        other = next(((mark, line) for mark, line in used if mark != used[0][0]), None)
        if other:
            first = f"{used[0][0]} in line {used[0][1]}"
            findings.append(Finding(f"two styles of {what}: {other[0]} here, {first}", other[1]))
    return Report(findings, "one style of markup")


def _is_list(token: Any) -> bool:
    return bool(token.type == "bullet_list_open")


_JUDGES: dict[str, Callable[[model.Markdown, Mapping[str, Any]], Report]] = {
    "max_average_sentence": _average,
    "max_sentence": _longest,
    "min_words": _enough,
    "opening": _check_opening,
    "one_style": _one_style,
}

KIND = StructureKind(
    key="prose",
    make=_make,
    forbids=lambda params: (
        params.get("placeholders") is False
        or any(params.get(key) for key in ("max_average_sentence", "max_sentence", "one_style"))
    ),
    inside={
        "max_average_sentence": _AVERAGE.means(
            "words per sentence on average, list entries apart; there must be prose"
        ),
        "max_sentence": COUNT.means("words in the longest sentence"),
        "min_words": COUNT.means("words of prose in all"),
        "opening": COUNT.means(
            "words of one paragraph before the first heading of level 2, or directly under it"
        ),
        "one_style": FLAG.means("one bullet, one kind of fence, one kind of heading", "`false`"),
        "placeholders": FALSE.means(
            "`false`: no `TODO`, `TBD`, `FIXME`, `XXX`, no pseudo-Latin outside code"
        ),
    },
)
