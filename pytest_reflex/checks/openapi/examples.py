"""Whether every JSON body of an API shows an example, there or in the Markdown around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.openapi.document import ApiDocument, Body, Operation, Spot
from pytest_reflex.model.plain import counted

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
        shown = _shown_around(op, around) if bare else 0
        findings += [_finding(api, op, body) for body in bare[shown:]]
    return Report(findings, f"{counted(bodies, 'JSON body', 'JSON bodies')}, each with an example")


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


def _shows(api: ApiDocument, media: Spot, barren: set[int]) -> bool:
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


def _has_example(spot: Spot) -> bool:
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


def _shown_around(op: Operation, around: list[tuple[str, int]]) -> int:
    parts = re.split(r"\{[^{}]*\}", op.path)
    path = r"(?:\{[^{}\s]*\}|[^\s/`]+)".join(re.escape(part) for part in parts)
    names = [rf"\b{op.method.upper()}\b[ `*:]{{1,4}}\S*?{path}(?![\w/{{-])"]
    operation_id = op.spot.table.get("operationId")
    if isinstance(operation_id, str) and operation_id:
        names.append(rf"(?<![\w-]){re.escape(operation_id)}(?![\w-])")
    named = re.compile("|".join(names))
    return sum(bodies for words, bodies in around if named.search(words))
