"""`count`: how many headings, code blocks, links, items and tables a Markdown text has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, ParameterType
from pytest_reflex.checks.selection import ACROSS
from pytest_reflex.checks.structure.check import Judge, JudgeTogether, ParameterError, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.markdown.tables import tables_of
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext

_BOUNDS = ("min", "max")


def _items(document: model.Markdown) -> list[int]:
    tokens = (t for t in document.tokens if t.type == "list_item_open")
    return [token.map[0] + 1 if token.map else 0 for token in tokens]


@dataclass(frozen=True, slots=True)
class CountedPart:
    """What is counted: a name for messages, what counts, and the lines in which it stands."""

    name: str
    help: str
    lines: Callable[[model.Markdown], list[int]]


PARTS = {
    "headings": CountedPart(
        "headings",
        "headings outside lists and quotations",
        lambda d: [h.line for h in d.headings if not h.nested],
    ),
    "code_blocks": CountedPart(
        "fenced blocks", "fenced blocks", lambda d: [block.line - 1 for block in d.blocks]
    ),
    "links": CountedPart(
        "links",
        "links, those of raw HTML too",
        lambda d: [link.line for link in d.links if not link.image],
    ),
    "images": CountedPart(
        "images",
        "images, those of raw HTML too",
        lambda d: [link.line for link in d.links if link.image],
    ),
    "items": CountedPart("list items", "items of lists, at every depth", _items),
    "tables": CountedPart("tables", "tables", lambda d: [table.line for table in tables_of(d)]),
    "paragraphs": CountedPart(
        "paragraphs",
        "paragraphs, those of lists and quotations too",
        lambda d: [paragraph.line for paragraph in d.paragraphs],
    ),
}


def _is_bound(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(k in _BOUNDS and COUNT.fits(v) for k, v in value.items())
    return COUNT.fits(value)


_BOUND = ParameterType(
    "a whole number, or a table of min and max",
    _is_bound,
    int,
    schema={
        "anyOf": [
            COUNT.schema,
            {
                "type": "object",
                "propertyNames": {"enum": list(_BOUNDS)},
                "additionalProperties": COUNT.schema,
                "minProperties": 1,
            },
        ]
    },
)


def _make(params: Mapping[str, Any]) -> Judge:
    together = _together(params)
    return lambda artifact, context: together(artifact, (artifact,), context)


def _together(params: Mapping[str, Any]) -> JudgeTogether:
    bounds = {key: _bounds(key, params[key]) for key in PARTS if key in params}
    if not bounds:
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(folder: Artifact, files: Sequence[Artifact], context: CheckContext) -> Report:
        places: dict[str, list[tuple[str, int]]] = {key: [] for key in bounds}
        for file in files:
            document = model.of(file)
            name = file.name if folder.is_folder else ""
            for key, found in places.items():
                found += [(name, line) for line in PARTS[key].lines(document)]
        findings: list[Finding] = []
        for key, (least, most) in bounds.items():
            findings += _wrong(PARTS[key].name, places[key], least, most)
        counts = (f"{len(found)} {PARTS[key].name}" for key, found in places.items())
        return Report(findings, ", ".join(counts))

    return judge


def _wrong(
    name: str, places: list[tuple[str, int]], least: int, most: int | None
) -> Iterator[Finding]:
    count = len(places)
    if count < least:
        yield Finding(f"{count} {name}, at least {least} are wanted")
    if most is not None and count > most:
        file, line = places[most]
        yield Finding(f"{count} {name}, at most {most} are wanted", line, file=file)


def _bounds(key: str, value: Any) -> tuple[int, int | None]:
    if not isinstance(value, Mapping):
        return value, value
    least, most = value.get("min", 0), value.get("max")
    if most is None and not least:
        raise ParameterError(key, f"{key}: min 0 holds always, so that it cannot fail")
    if most is not None and least > most:
        raise ParameterError(key, f"{key}: min is {least}, more than max, which is {most}")
    return least, most


def _forbids(params: Mapping[str, Any]) -> bool:
    """Return whether there is a most: how often something may be there."""
    bounds = (_bounds(key, params[key]) for key in PARTS if key in params)
    return any(most is not None for _, most in bounds)


KIND = StructureKind(
    key="count",
    make=_make,
    forbids=_forbids,
    together="what is counted is what all files have",
    make_together=_together,
    beside={"across": ACROSS},
    inside={key: _BOUND.means(f"how many there are: {part.help}") for key, part in PARTS.items()},
)
