"""Faults of OpenAPI documents: the data is read, changed and written again in its format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import yaml

from benchmarks.rules.operators import Change, Operator

METHODS = ("get", "put", "post", "delete", "patch")
FENCE = re.compile(r"\A# API\n\n```yaml\n(.*)```\n\Z", re.DOTALL)
Edit = Callable[[dict[str, Any]], bool]
"""Changes the document in place; False where there is nothing to change."""


def operations(api: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the operations under paths that have an id or responses of their own."""
    items = (item for item in (api.get("paths") or {}).values() if isinstance(item, dict))
    return [item[m] for item in items for m in METHODS if isinstance(item.get(m), dict)]


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping of a document."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            yield from nodes(child)


def rewrite(edit: Edit, text: str) -> str | None:
    """Return the text with its data changed, in the same format."""
    fenced = FENCE.match(text)
    source = fenced.group(1) if fenced else text
    is_json = source.lstrip().startswith("{")
    api = json.loads(source) if is_json else yaml.load(source, yaml.CSafeLoader)
    if not api.get("paths") or not edit(api):
        return None
    if is_json:
        return json.dumps(api, indent=2, default=str)
    written = yaml.dump(api, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    return f"# API\n\n```yaml\n{written}```\n" if fenced else written


def _one(api: dict[str, Any], wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    found = [operation for operation in operations(api) if wanted(operation)]
    return found[len(found) // 2] if found else {}


def _bodies(api: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        node["content"]["application/json"]
        for node in nodes(api)
        if isinstance(node.get("content"), dict)
        and isinstance(node["content"].get("application/json"), dict)
    ]


def no_responses(api: dict[str, Any]) -> bool:
    return _one(api, lambda o: o.get("responses")).pop("responses", None) is not None


def no_paths(api: dict[str, Any]) -> bool:
    api.pop("webhooks", None)
    api["paths"] = {}
    return True


def broken_reference(api: dict[str, Any]) -> bool:
    found = [n for n in nodes(api) if str(n.get("$ref", "")).startswith("#/components/schemas")]
    for node in found[:1]:
        node["$ref"] += "ThatIsGone"
    return bool(found)


def no_title(api: dict[str, Any]) -> bool:
    return api.get("info", {}).pop("title", None) is not None


def unknown_type(api: dict[str, Any]) -> bool:
    schemas = api.get("components", {}).get("schemas", {}).values()
    typed = [s for s in schemas if isinstance(s, dict) and isinstance(s.get("type"), str)]
    for schema in typed[:1]:
        schema["type"] = "strin"
    return bool(typed)


def no_schema(api: dict[str, Any]) -> bool:
    bodies = [body for body in _bodies(api["paths"]) if "schema" in body]
    for body in bodies[:1]:
        del body["schema"]
    return bool(bodies)


def no_examples(api: dict[str, Any]) -> bool:
    if not _bodies(api):
        return False
    for node in list(nodes(api)):
        for key in ("example", "examples", "default", "enum", "const"):
            if not isinstance(node.get(key), dict) or key in ("example", "examples"):
                node.pop(key, None)
    return True


def new_body(kind: str, api: dict[str, Any]) -> bool:
    body = {"content": {"application/json": {"schema": {"type": "object", "title": "New"}}}}
    operation: dict[str, Any] = {"summary": "New", "responses": {"400": {"description": "No"}}}
    if kind == "request":
        operation["requestBody"] = body
        operation["responses"]["204"] = {"description": "Done"}
    else:
        operation["responses"]["200"] = {"description": "Done", **body}
    api["paths"]["/new"] = {"post": operation}
    return True


def no_errors(number: int, api: dict[str, Any]) -> bool:
    found = [o for o in operations(api) if any(str(k)[0] in "23" for k in o.get("responses", {}))]
    for operation in found[number : number + 1]:
        kept = {k: v for k, v in operation["responses"].items() if str(k)[0] in "23"}
        operation["responses"] = kept
    return len(found) > number


def new_name(name: str, api: dict[str, Any]) -> bool:
    ids = [o for o in operations(api) if o.get("operationId")]
    for operation in ids[:1]:
        operation["operationId"] = name
    return len(ids) > 3


def new_path(api: dict[str, Any]) -> bool:
    words = [w for path in api["paths"] for w in path.split("/") if "-" in w or "_" in w]
    odd = "OddlyNamed_Part-here"
    api["paths"][f"/{odd}"] = {"get": {"summary": "Odd", "responses": {"200": {"description": ""}}}}
    return bool(words) or len(api["paths"]) > 3


def new_list(number: int, api: dict[str, Any]) -> bool:
    rows: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
    schema = (rows, {"type": "object", "properties": {"items": rows}}, rows)[number]
    operation: dict[str, Any] = {
        "summary": "All of them",
        "responses": {
            "200": {"description": "All", "content": {"application/json": {"schema": schema}}}
        },
    }
    if number == 2:
        limit = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
        operation["parameters"] = [limit | {"description": "How many"}]
    api["paths"]["/unbounded"] = {"get": operation}
    return True


def no_schemes(api: dict[str, Any]) -> bool:
    used = api.get("security") or any(o.get("security") for o in operations(api))
    return bool(used and api.get("components", {}).pop("securitySchemes", None))


def unknown_scheme(api: dict[str, Any]) -> bool:
    api["security"] = [{"schemeThatIsGone": []}]
    for operation in operations(api):
        operation.pop("security", None)
    return True


def no_security(api: dict[str, Any]) -> bool:
    declared = api.pop("security", None)
    for operation in operations(api):
        declared = operation.pop("security", None) or declared
    return bool(declared)


def no_words(api: dict[str, Any]) -> bool:
    operation = _one(api, lambda o: o.get("summary") or o.get("description"))
    return bool([operation.pop(key, None) for key in ("summary", "description")] and operation)


def to_be_written(api: dict[str, Any]) -> bool:
    operation = _one(api, lambda o: o.get("summary") or o.get("description"))
    operation |= {"summary": "TODO: describe", "description": "TODO: describe"}
    return "responses" in operation


def new_parameter(api: dict[str, Any]) -> bool:
    parameter = {"name": "depth", "in": "query", "schema": {"type": "integer"}}
    operation = _one(api, lambda o: o.get("responses"))
    operation["parameters"] = [*operation.get("parameters", []), parameter]
    return "responses" in operation


def cut_off(text: str) -> str | None:
    """A bracket without its end: no part of the document can be read."""
    if FENCE.match(text):
        return text.replace("```yaml\n", "```yaml\nbroken: [1, 2\n", 1)
    return text.rstrip()[:-1] if text.startswith("{") else f"broken: [1, 2\n{text}"


EDITS: dict[str, dict[str, Edit]] = {
    "a.correctness.endpoints": {
        "an operation without responses": no_responses,
        "no operation": no_paths,
    },
    "a.correctness.schemas": {
        "a reference that leads nowhere": broken_reference,
        "no title": no_title,
        "a type that does not exist": unknown_type,
        "a body without schema": no_schema,
    },
    "a.completeness.examples": {
        "no example at all": no_examples,
        "a request without example": partial(new_body, "request"),
        "a response without example": partial(new_body, "response"),
    },
    "a.completeness.errors": {
        f"no error of operation {n + 1}": partial(no_errors, n) for n in range(3)
    },
    "b.style.naming": {
        "an operationId with blanks": partial(new_name, "get all of them"),
        "an operationId in another style": partial(new_name, "Get_all-OfThem"),
        "a path in another style": new_path,
    },
    "b.completeness.pagination": {
        f"a list without an end ({n + 1})": partial(new_list, n) for n in range(3)
    },
    "b.completeness.auth": {
        "no scheme": no_schemes,
        "a scheme that is not defined": unknown_scheme,
        "no security": no_security,
    },
    "b.quality.descriptions": {
        "an operation without words": no_words,
        "an operation to be described": to_be_written,
        "a parameter without words": new_parameter,
    },
}


def _operator(rule: str, name: str, change: Change) -> Operator:
    return Operator(
        templates=("api-spec",),
        rule=rule,
        formats=("yaml", "json", "markdown"),
        name=name,
        change=change,
    )


OPERATORS = (
    *(
        _operator(rule, name, partial(rewrite, edit))
        for rule, edits in EDITS.items()
        for name, edit in edits.items()
    ),
    _operator("a.correctness.endpoints", "a text that is cut off", cut_off),
)
