"""What makes an OpenAPI document wrong although it fits the schema of OpenAPI.

Each node is looked at once, whoever refers to it: the names of tags, operations and parameters, and
the schemas with their defaults. The library for JSON Schema is asked only where a default or, from
3.1 on, a schema is more than what can be seen at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.structure.openapi.defaults import Defaults, Fault
from pytest_reflex.checks.structure.openapi.document import (
    ApiDocument,
    Operation,
    Spot,
    items,
    subschemas,
)

_IN_PATH = re.compile(r"\{([^{}]+)\}")
_OF_PARAMETERS = ("name", "in", "schema", "content", "required", "style", "example")


def faults_in(api: ApiDocument, version: str) -> Iterator[Fault]:
    """Yield what is wrong: duplicates, path parameters, schemas and their defaults."""
    yield from _tags(api)
    yield from _operations(api)
    yield from _schemas(api, version)


def _tags(api: ApiDocument) -> Iterator[Fault]:
    parents: dict[str, str] = {}
    listed = api.root.child("tags")
    for index, tag in enumerate(items(listed.node)):
        spot = Spot(tag, (*listed.pointer, index))
        name = str(spot.table.get("name", ""))
        if name in parents:
            yield f"a second tag {name!r}", spot.pointer
        parents[name] = str(spot.table.get("parent", ""))
    for name, parent in parents.items():
        trail = [name]
        while parent in parents and parent not in trail:
            trail.append(parent)
            parent = parents[parent]
        if parent and parent not in parents:
            yield f"the tag {trail[-1]!r} has the parent {parent!r}, which there is not", ("tags",)
        elif parent and parent == name:
            yield f"tags are their own parents: {' -> '.join([*trail, name])}", ("tags",)


def _operations(api: ApiDocument) -> Iterator[Fault]:
    ids: dict[str, str] = {}
    seen: set[int] = set()
    for op in api.operations("paths", "webhooks"):
        name = op.spot.table.get("operationId")
        if isinstance(name, str):
            if name in ids:
                message = f"{op.label} has the operationId {name!r} of {ids[name]}"
                yield message, (*op.spot.pointer, "operationId")
            ids.setdefault(name, op.label)
        for owner in (op.item, op.spot):
            listed = owner.child("parameters")
            if id(listed.node) not in seen:
                seen.add(id(listed.node))
                yield from _twice(api, listed)
        if op.area == "paths":
            yield from _path_parameters(api, op)


def _twice(api: ApiDocument, listed: Spot) -> Iterator[Fault]:
    known: set[tuple[str, str]] = set()
    for index, node in enumerate(items(listed.node)):
        spot = Spot(node, (*listed.pointer, index))
        parameter = api.resolve(spot)
        beside = [key for key in _OF_PARAMETERS if key in spot.table]
        if "$ref" in spot.table and beside:
            yield f"{beside[0]!r} beside '$ref' is ignored", spot.pointer
        key = (str(parameter.table.get("name")), str(parameter.table.get("in")))
        if key in known:
            yield f"a second {key[1]} parameter {key[0]!r}", spot.pointer
        known.add(key)


def _path_parameters(api: ApiDocument, op: Operation) -> Iterator[Fault]:
    wanted = set(_IN_PATH.findall(op.path))
    declared = {
        str(parameter.table.get("name")): parameter
        for parameter in api.parameters(op)
        if parameter.table.get("in") == "path"
    }
    for name in sorted(wanted - declared.keys()):
        yield f"the path parameter {name!r} of {op.label} is not declared", op.spot.pointer
    for name in sorted(declared.keys() - wanted):
        message = f"the path parameter {name!r} is not in the path of {op.label}"
        yield message, op.spot.pointer


def _schemas(api: ApiDocument, version: str) -> Iterator[Fault]:
    defaults = Defaults(api.data.value, version)
    roots: set[int] = set()
    seen: set[int] = set()
    for root in _roots(api):
        if root.node is None or id(root.node) in roots:
            continue
        roots.add(id(root.node))
        if fault := defaults.of_schema(root.node):
            yield fault[0], (*root.pointer, *fault[1])
            continue
        yield from _undefined(api, root)
        for schema in api.schemas(root, skip=seen):
            seen.add(id(schema.node))
            if "default" in schema.table:
                for message, path in defaults.of_default(schema):
                    yield message, (*schema.pointer, "default", *path)


def _roots(api: ApiDocument) -> Iterator[Spot]:
    components = api.root.child("components").child("schemas")
    for name in components.table:
        yield api.resolve(components.child(name))
    for op in api.operations():
        request = api.resolve(op.spot.child("requestBody"))
        holders = [*api.parameters(op)]
        for owner in (request, *(response for _, response in api.responses(op))):
            content = owner.child("content")
            holders += [api.resolve(content.child(media)) for media in content.table]
        for holder in holders:
            yield api.resolve(holder.child("schema"))


def _undefined(api: ApiDocument, root: Spot) -> Iterator[Fault]:
    """Find what a schema that is put together requires and none of its parts defines."""
    required = items(root.table.get("required"))
    if not required or "allOf" not in root.table:
        return
    names: set[Any] = set()
    stack, seen = [root], set[int]()
    while stack:
        api.spend()
        schema = api.resolve(stack.pop())
        if id(schema.node) in seen or not isinstance(schema.node, dict):
            continue
        seen.add(id(schema.node))
        names.update(schema.child("properties").table)
        own = {"properties", "additionalProperties", "patternProperties", "$defs"}
        stack += [part for part in subschemas(schema) if not own & set(part.pointer[-2:])]
    for name in required:
        if name not in names:
            yield f"{name!r} is required and not defined", (*root.pointer, "required")
