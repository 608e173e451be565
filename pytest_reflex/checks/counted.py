"""`count`: how many headings, code blocks, links, items and tables a Markdown text has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_reflex.checks import markdown
from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, Kind
from pytest_reflex.checks.structure_kind import Judge, StructureKind
from pytest_reflex.checks.tables import tables_of
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext

_BOUNDS = ("min", "max")


def _items(document: markdown.Markdown) -> list[int]:
    tokens = (t for t in document.tokens if t.type == "list_item_open")
    return [token.map[0] + 1 if token.map else 0 for token in tokens]


PARTS: dict[str, tuple[str, Callable[[markdown.Markdown], list[int]]]] = {
    "headings": ("headings", lambda d: [h.line for h in d.headings if not h.nested]),
    "code_blocks": ("fenced blocks", lambda d: [block.line - 1 for block in d.blocks]),
    "links": ("links", lambda d: [link.line for link in d.links if not link.image]),
    "images": ("images", lambda d: [link.line for link in d.links if link.image]),
    "items": ("list items", _items),
    "tables": ("tables", lambda d: [table.line for table in tables_of(d)]),
    "paragraphs": ("paragraphs", lambda d: [paragraph.line for paragraph in d.paragraphs]),
}
"""What is counted: its name for people, and the lines in which it stands."""


def _is_bound(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(k in _BOUNDS and COUNT.fits(v) for k, v in value.items())
    return COUNT.fits(value)


_BOUND = Kind("a whole number, or a table of min and max", _is_bound, int)


def _make(params: Mapping[str, Any]) -> Judge:
    bounds = {key: _bounds(key, params[key]) for key in PARTS if key in params}
    if not bounds:
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        document = markdown.parse(artifact.text)
        findings: list[Finding] = []
        told = []
        for key, (least, most) in bounds.items():
            name, lines_of = PARTS[key]
            lines = lines_of(document)
            told.append(f"{len(lines)} {name}")
            findings += _wrong(name, lines, least, most)
        return Report(findings, ", ".join(told))

    return judge


def _wrong(name: str, lines: list[int], least: int, most: int | None) -> Iterator[Finding]:
    count = len(lines)
    if count < least:
        yield Finding(f"{count} {name}, at least {least} are wanted")
    if most is not None and count > most:
        yield Finding(f"{count} {name}, at most {most} are wanted", lines[most])


def _bounds(key: str, value: Any) -> tuple[int, int | None]:
    if not isinstance(value, Mapping):
        return value, value
    least, most = value.get("min", 0), value.get("max")
    if most is None and not least:
        raise ValueError(f"{key}: min 0 holds always, so that it cannot fail")
    if most is not None and least > most:
        raise ValueError(f"{key}: min is {least}, more than max, which is {most}")
    return least, most


KIND = StructureKind(key="count", make=_make, inside=dict.fromkeys(PARTS, _BOUND))
