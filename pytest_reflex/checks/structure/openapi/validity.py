"""Whether an OpenAPI document is valid: by openapi-spec-validator, and by what its schema cannot
express.

Each node is looked at once, whoever refers to it: the names of tags, operations and parameters, and
the schemas with their defaults. The library for JSON Schema is asked only where a default or, from
3.1 on, a schema is more than what can be seen at once.

Promises: nothing is fetched or opened (a reference to another document is itself the finding), and
no pattern of the document is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pytest_reflex.checks.finding import MOST_FINDINGS, Finding, Report, missing_extra
from pytest_reflex.checks.structure.openapi.defaults import Defaults, Fault, fault_of
from pytest_reflex.checks.structure.openapi.document import (
    ApiDocument,
    ApiNode,
    Operation,
    Pointer,
    items,
    subschemas,
)
from pytest_reflex.contracts.validate import pointer
from pytest_reflex.errors import ArtifactError

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
        spot = ApiNode(tag, (*listed.pointer, index))
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


def _twice(api: ApiDocument, listed: ApiNode) -> Iterator[Fault]:
    known: set[tuple[str, str]] = set()
    for index, node in enumerate(items(listed.node)):
        spot = ApiNode(node, (*listed.pointer, index))
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
        yield from _find_undefined(api, root)
        for schema in api.schemas(root, skip=seen):
            seen.add(id(schema.node))
            if "default" in schema.table:
                for message, path in defaults.of_default(schema):
                    yield message, (*schema.pointer, "default", *path)


def _roots(api: ApiDocument) -> Iterator[ApiNode]:
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


def _find_undefined(api: ApiDocument, root: ApiNode) -> Iterator[Fault]:
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


MAX_NODES = 1_000_000


def valid(api: ApiDocument) -> Report:
    """Find what makes the document invalid under its own version of the specification."""
    version = api.root.table.get("openapi")
    if not isinstance(version, str):
        message = f'openapi must be a text such as "3.1.0", not {version!r}'
        return Report([api.finding(message, api.root.child("openapi"))])
    references = list(islice(_bad_references(api), MOST_FINDINGS))
    if references:
        return Report(references)
    if lack := missing_extra("openapi_spec_validator"):
        return lack
    return Report(list(_errors(api, version)), f"valid OpenAPI {version}")


def _bad_references(api: ApiDocument) -> Iterator[Finding]:
    """Find references that lead out of the document or nowhere: the library says less of them."""
    nodes = list(_nodes(api))
    rebased = any(isinstance(spot.table.get("$id"), str) for spot in nodes)
    for spot in nodes:
        reference = spot.table.get("$ref")
        if not isinstance(reference, str):
            continue
        if not reference.startswith("#"):
            message = f"$ref to another document is not followed: {reference!r}; bundle it into one"
            yield api.finding(message, spot.child("$ref"))
        elif reference.startswith("#/") and not rebased and api.resolve(spot).node is None:
            yield api.finding(f"$ref leads nowhere: {reference!r}", spot.child("$ref"))


def _nodes(api: ApiDocument) -> Iterator[ApiNode]:
    stack, seen = [api.root], set[int]()
    while stack:
        spot = stack.pop()
        if not isinstance(spot.node, dict | list) or id(spot.node) in seen:
            continue
        seen.add(id(spot.node))
        if len(seen) > MAX_NODES:
            raise ArtifactError(
                f"the OpenAPI document has more than {MAX_NODES:,} nodes: too large to validate",
                hint="split it, or use an executable check",
            )
        yield spot
        entries = spot.node.items() if isinstance(spot.node, dict) else enumerate(spot.node)
        stack += [
            ApiNode(node, (*spot.pointer, key))
            for key, node in entries
            if key not in ("example", "examples", "default", "enum", "const")
        ]


def _errors(api: ApiDocument, version: str) -> Iterator[Finding]:
    from openapi_spec_validator.shortcuts import get_validator_cls
    from openapi_spec_validator.validation.exceptions import ValidatorDetectError

    document = api.data.value
    try:
        kind = get_validator_cls(document)
        by_schema = list(islice(kind.schema_validator.iter_errors(document), MOST_FINDINGS))
        yield from (_locate(api, *fault_of(error)) for error in by_schema)
        if not by_schema:
            found = islice(faults_in(api, version), MOST_FINDINGS)
            yield from (_locate(api, *fault) for fault in found)
    except ValidatorDetectError:
        message = f"openapi {version!r} is not a known version; 3.0, 3.1 and 3.2 are"
        yield api.finding(message, api.root.child("openapi"))
    except RecursionError:
        raise ArtifactError(
            "the OpenAPI document is nested too deeply to validate",
            hint="flatten it, or use an executable check",
        ) from None
    except ArtifactError:
        raise
    except Exception as error:
        # A document that is right by the schema may still surprise the library.
        reason = f"{type(error).__name__}: {error}"
        yield Finding(f"the OpenAPI validator cannot follow the document: {reason}", 1)


def _locate(api: ApiDocument, message: str, path: Pointer) -> Finding:
    return api.finding(f"#{pointer(path) or '/'}: {message}", ApiNode(None, path))
