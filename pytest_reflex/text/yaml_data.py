"""YAML 1.2 as plain data with the line of every key and item, for checks.

Promises: only None, bool, int, float, str, list and dict come out, whatever tags the text bears;
`yes`, `on` and dates are strings; keys are strings as they are written (`200:` gives "200"); a
duplicate key is refused. Merge keys (`<<`) are merged, since many documents use them although
YAML 1.2 dropped them. Limits: depth, and number of nodes after aliases were followed, so that
whoever walks the result does a bounded amount of work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.yaml_events import plain_value, yaml_events

MAX_DEPTH = 100
MAX_NODES = 3_000_000

Marks = dict[int, dict[Any, int]]
"""Lines (1-based) of a container's keys or indexes, by `id()` of the container."""

_CORE_TAG = re.compile(r"tag:yaml\.org,2002:(?:int|float|bool|null)")


def read_yaml(text: str) -> tuple[list[Any], Marks]:
    """Return the documents of a YAML text, and the lines of what is in them.

    Raises DataSyntaxError; ArtifactError above a limit.
    """
    reader = _Reader()
    for event in yaml_events(text):
        reader.take(event)
    return reader.documents, reader.marks


@dataclass(slots=True)
class _Open:
    """A container that is being filled; `nodes` counts what is in it, aliases followed."""

    value: Any
    anchor: str | None
    marks: dict[Any, int] = field(default_factory=dict)
    merged: list[tuple[Any, int]] = field(default_factory=list)
    key: str | None = None
    nodes: int = 1


class _Reader:
    """Builds values from events, without recursion."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.marks: Marks = {}
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._line = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        self._line = event.start_mark.line + 1
        if kind == "ScalarEvent":
            self._scalar(event)
        elif kind == "MappingStartEvent":
            self._open({}, event.anchor)
        elif kind == "SequenceStartEvent":
            self._open([], event.anchor)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._close()
        elif kind == "AliasEvent":
            value, nodes = self._alias(event.anchor)
            self._count(nodes)
            self._put(value, nodes)
        elif kind == "DocumentStartEvent":
            self._anchors.clear()

    def _scalar(self, event: Any) -> None:
        value = event.value if self._awaits_key() else _resolve(event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._count(1)
        self._put(value, 1)

    def _open(self, value: Any, anchor: str | None) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise ArtifactError(f"YAML nested deeper than {MAX_DEPTH} levels: line {self._line}")
        if self._awaits_key():
            raise DataSyntaxError("a key that is a list or a map", self._line)
        if self._stack and isinstance(self._stack[-1].value, list):
            self._stack[-1].marks[len(self._stack[-1].value)] = self._line
        self._count(1)
        self._stack.append(_Open(value, anchor))

    def _close(self) -> None:
        done = self._stack.pop()
        for source, line in done.merged:
            self._merge(done, source, line)
        self.marks[id(done.value)] = done.marks
        if done.anchor:
            self._anchors[done.anchor] = (done.value, done.nodes)
        self._put(done.value, done.nodes)

    def _alias(self, anchor: str) -> tuple[Any, int]:
        if any(container.anchor == anchor for container in self._stack):
            raise ArtifactError(f"YAML alias *{anchor} contains itself: line {self._line}")
        if anchor not in self._anchors:
            raise DataSyntaxError(f"undefined alias *{anchor}", self._line)
        return self._anchors[anchor]

    def _awaits_key(self) -> bool:
        if not self._stack:
            return False
        parent = self._stack[-1]
        return parent.key is None and isinstance(parent.value, dict)

    def _put(self, value: Any, nodes: int) -> None:
        if not self._stack:
            self.documents.append(value)
            return
        parent = self._stack[-1]
        parent.nodes += nodes
        if isinstance(parent.value, list):
            parent.marks.setdefault(len(parent.value), self._line)
            parent.value.append(value)
        elif parent.key is None:
            self._key(parent, value)
        elif parent.key == "<<":
            parent.merged.append((value, parent.marks.pop("<<")))
            parent.key = None
        else:
            parent.value[parent.key] = value
            parent.key = None

    def _key(self, parent: _Open, key: Any) -> None:
        if isinstance(key, dict | list):
            raise DataSyntaxError("a key that is a list or a map", self._line)
        word = key if isinstance(key, str) else str(key)
        if word in parent.marks:
            first = parent.marks[word]
            reason = f"duplicate key {word!r}"
            raise DataSyntaxError(reason, self._line, other=", first", other_line=first)
        parent.key = word
        parent.marks[word] = self._line

    def _merge(self, target: _Open, source: Any, line: int) -> None:
        for part in source if isinstance(source, list) else [source]:
            if not isinstance(part, dict):
                raise DataSyntaxError("<< needs a map or a list of maps", line)
            for key, value in part.items():
                if key not in target.value:
                    target.value[key] = value
                    target.marks[key] = self.marks.get(id(part), {}).get(key, line)

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise ArtifactError(
                f"YAML with more than {MAX_NODES:,} nodes once its aliases are followed "
                f"(the alias budget): line {self._line}"
            )


def _resolve(event: Any) -> Any:
    """Return the value of a scalar by the core schema of YAML 1.2."""
    text: str = event.value
    if event.implicit[0] or (event.tag and _CORE_TAG.fullmatch(str(event.tag))):
        return plain_value(text)
    return text
