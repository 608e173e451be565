"""Questions to an OpenAPI document: operations, schemas, errors, auth, descriptions."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.placeholder import stands_for_text
from pytest_reflex.checks.structure.openapi.document import ApiDocument, Spot
from pytest_reflex.model.plain import counted

_DATA_KEYS = frozenset({"example", "examples", "default", "enum", "const"})


def operations(api: ApiDocument) -> Report:
    """Find whether there are operations under `paths` or `webhooks`, each with a response."""
    found = api.operations("paths", "webhooks")
    if not found:
        message = "no operation is defined under paths or webhooks"
        return Report([api.finding(message, api.root)])
    findings = [
        api.finding(f"{op.label} has no responses", op.spot)
        for op in found
        if not api.responses(op)
    ]
    return Report(findings, f"{counted(len(found), 'operation')}, each with responses")


def schemas(api: ApiDocument) -> Report:
    """Find JSON bodies of requests and responses that declare no schema."""
    findings, bodies = [], 0
    for op in api.operations():
        for body in api.json_bodies(op, errors=True):
            bodies += 1
            if "schema" not in body.media.table:
                message = f"{op.label}: the JSON {body.role} declares no schema"
                findings.append(api.finding(message, body.media))
    return Report(findings, f"{counted(bodies, 'JSON body', 'JSON bodies')}, each with a schema")


def errors(api: ApiDocument) -> Report:
    """Find operations under `paths` that document no 4xx, 5xx or default response."""
    found = api.operations("paths")
    findings = [
        api.finding(f"{op.label} documents no error response", op.spot)
        for op in found
        if not any(s[:1] in ("4", "5") or s == "default" for s, _ in api.responses(op))
    ]
    return Report(findings, f"{counted(len(found), 'operation')}, each with an error response")


def descriptions(api: ApiDocument) -> Report:
    """Find operations and parameters without words, and placeholders in any description."""
    findings = [*_without_words(api), *_placeholders(api)]
    return Report(findings, "every operation and parameter is described")


def _without_words(api: ApiDocument) -> Iterator[Finding]:
    seen: set[int] = set()
    for op in api.operations():
        if not any(_text(op.spot, key) for key in ("summary", "description")):
            yield api.finding(f"{op.label} has no summary and no description", op.spot)
        for parameter in api.parameters(op):
            api.spend()
            if isinstance(parameter.node, dict) and id(parameter.node) not in seen:
                seen.add(id(parameter.node))
                if not _text(parameter, "description"):
                    name = parameter.table.get("name", "?")
                    message = f"{op.label}: the parameter {name!r} has no description"
                    yield api.finding(message, parameter)


def _placeholders(api: ApiDocument) -> Iterator[Finding]:
    stack, seen = [api.root], set[int]()
    while stack:
        spot = stack.pop()
        api.spend()
        if id(spot.node) in seen or not isinstance(spot.node, dict | list):
            continue
        seen.add(id(spot.node))
        for key in ("description", "summary"):
            if (text := _text(spot, key)) and (why := stands_for_text(text)):
                message = f"a {key} holds placeholder text: {why}"
                yield api.finding(message, spot.child(key))
        stack.extend(reversed(list(_within(spot))))


def _within(spot: Spot) -> Iterator[Spot]:
    if isinstance(spot.node, list):
        for index, node in enumerate(spot.node):
            yield Spot(node, (*spot.pointer, index))
        return
    in_properties = spot.pointer[-1:] == ("properties",)
    for key in spot.table:
        if in_properties or key not in _DATA_KEYS:
            yield spot.child(key)


def _text(spot: Spot, key: str) -> str:
    value = spot.table.get(key)
    return value if isinstance(value, str) else ""
