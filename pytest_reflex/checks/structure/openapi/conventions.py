"""Whether the names of an API keep to one style: paths, operationIds, parameters, properties."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.openapi.document import ApiDocument, Spot

_STYLES = {
    "kebab-case": re.compile(r"[a0]+(-[a0]+)*"),
    "snake_case": re.compile(r"[a0]+(_+[a0]+)*_*"),
    "camelCase": re.compile(r"0*a[aA0]*"),
    "PascalCase": re.compile(r"A[aA0]*"),
    "UPPER_CASE": re.compile(r"A[A0]*(_[A0]+)*"),
    "Train-Case": re.compile(r"A[aA0]*(-[A0][aA0]*)*"),
    "Pascal_Snake": re.compile(r"A[aA0]*(_[A0][aA0]*)*"),
}
_IDENTIFIER = re.compile(r"[^\W\d][\w./:-]*")
_TEMPLATE = re.compile(r"\{[^{}]*\}")
_NUMBER = re.compile(r"[vV]?[\d._-]+(?:alpha|beta|rc|preview)?\d*", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2}[-_][A-Z]{2}")
_PIECES = re.compile(r"[./:\[\]~,;()=]+")

Named = tuple[str, Spot]


def naming(api: ApiDocument) -> Report:
    """Find names that leave the style of most of their family.

    The families: static path segments; operationIds, which must be identifiers as well; names of
    path, query and cookie parameters (header names have a custom of their own); property names.
    A single lower-case word fits kebab-case, snake_case and camelCase. Versions and numbers in a
    path (/v2, /2.0, /200, /2024-01-31) have no style.
    """
    ids = list(_operation_ids(api))
    findings = [
        api.finding(f"operationId {name!r} is not an identifier", spot)
        for name, spot in ids
        if not _IDENTIFIER.fullmatch(name)
    ]
    families: dict[str, list[Named]] = {
        "path segment": list(_segments(api)),
        "operationId": [(name, spot) for name, spot in ids if _IDENTIFIER.fullmatch(name)],
        "parameter": list(_parameters(api)),
        "property": list(_properties(api)),
    }
    styles = []
    for family, names in families.items():
        style, strays = _judge(names)
        findings += [_stray(api, family, name, spot, style) for name, spot in strays]
        if names:
            styles.append(f"{family}: {style}")
    summary = "one style each: " + ", ".join(styles) if styles else ""
    return Report(sorted(findings, key=lambda found: found.line), summary)


def _stray(api: ApiDocument, family: str, name: str, spot: Spot, style: str) -> Finding:
    return api.finding(f"the {family} {name!r} is not {style} as the others are", spot)


def _judge(names: list[Named]) -> tuple[str, list[Named]]:
    """Return the style that fits most names, and the first place of each name it does not fit."""
    first: dict[str, Spot] = {}
    for name, spot in names:
        first.setdefault(name, spot)
    fitting = {name: styles_of(name) for name in first}
    votes = Counter(style for styles in fitting.values() for style in styles)
    best = max(_STYLES, key=lambda style: votes[style])
    if list(votes.values()).count(len(first)) > 1:
        return "single words", []
    return best, [(name, spot) for name, spot in first.items() if best not in fitting[name]]


def styles_of(name: str) -> set[str]:
    """Return the styles that a name fits; none for blanks and mixtures such as get-petById."""
    shapes = [_shape(piece.lstrip("$@_")) for piece in _PIECES.split(name)]
    shapes = [shape for shape in shapes if shape]
    return {
        style
        for style, pattern in _STYLES.items()
        if all(pattern.fullmatch(shape) for shape in shapes)
    }


def _shape(piece: str) -> str:
    """Return the name with every letter as a or A and every digit as 0."""
    return "".join(
        "A" if c.isupper() else "a" if c.isalpha() else "0" if c.isdigit() else c for c in piece
    )


def _segments(api: ApiDocument) -> Iterator[Named]:
    paths = api.root.child("paths")
    for path in paths.table:
        for segment in path.split("/"):
            static = _TEMPLATE.sub("", segment)
            named = static and not _NUMBER.fullmatch(static) and not _LANGUAGE.fullmatch(static)
            static = static.partition(":")[0]  # what follows is a method of its own
            if named and static and not path.startswith("x-"):
                yield static, paths.child(path)


def _operation_ids(api: ApiDocument) -> Iterator[Named]:
    for op in api.operations():
        name = op.spot.table.get("operationId")
        if isinstance(name, str):
            yield name, op.spot.child("operationId")


def _parameters(api: ApiDocument) -> Iterator[Named]:
    seen: set[int] = set()
    for op in api.operations():
        for parameter in api.parameters(op):
            api.spend()
            name = parameter.table.get("name")
            if id(parameter.node) in seen or parameter.table.get("in") == "header":
                continue
            seen.add(id(parameter.node))
            if isinstance(name, str):
                yield name, parameter.child("name")


def _properties(api: ApiDocument) -> Iterator[Named]:
    seen: set[int] = set()
    for root in _schema_roots(api):
        for schema in api.schemas(root, skip=seen):
            seen.add(id(schema.node))
            properties = schema.child("properties")
            for name in properties.table:
                yield name, properties.child(name)


def _schema_roots(api: ApiDocument) -> Iterator[Spot]:
    components = api.root.child("components").child("schemas")
    for name in components.table:
        yield components.child(name)
    for op in api.operations():
        for body in api.json_bodies(op, errors=True):
            yield body.media.child("schema")
