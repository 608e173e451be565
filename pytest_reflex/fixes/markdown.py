"""`insert_section` and `tag_fences`: fixes of Markdown documents."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_reflex.fixes.kind import Fault, Field, FixError, FixKind, Params
from pytest_reflex.text.data_tree import is_data
from pytest_reflex.text.lines import fit, newline_of, split, starts, with_newline
from pytest_reflex.text.outline import Heading, Outline, block_tokens, outline

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*")


def insert_section(params: Params, document: str) -> str:
    """Return the document with the section, after or before another one.

    The place after a section is behind its sub-sections. Where the other section is missing, or
    none is named, the place is the end. Does nothing where a heading of that level and title
    exists, whatever its case.
    """
    wanted = _read(params["heading"])
    if is_data(document):
        raise FixError("insert_section: the artifact is data (JSON or YAML), not Markdown")
    shape = outline(document)
    if _has(shape, wanted):
        return document
    offsets = starts(document)
    offset = offsets[min(_line(params, shape), len(offsets) - 1)]
    fixed = _insert(document, offset, _section(params))
    if not _has(outline(fixed), wanted):
        raise FixError(
            f"insert_section: {params['heading']!r} would not be a heading at line "
            f"{document.count(chr(10), 0, offset) + 1}: a code fence or HTML block is open there"
        )
    return fixed


def _line(params: Params, shape: Outline) -> int:
    after = "after" in params
    name = params.get("after" if after else "before")
    anchor = _find(shape, _read(name)) if name else None
    if anchor is None:
        return shape.lines
    return anchor.end if after else anchor.line


def _insert(document: str, offset: int, section: str) -> str:
    newline = newline_of(document)
    before, after = document[:offset], document[offset:]
    lines = split(before)
    gap = ""
    if lines and lines[-1].strip():
        gap = newline * (1 if lines[-1].endswith(("\n", "\r")) else 2)
    block = gap + with_newline(section + "\n" * bool(after.strip()), newline)
    return before + fit(before, block, after) + after


def _section(params: Params) -> str:
    text = with_newline(params.get("text", ""), "\n").strip("\n")
    heading: str = params["heading"].strip()
    return f"{heading}\n\n{text}\n" if text else f"{heading}\n"


def _read(heading: str) -> tuple[int, str]:
    """Return level and title; level 0 (any) where the heading has no number signs."""
    match = _HEADING.fullmatch(heading.strip())
    return (len(match[1]), _key(match[2])) if match else (0, _key(heading))


def _find(shape: Outline, wanted: tuple[int, str]) -> Heading | None:
    level, title = wanted
    same = [heading for heading in shape.headings if _key(heading.title) == title]
    exact = [heading for heading in same if heading.level == level]
    return next(iter(exact or same), None)


def _has(shape: Outline, wanted: tuple[int, str]) -> bool:
    return any((h.level, _key(h.title)) == wanted for h in shape.headings)


def _key(title: str) -> str:
    return " ".join(title.split()).casefold()


def section_faults(params: Params) -> Iterable[Fault]:
    """Find a heading that is none, and two places."""
    heading = params["heading"]
    if not _HEADING.fullmatch(heading.strip()) or "\n" in heading.strip():
        yield "heading", f"insert_section: heading must look like '## Title', not {heading!r}"
    if "after" in params and "before" in params:
        yield "after", "insert_section takes after or before, not both"


INSERT_SECTION = FixKind(
    name="insert_section",
    fields={
        "heading": Field(str, required=True, filled=True),
        "text": Field(str),
        "after": Field(str, filled=True),
        "before": Field(str, filled=True),
    },
    apply=insert_section,
    faults=section_faults,
)


_LANGUAGE = re.compile(r"[\w+#.-]+")
_OPENING = re.compile(r"^(.*?(?:`{3,}|~{3,}))[ \t]*(\r\n|\r|\n|)$", re.DOTALL)


def tag_fences(params: Params, document: str) -> str:
    """Return the document in which each untagged fence names the language; its content stays."""
    lines = split(document)
    for token in block_tokens(document).blocks:
        if token.type == "fence" and not token.info.strip() and token.map:
            opening = _OPENING.match(lines[token.map[0]])
            if opening:
                lines[token.map[0]] = f"{opening[1]}{params['language']}{opening[2]}"
    return "".join(lines)


def tag_faults(params: Params) -> Iterable[Fault]:
    """Find a language that is not a single word."""
    if not _LANGUAGE.fullmatch(params["language"]):
        message = f"tag_fences: language must be one word, not {params['language']!r}"
        yield "language", message


TAG_FENCES = FixKind(
    name="tag_fences",
    fields={"language": Field(str, required=True, filled=True)},
    apply=tag_fences,
    faults=tag_faults,
)
