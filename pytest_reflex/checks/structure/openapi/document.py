"""An OpenAPI 3 document as aspects see it: operations, parameters, bodies; references followed.

Only references into the same document are followed (`#/...`); nothing is ever fetched or opened.
Every accessor bears whatever stands in the document: what has the wrong shape counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pytest_reflex.checks.finding import Finding
from pytest_reflex.checks.structure.data.source import finding_at
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.data import Data

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
MAX_STEPS = 5_000_000
MAX_REFERENCES = 32

Pointer = tuple[Any, ...]

_STATUS = re.compile(r"[1-5](?:\d\d|XX)|default", re.IGNORECASE)
_JSON_MEDIA = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json\s*(?:;.*)?|\*/\*", re.I)


@dataclass(frozen=True, slots=True)
class ApiNode:
    """A node and where it is written; `node` is None where a reference leads nowhere."""

    node: Any
    pointer: Pointer

    @property
    def table(self) -> dict[str, Any]:
        return table(self.node)

    def child(self, key: Any) -> ApiNode:
        return ApiNode(self.table.get(key), (*self.pointer, key))


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; `area` is paths, webhooks or callbacks, `path` the key it stands under."""

    area: str
    path: str
    method: str
    spot: ApiNode
    item: ApiNode

    @property
    def label(self) -> str:
        """What messages call it: GET /pets, webhook NAME, callback POST URL."""
        if self.area == "paths":
            return f"{self.method.upper()} {self.path}"
        return f"{self.area.removesuffix('s')} {self.method.upper()} {self.path}"


@dataclass(frozen=True, slots=True)
class Body:
    """A JSON body of an operation: `role` is "request" or "response 200"."""

    role: str
    media: ApiNode


@dataclass(slots=True)
class ApiDocument:
    """One OpenAPI document; `text` is the Markdown around it, empty where it is a whole file."""

    data: Data
    text: str = ""
    _steps: int = 0
    _operations: list[Operation] = field(default_factory=list)

    @property
    def root(self) -> ApiNode:
        return ApiNode(self.data.value, ())

    def line(self, spot: ApiNode) -> int:
        return self.data.line(spot.pointer)

    def finding(self, message: str, spot: ApiNode) -> Finding:
        """Return a finding about a node."""
        return finding_at(self.data, message, spot.pointer, whole=self.text)

    def spend(self, steps: int = 1) -> None:
        """Count work; raises ArtifactError where a document takes more than one can wait for."""
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise ArtifactError(
                f"the OpenAPI document takes more than {MAX_STEPS:,} steps to look through",
                hint="its references multiply; split it",
            )

    def resolve(self, spot: ApiNode) -> ApiNode:
        """Follow `$ref` to the node it names; a cycle or a reference elsewhere gives None."""
        for _ in range(MAX_REFERENCES):
            reference = table(spot.node).get("$ref")
            if not isinstance(reference, str):
                return spot
            self.spend()
            spot = self._target(reference)
        return ApiNode(None, spot.pointer)

    def _target(self, reference: str) -> ApiNode:
        if not reference.startswith("#/"):
            return ApiNode(None, ())
        node: Any = self.data.value
        steps: list[Any] = []
        for part in reference[2:].split("/"):
            key: Any = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and key.isascii() and key.isdigit() and len(key) < 7:
                key = int(key)
                node = node[key] if key < len(node) else None
            else:
                node = table(node).get(key)
            steps.append(key)
        return ApiNode(node, tuple(steps))

    def operations(self, *areas: str) -> list[Operation]:
        """Return the operations in the order of the document; of these areas only where given."""
        if not self._operations:
            self._operations = [*self._of_area("paths"), *self._of_area("webhooks")]
            for operation in tuple(self._operations):
                self._operations += self._of_callbacks(operation)
        return [op for op in self._operations if not areas or op.area in areas]

    def _of_area(self, area: str) -> Iterator[Operation]:
        section = self.root.child(area)
        for path in section.table:
            yield from self._of_item(area, path, section.child(path))

    def _of_callbacks(self, operation: Operation) -> Iterator[Operation]:
        callbacks = operation.spot.child("callbacks")
        for name in callbacks.table:
            callback = self.resolve(callbacks.child(name))
            for url in callback.table:
                yield from self._of_item("callbacks", url, callback.child(url))

    def _of_item(self, area: str, path: str, item: ApiNode) -> Iterator[Operation]:
        item = self.resolve(item)
        for method in item.table:
            if _is_operation(method, item.table[method]):
                yield Operation(area, path, method, item.child(method), item)

    def parameters(self, operation: Operation) -> list[ApiNode]:
        """Return the parameters of an operation and its path item, references followed.

        Where a reference leads nowhere the spot has no node.
        """
        found = []
        for owner in (operation.item, operation.spot):
            listed = owner.child("parameters")
            for index, node in enumerate(items(listed.node)):
                found.append(self.resolve(ApiNode(node, (*listed.pointer, index))))
        return found

    def responses(self, operation: Operation) -> list[tuple[str, ApiNode]]:
        """Return (status, response) with references followed."""
        listed = operation.spot.child("responses")
        return [
            (status, self.resolve(listed.child(status)))
            for status in listed.table
            if _STATUS.fullmatch(status)
        ]

    def json_bodies(self, operation: Operation, *, errors: bool = False) -> Iterator[Body]:
        """Yield the JSON bodies of the request and of the 2xx responses; with `errors` of all."""
        request = self.resolve(operation.spot.child("requestBody"))
        yield from self._json_media("request", request)
        for status, response in self.responses(operation):
            if errors or status.startswith("2"):
                yield from self._json_media(f"response {status}", response)

    def _json_media(self, role: str, owner: ApiNode) -> Iterator[Body]:
        content = owner.child(_key_of_content(owner.table))
        for media in content.table:
            if _JSON_MEDIA.fullmatch(media):
                yield Body(role, self.resolve(content.child(media)))

    def schemas(self, start: ApiNode, skip: Container[int] = ()) -> Iterator[ApiNode]:
        """Yield a schema and those within it, references followed, each once.

        Nodes whose `id()` is in `skip` are left out, with what only they lead to.
        """
        stack, seen = [start], set[int]()
        while stack:
            self.spend()
            spot = self.resolve(stack.pop())
            known = id(spot.node)
            if not isinstance(spot.node, dict) or known in seen or known in skip:
                continue
            seen.add(id(spot.node))
            yield spot
            stack.extend(reversed(list(subschemas(spot))))


def _is_operation(method: str, node: Any) -> bool:
    """Return whether an entry of a path is an operation, be its method misspelt."""
    if not isinstance(node, dict) or method.startswith("x-"):
        return False
    return method in METHODS or "responses" in node


def _key_of_content(owner: dict[str, Any]) -> str:
    """Return the key under which media types stand, be it misspelt."""
    strange = (key for key, value in owner.items() if "content" not in owner and table(value))
    return next((key for key in strange if all("/" in name for name in owner[key])), "content")


_ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas")


def subschemas(schema: ApiNode) -> Iterator[ApiNode]:
    """Yield the schemas directly within a schema, in a fixed order."""
    for key in _ONE:
        if isinstance(schema.table.get(key), dict):
            yield schema.child(key)
    for key in _MANY:
        group = schema.child(key)
        for index, node in enumerate(items(group.node)):
            yield ApiNode(node, (*group.pointer, index))
    for key in _NAMED:
        group = schema.child(key)
        for name in group.table:
            yield group.child(name)


def table(node: Any) -> dict[str, Any]:
    """Return the node where it is a map, else an empty one."""
    return node if isinstance(node, dict) else {}


def items(node: Any) -> list[Any]:
    """Return the node where it is a list, else an empty one."""
    return node if isinstance(node, list) else []
