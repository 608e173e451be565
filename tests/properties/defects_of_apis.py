"""Faults of OpenAPI documents, and of code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.properties.defects import Operator, Plant, appended, changed, cut


def of_api(change: Callable[[dict[str, Any]], Iterator[Any]]) -> Plant:
    """Return a plant into a document of JSON; `change` changes it, and yields when it has."""

    def plant(text: str) -> Iterator[str]:
        for number in range(20):
            try:
                api = json.loads(text)
            except ValueError:
                return
            if isinstance(api, dict) and _nth(change(api), number):
                yield json.dumps(api, indent=1)

    return plant


def _nth(steps: Iterator[Any], number: int) -> bool:
    """Have a generator make its change at the place of this number; return whether it is there."""
    for index, undo_or_do in enumerate(steps):
        if index == number:
            undo_or_do()
            return True
    return False


def _operations(api: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in api.get("paths", {}).values():
        for method, operation in item.items():
            if method in ("get", "put", "post", "delete", "patch"):
                yield operation


def _media(api: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for operation in _operations(api):
        holders = [operation.get("requestBody", {})]
        holders += [r for s, r in operation.get("responses", {}).items() if s.startswith("2")]
        for holder in holders:
            yield from holder.get("content", {}).values()


def no(*keys: str) -> Plant:
    """Return a plant that takes keys away at the top."""

    def change(api: dict[str, Any]) -> Iterator[Any]:
        if any(key in api for key in keys):
            yield lambda: [api.pop(key, None) for key in keys]

    return of_api(change)


def of_each(
    nodes: Callable[[dict[str, Any]], Iterator[dict[str, Any]]],
    change: Callable[[dict[str, Any]], Any],
) -> Plant:
    """Return a plant into each of some nodes of an API."""
    return of_api(lambda api: ((lambda node=node: change(node)) for node in nodes(api)))


def _without_errors(operation: dict[str, Any]) -> None:
    kept = {s: r for s, r in operation.get("responses", {}).items() if s.startswith("2")}
    operation["responses"] = kept or {"204": {"description": "Done"}}


_ENDPOINTS, _SCHEMAS = "a.correctness.endpoints", "a.correctness.schemas"
_BODIES = frozenset(
    {_SCHEMAS, "a.completeness.examples", "b.completeness.pagination", "b.style.naming"}
)
IN_APIS = (
    Operator(_ENDPOINTS, "no paths", no("paths", "webhooks")),
    Operator(_ENDPOINTS, "no version", no("openapi")),
    Operator(_ENDPOINTS, "cut off", cut),
    Operator(
        _ENDPOINTS,
        "no responses",
        of_each(_operations, lambda op: op.pop("responses", None)),
        _BODIES,
    ),
    Operator(_SCHEMAS, "no title", no("info")),
    Operator(
        _SCHEMAS,
        "a body without a schema",
        of_each(_media, lambda m: m.pop("schema", None)),
        _BODIES,
    ),
    Operator(
        _SCHEMAS,
        "a reference to nothing",
        of_each(_media, lambda m: m.update(schema={"$ref": "#/components/schemas/Planted"})),
        _BODIES,
    ),
    Operator(
        _SCHEMAS,
        "a type that there is not",
        of_each(_media, lambda m: m.update(schema={"type": "strin"})),
        _BODIES,
    ),
    Operator("a.completeness.errors", "no error", of_each(_operations, _without_errors), _BODIES),
    Operator(
        "b.style.naming",
        "a name with blanks",
        of_each(_operations, lambda op: op.update(operationId="to plant it")),
    ),
    Operator(
        "b.completeness.auth",
        "a scheme that there is not",
        of_each(_operations, lambda op: op.update(security=[{"planted": []}])),
    ),
    Operator(
        "b.quality.descriptions",
        "words left to do",
        of_each(_operations, lambda op: op.update(summary="TODO")),
    ),
)


_COMPILES, _LOGIC = "a.correctness.compiles", "a.correctness.logic"
IN_CODE = (
    Operator(_COMPILES, "a bracket without an end", appended("PLANTED = (", "def planted(:")),
    Operator(_COMPILES, "cut off", changed(r"\)(?=:\n)", "")),
    Operator(_LOGIC, "a name that there is not", appended("PLANTED = planted_nowhere")),
    Operator(
        _LOGIC,
        "a default that is shared",
        appended("def planted(a: list[int] = []) -> list[int]:\n    return a"),
    ),
    Operator("a.completeness.functions", "a stub", appended("def planted() -> int:\n    ...")),
    Operator("a.completeness.functions", "a comment left to do", appended("# TODO: the rest")),
    Operator("a.completeness.types", "no types", appended("def planted(a):\n    return a")),
    Operator("a.completeness.types", "a wrong type", appended("PLANTED: int = 'a'")),
    Operator(
        "b.quality.error-handling",
        "an error that is swallowed",
        appended("try:\n    PLANTED = int('1')\nexcept:\n    PLANTED = 0"),
    ),
    Operator(
        "b.style.conventions",
        "a name in another style",
        appended("def Planted() -> int:\n    return 1"),
    ),
    Operator("b.security.input-validation", "an eval", appended("PLANTED = eval(input())")),
)
