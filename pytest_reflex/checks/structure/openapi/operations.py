"""Operations of an OpenAPI document: descriptions, errors, examples, paging."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.markdown.prose import stands_for_text
from pytest_reflex.checks.structure.openapi.document import ApiDocument, ApiNode, Body, Operation
from pytest_reflex.model.plain import pluralize

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
    summary = f"{pluralize(len(lists), 'list')}, each with a way to its next part"
    return Report(findings, summary if lists else "no GET operation returns a list")


def _returns_list(api: ApiDocument, op: Operation) -> bool:
    return any(
        _is_list(api, op, schema)
        for body in api.json_bodies(op)
        for schema in _alternatives(api, body.media.child("schema"))
    )


def _alternatives(api: ApiDocument, start: ApiNode) -> list[ApiNode]:
    """Return the schema and what allOf, oneOf and anyOf put in its place."""
    found: list[ApiNode] = []
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
            stack += [ApiNode(part, (*group.pointer, n)) for n, part in enumerate(parts)]
    return found


def _is_list(api: ApiDocument, op: Operation, schema: ApiNode) -> bool:
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


def _is_object(schema: ApiNode) -> bool:
    return "properties" in schema.table or schema.table.get("type") == "object"


def _is_array(schema: ApiNode) -> bool:
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


def _has_next(api: ApiDocument, links: ApiNode) -> bool:
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


def _property_spots(schema: ApiNode) -> list[tuple[str, ApiNode]]:
    properties = schema.child("properties")
    return [(name, properties.child(name)) for name in properties.table]


def _is_position(name: str) -> bool:
    return bool(_POSITION.fullmatch(_plain(name)))


def _plain(name: str) -> str:
    return _NOT_WORD.sub("", name.lower())


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
    return Report(findings, f"{pluralize(len(found), 'operation')}, each with responses")


def schemas(api: ApiDocument) -> Report:
    """Find JSON bodies of requests and responses that declare no schema."""
    findings, bodies = [], 0
    for op in api.operations():
        for body in api.json_bodies(op, errors=True):
            bodies += 1
            if "schema" not in body.media.table:
                message = f"{op.label}: the JSON {body.role} declares no schema"
                findings.append(api.finding(message, body.media))
    return Report(findings, f"{pluralize(bodies, 'JSON body', 'JSON bodies')}, each with a schema")


def errors(api: ApiDocument) -> Report:
    """Find operations under `paths` that document no 4xx, 5xx or default response."""
    found = api.operations("paths")
    findings = [
        api.finding(f"{op.label} documents no error response", op.spot)
        for op in found
        if not any(s[:1] in ("4", "5") or s == "default" for s, _ in api.responses(op))
    ]
    return Report(findings, f"{pluralize(len(found), 'operation')}, each with an error response")


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


def _within(spot: ApiNode) -> Iterator[ApiNode]:
    if isinstance(spot.node, list):
        for index, node in enumerate(spot.node):
            yield ApiNode(node, (*spot.pointer, index))
        return
    in_properties = spot.pointer[-1:] == ("properties",)
    for key in spot.table:
        if in_properties or key not in _DATA_KEYS:
            yield spot.child(key)


def _text(spot: ApiNode, key: str) -> str:
    value = spot.table.get(key)
    return value if isinstance(value, str) else ""


_BODY_START = re.compile(r"^[\[{]", re.MULTILINE)
_IS_OPENAPI = re.compile(r'^\s*"?openapi"?\s*:', re.MULTILINE)


def examples(api: ApiDocument) -> Report:
    """Find JSON request bodies and 2xx responses that show no example.

    An example counts on the media type, or anywhere in its schema; in Markdown also a fenced json
    or http block whose heading or lead names the operation ("POST /pets", or its operationId),
    one block for each body.
    """
    barren: set[int] = set()
    around = list(_blocks_around(api.text)) if api.text else []
    findings, bodies = [], 0
    for op in api.operations():
        bare = []
        for body in api.json_bodies(op):
            if _is_empty(api, body):
                continue
            bodies += 1
            if not _shows(api, body.media, barren):
                bare.append(body)
        shown = _count_examples(op, around) if bare else 0
        findings += [_finding(api, op, body) for body in bare[shown:]]
    return Report(
        findings, f"{pluralize(bodies, 'JSON body', 'JSON bodies')}, each with an example"
    )


def _finding(api: ApiDocument, op: Operation, body: Body) -> Finding:
    return api.finding(f"{op.label}: the JSON {body.role} shows no example", body.media)


def _is_empty(api: ApiDocument, body: Body) -> bool:
    """Return whether a body is nothing, or nothing is said of it: there is nothing to show."""
    if body.role in ("response 204", "response 205"):
        return True
    schema = api.resolve(body.media.child("schema"))
    kind = schema.table.get("type")
    return (
        schema.node in (None, {}, True, False)
        or kind == "null"
        or (kind == "string" and schema.table.get("maxLength") == 0)
        or (kind == "object" and _holds_nothing(schema.table))
    )


def _holds_nothing(schema: dict[str, Any]) -> bool:
    no_others = schema.get("additionalProperties") is False
    return schema.get("maxProperties") == 0 or (no_others and not schema.get("properties"))


def _shows(api: ApiDocument, media: ApiNode, barren: set[int]) -> bool:
    if _has_example(media):
        return True
    visited = []
    for schema in api.schemas(media.child("schema"), skip=barren):
        if _has_example(schema):
            return True
        visited.append(id(schema.node))
    # Nothing below has one: no need to look there again for the next operation.
    barren.update(visited)
    return False


def _has_example(spot: ApiNode) -> bool:
    return "example" in spot.table or bool(spot.table.get("examples"))


def _blocks_around(text: str) -> Iterator[tuple[str, int]]:
    """Yield (words that lead to it, number of bodies) for each json or http block."""
    document = model.parse(text)
    parts: list[model.Section | model.Paragraph | model.Block]
    parts = [*document.sections, *document.paragraphs, *document.blocks]
    titles: list[model.Section] = []
    leads: list[str] = []
    for part in sorted(parts, key=lambda part: part.line):
        if isinstance(part, model.Section):
            titles = [title for title in titles if title.level < part.level] + [part]
            leads = []
        elif isinstance(part, model.Paragraph):
            leads.append(part.text)
        else:
            if part.language in ("json", "jsonc", "http") and not _IS_OPENAPI.search(part.text):
                is_http = part.language == "http"
                words = [*(t.title for t in titles), *leads[-2:], part.text if is_http else ""]
                yield "\n".join(words), _bodies_in(part.text) if is_http else 1
            leads = []


def _bodies_in(http: str) -> int:
    return max(1, len(_BODY_START.findall(http)))


def _count_examples(op: Operation, around: list[tuple[str, int]]) -> int:
    parts = re.split(r"\{[^{}]*\}", op.path)
    path = r"(?:\{[^{}\s]*\}|[^\s/`]+)".join(re.escape(part) for part in parts)
    names = [rf"\b{op.method.upper()}\b[ `*:]{{1,4}}\S*?{path}(?![\w/{{-])"]
    operation_id = op.spot.table.get("operationId")
    if isinstance(operation_id, str) and operation_id:
        names.append(rf"(?<![\w-]){re.escape(operation_id)}(?![\w-])")
    named = re.compile("|".join(names))
    return sum(bodies for words, bodies in around if named.search(words))
