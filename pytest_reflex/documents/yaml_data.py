"""YAML 1.2 as plain data with the line of every key and item, built from the parser's events.

Promises: only None, bool, int, float, str, list and dict come out, whatever tags the text bears;
`yes`, `on` and dates are strings; keys are strings as they are written (`200:` gives "200"); a
duplicate key is refused. Merge keys (`<<`) are merged, since many documents use them although
YAML 1.2 dropped them. Limits: depth, and number of nodes after aliases were followed, so that
whoever walks the result does a bounded amount of work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.documents.yaml_tree import plain_value
from pytest_reflex.errors import ArtifactError

MAX_DEPTH = 100
MAX_NODES = 1_000_000
MAX_SECOND_READING = 1_000_000  # characters; the parser in Python is some 50 times slower

Marks = dict[int, dict[Any, int]]
"""Lines (1-based) of a container's keys or indexes, by `id()` of the container."""

# What libyaml 0.1 says of [http://example.org] and of "\ud83d\ude00", which are right in YAML 1.2.
_FAULTS_OF_THE_C_PARSER = ("found unexpected ':'", "found invalid Unicode character escape code")
_CORE_TAG = re.compile(r"tag:yaml\.org,2002:(?:int|float|bool|null)")


class DataSyntaxError(ValueError):
    """The text is not of the language; `line` and `column` are 1-based, 0 where unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        self.message = message
        self.line = line
        self.column = column
        where = f"line {line}" + (f", column {column}" if column else "") if line else ""
        super().__init__(f"{where}: {message}" if where else message)


def read_yaml(text: str) -> tuple[list[Any], Marks]:
    """Return the documents of a YAML text, and the lines of what is in them.

    Raises DataSyntaxError; ArtifactError above a limit.
    """
    try:
        return _read(_c_events(text), text)
    except DataSyntaxError as error:
        if error.message not in _FAULTS_OF_THE_C_PARSER or len(text) > MAX_SECOND_READING:
            raise
    return _read(_python_events(text), text)


def _read(events: Iterator[Any], text: str) -> tuple[list[Any], Marks]:
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    reader = _Reader()
    try:
        for event in events:
            reader.take(event)
    except MarkedYAMLError as error:
        message, mark = str(error.problem or error.context), error.problem_mark
        raise DataSyntaxError(
            message, mark.line + 1 if mark else 0, mark.column + 1 if mark else 0
        ) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DataSyntaxError(str(error.reason), line) from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DataSyntaxError("a lone surrogate is no character", line) from None
    return reader.documents, reader.marks


def _c_events(text: str) -> Iterator[Any]:
    try:
        from _ruamel_yaml import CParser
    except ImportError:  # an interpreter for which the C parser is not built
        yield from _python_events(text)
        return
    parser = CParser(text)
    while (event := parser.get_event()) is not None:
        yield event


def _python_events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML

    yield from YAML(typ="safe", pure=True).parse(text)


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
            raise DataSyntaxError(f"duplicate key {word!r}, first in line {first}", self._line)
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
