"""Whether operations that return lists let a caller ask for the next part."""

from __future__ import annotations

import re

from pytest_reflex.checks.finding import Report
from pytest_reflex.checks.structure.openapi.document import ApiDocument, Operation, Spot
from pytest_reflex.model.plain import counted

_POSITION = re.compile(
    r"page|p|page(number|no|num|index|token|cursor|offset|after|before|key)|offset|skip|start|"
    r"start(index|at|row|key|ingafter)|(next|continuation|pagination|sync)(page)?(token|key|cursor)|"
    r"range|cursor|after|before|startingafter|endingbefore|continue|marker|since(id)?|maxid|next"
)
_LISTS = re.compile(r"items|data|results?|records|entries|elements|values|content|rows|list|value")
_AROUND = ("links", "meta", "metadata", "paging", "pagination", "pageinfo")
_NOT_WORD = re.compile(r"[^a-z0-9]")


def pagination(api: ApiDocument) -> Report:
    """Find GET operations under `paths` that return a list without a way to its next part.

    A list is a JSON array without `maxItems`, or an object around an array of objects that is
    called items, data, results, ... or as the last segment of the path. A way to the next part is
    a position parameter (page, offset, cursor, after, ...; a limit alone only shortens the list),
    a Link header, or a next link or cursor in the answer.
    """
    lists = [op for op in api.operations("paths") if op.method == "get" and _returns_list(api, op)]
    findings = [
        api.finding(
            f"{op.label} returns a list and takes no position such as page, offset or cursor",
            op.spot,
        )
        for op in lists
        if not (_takes_position(api, op) or _gives_next(api, op))
    ]
    summary = f"{counted(len(lists), 'list')}, each with a way to its next part"
    return Report(findings, summary if lists else "no GET operation returns a list")


def _returns_list(api: ApiDocument, op: Operation) -> bool:
    return any(
        _is_list(api, op, schema)
        for body in api.json_bodies(op)
        for schema in _alternatives(api, body.media.child("schema"))
    )


def _alternatives(api: ApiDocument, start: Spot) -> list[Spot]:
    """Return the schema and what allOf, oneOf and anyOf put in its place."""
    found: list[Spot] = []
    stack = [start]
    while stack and len(found) < 100:
        api.spend()
        spot = api.resolve(stack.pop())
        if not isinstance(spot.node, dict) or any(spot.node is other.node for other in found):
            continue
        found.append(spot)
        for key in ("allOf", "oneOf", "anyOf"):
            group = spot.child(key)
            parts = group.node if isinstance(group.node, list) else []
            stack += [Spot(part, (*group.pointer, n)) for n, part in enumerate(parts)]
    return found


def _is_list(api: ApiDocument, op: Operation, schema: Spot) -> bool:
    if _is_array(schema):
        return "maxItems" not in schema.table
    segments = [part for part in op.path.split("/") if part]
    last = segments[-1] if segments else ""
    properties = schema.child("properties")
    for name in properties.table:
        value = api.resolve(properties.child(name))
        called_so = _LISTS.fullmatch(name.lower()) or _plain(name) == _plain(last)
        if called_so and _is_array(value) and "maxItems" not in value.table:
            item = api.resolve(value.child("items"))
            if any(_is_object(part) for part in _alternatives(api, item)):
                return True
    return False


def _is_object(schema: Spot) -> bool:
    return "properties" in schema.table or schema.table.get("type") == "object"


def _is_array(schema: Spot) -> bool:
    kind = schema.table.get("type")
    return kind == "array" or (isinstance(kind, list) and "array" in kind)


def _takes_position(api: ApiDocument, op: Operation) -> bool:
    return any(
        _is_position(str(parameter.table.get("name", "")))
        for parameter in api.parameters(op)
        if parameter.table.get("in") in ("query", "header")
    )


def _gives_next(api: ApiDocument, op: Operation) -> bool:
    for status, response in api.responses(op):
        if status.startswith("2") and any(
            name.lower() == "link" or "nextpage" in _plain(name)
            for name in response.child("headers").table
        ):
            return True
    return any(
        _leads_on(name) or (_plain(name) in _AROUND and _has_next(api, value))
        for body in api.json_bodies(op)
        for schema in _alternatives(api, body.media.child("schema"))
        for name, value in _property_spots(schema)
    )


def _has_next(api: ApiDocument, links: Spot) -> bool:
    """Return whether what is around a list names its next part, put together or not."""
    parts = _alternatives(api, links)
    named = [found for part in parts for found in _property_spots(part)]
    if any(_leads_on(name) for name, _ in named):
        return True
    deeper = (value for name, value in named if _plain(name) in (*_AROUND, "cursors"))
    return any(
        _leads_on(name) or _plain(name) == "after"
        for value in deeper
        for part in _alternatives(api, value)
        for name, _ in _property_spots(part)
    )


def _leads_on(name: str) -> bool:
    plain = _plain(name)
    return plain.startswith(("next", "hasnext", "endcursor", "continuation")) or "nextlink" in plain


def _property_spots(schema: Spot) -> list[tuple[str, Spot]]:
    properties = schema.child("properties")
    return [(name, properties.child(name)) for name in properties.table]


def _is_position(name: str) -> bool:
    return bool(_POSITION.fullmatch(_plain(name)))


def _plain(name: str) -> str:
    return _NOT_WORD.sub("", name.lower())
