"""Conventions of an OpenAPI document: who may call its operations, and one style of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.openapi.document import (
    ApiDocument,
    ApiNode,
    Operation,
    items,
    table,
)
from pytest_reflex.model.plain import pluralize

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

Named = tuple[str, ApiNode]


def check_naming(api: ApiDocument) -> Report:
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


def _stray(api: ApiDocument, family: str, name: str, spot: ApiNode, style: str) -> Finding:
    return api.finding(f"the {family} {name!r} is not {style} as the others are", spot)


def _judge(names: list[Named]) -> tuple[str, list[Named]]:
    """Return the style that fits most names, and the first place of each name it does not fit."""
    first: dict[str, ApiNode] = {}
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


def _schema_roots(api: ApiDocument) -> Iterator[ApiNode]:
    components = api.root.child("components").child("schemas")
    for name in components.table:
        yield components.child(name)
    for op in api.operations():
        for body in api.json_bodies(op, errors=True):
            yield body.media.child("schema")


_CREDENTIAL = re.compile(
    r"(?:proxy-?)?authorization|(?:x[-_])?(?:\w+[-_])?(?:api|auth|access|subscription)[-_]?(?:key|token)"
    r"|x-auth\w*|bearer",
    re.IGNORECASE,
)
"""Names of parameters that carry what a caller proves himself with."""

_SAYS_LIMITED = re.compile(
    r"\bapi[ _-]?keys?\b|\bauthenticat(?:e|es|ed|ion)\b|\bbearer\b|\boauth\b|\bunauthori[sz]ed\b"
    r"|\b(?:access|auth|authorization|personal|secret|session) tokens?\b|\bauthorization header\b"
    r"|\b(?:must|need to|have to) be (?:logged|signed) in\b"
    r"|\b(?:requires?|needs?|with|pass|send)(?: an?| the| your)? (?:token|login|credentials)\b",
    re.IGNORECASE,
)
_SAYS_PUBLIC = re.compile(
    r"\b(?:no|not|without|needn't|unauthenticated|publicly|public)\b[^.\n]{0,40}"
    r"\b(?:authenticat\w*|authori[sz]\w*|keys?|tokens?|accessible|login)\b",
    re.IGNORECASE,
)
_OPEN_TO_ALL = re.compile(
    r"\.well-known|health\w*|livez|readyz|liveness|readiness|ping|status|version|info|metrics|login"
    r"|logout|sign-?in|sign-?up|signin|signup|register|token|oauth2?|openapi(?:\.\w+)?|docs",
    re.IGNORECASE,
)
"""Parts of paths that callers reach before they have proved who they are."""


def auth(api: ApiDocument) -> Report:
    """Find operations under `paths` without declared security, and schemes that are not defined.

    An empty list, or an empty requirement in one, declares an operation public. Where no operation
    names a scheme, nothing in the document says that callers have to prove who they are, and none
    of it changes what others read, it is taken for the interface of a public service. Beside
    operations that are secured, those that callers need first (`/login`, `/health`, `/.well-known`)
    may be silent.
    """
    found = api.operations("paths")
    findings = list(_find_undefined(api, found))
    silent = [op for op in found if _security(api, op).node is None]
    secured = any(any(_schemes(_security(api, op).node)) for op in found)
    limited = secured or _says_limited(api, silent)
    if limited:
        findings += [
            api.finding(f"{op.label} declares no security", op.spot)
            for op in silent
            if not _is_open(op)
        ]
    schemes = api.root.child("components").child("securitySchemes").table
    if findings and not schemes:
        missing = api.finding("components.securitySchemes defines no scheme", api.root)
        findings.insert(0, missing)
    if silent and not limited:
        public = "no operation needs a scheme, changes anything or says that access is limited: "
        return Report(findings, public + "it is taken for public")
    return Report(findings, f"{pluralize(len(found), 'operation')}, each with declared security")


def _security(api: ApiDocument, op: Operation) -> ApiNode:
    own = op.spot.child("security")
    return api.root.child("security") if own.node is None else own


def _find_undefined(api: ApiDocument, operations: list[Operation]) -> Iterator[Finding]:
    schemes = api.root.child("components").child("securitySchemes").table
    for op in operations:
        spot = _security(api, op)
        for scheme in _schemes(spot.node):
            if scheme not in schemes:
                message = f"{op.label} needs the security scheme {scheme!r}, which is not defined"
                yield api.finding(message, spot)


def _schemes(security: Any) -> Iterator[str]:
    for requirement in items(security):
        yield from table(requirement)


def _says_limited(api: ApiDocument, operations: list[Operation]) -> bool:
    """Return whether anything shows that callers have to prove who they are."""
    if api.root.child("components").child("securitySchemes").table:
        return True
    if _speaks_of_it(api.root.child("info")):
        return True
    return any(
        _changes(api, op)
        or _refuses(api, op)
        or _takes_credential(api, op)
        or _speaks_of_it(op.spot)
        for op in operations
        if not _is_open(op)
    )


def _speaks_of_it(spot: ApiNode) -> bool:
    texts = [spot.table.get(key) for key in ("summary", "description")]
    return any(
        isinstance(text, str) and _SAYS_LIMITED.search(_SAYS_PUBLIC.sub("", text)) for text in texts
    )


def _changes(api: ApiDocument, op: Operation) -> bool:
    """Return whether it makes, changes or removes something, which few let everybody do."""
    makes = op.method == "post" and any(status == "201" for status, _ in api.responses(op))
    return makes or op.method in ("put", "patch", "delete")


def _refuses(api: ApiDocument, op: Operation) -> bool:
    return any(status in ("401", "403", "407") for status, _ in api.responses(op))


def _takes_credential(api: ApiDocument, op: Operation) -> bool:
    return any(
        _CREDENTIAL.fullmatch(str(parameter.table.get("name", "")))
        for parameter in api.parameters(op)
        if parameter.table.get("in") in ("header", "query", "cookie")
    )


def _is_open(op: Operation) -> bool:
    return any(_OPEN_TO_ALL.fullmatch(part) for part in op.path.split("/"))
