"""YAML 1.2: the events of a text, the meaning of plain scalars, and data with the line of every
key.

The events come from ruamel.yaml's C parser, and where it is wrong, from the other. Plain scalars
have the core schema (YAML 1.2.2 section 10.3).
Promises: whichever parser reads, a problem is a DataSyntaxError with its place, and no text of an
event holds half of a surrogate pair.
Limits: events are parsed as they are asked for, so a reader that stops at a depth or a number of
nodes stops the parser too. Aliases are not followed: the reader that follows them counts them.

Promises: only None, bool, int, float, str, list and dict come out, whatever tags the text bears;
`yes`, `on` and dates are strings; keys are strings as they are written (`200:` gives "200"); a
duplicate key is refused. Merge keys (`<<`) are merged, since many documents use them although
YAML 1.2 dropped them. Limits: depth, and number of nodes after aliases were followed, so that
whoever walks the result does a bounded amount of work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.lines import DataSyntaxError

MAX_SECOND_READING = 1_000_000  # characters; the parser in Python is some 50 times slower

# What libyaml 0.1 says of [http://example.org] and of "\ud83d\ude00", which are right in YAML 1.2.
_FAULTS_OF_THE_C_PARSER = ("found unexpected ':'", "found invalid Unicode character escape code")

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class ForbiddenCharacterError(DataSyntaxError):
    """A character that must be nowhere in a YAML text."""


def yaml_events(text: str) -> Iterator[Any]:
    """Yield the parser's events; their marks count lines, columns and characters from 0.

    Raises DataSyntaxError.
    """
    from ruamel.yaml.error import YAMLError

    try:
        from _ruamel_yaml import CParser
    except ImportError:  # an interpreter for which the C parser is not built
        yield from _python_events(text)
        return
    try:
        yield from iter(CParser(text).get_event, None)
    except (YAMLError, UnicodeEncodeError) as error:
        fault = _fault(error, text)
        if getattr(error, "problem", "") not in _FAULTS_OF_THE_C_PARSER:
            raise fault from None
    else:
        return
    if len(text) > MAX_SECOND_READING:
        raise fault
    yield from _second_reading(text, CParser(text), fault)


def _second_reading(text: str, parser: Any, fault: DataSyntaxError) -> Iterator[Any]:
    """Yield what follows the events that the C parser gave, if both parsers agree on those."""
    from ruamel.yaml.error import YAMLError

    events = _python_events(text)
    try:
        with suppress(YAMLError, UnicodeEncodeError):  # the one that was met before
            for known in iter(parser.get_event, None):
                if _content(known) != _content(next(events, None)):
                    raise fault
        yield from events
    except DataSyntaxError as error:
        raise (error if error.line else fault) from None


def _content(event: Any) -> tuple[Any, ...]:
    return type(event), getattr(event, "value", None), getattr(event, "anchor", None)


def _python_events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            if _SURROGATE.search(getattr(event, "value", "")):
                event.value = _join_surrogates(event)
            yield event
    except YAMLError as error:
        raise _fault(error, text) from None
    except DataSyntaxError:
        raise
    except (ValueError, OverflowError):  # from chr()
        raise DataSyntaxError("found an escape beyond Unicode") from None


def _join_surrogates(event: Any) -> str:
    """Return the text of a scalar with the characters that its surrogate pairs stand for."""
    try:
        return str(event.value).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        mark = event.start_mark
        reason = "found half of a Unicode surrogate pair"
        raise DataSyntaxError(reason, mark.line + 1, mark.column + 1) from None


def _fault(error: Any, text: str) -> DataSyntaxError:
    began = getattr(error, "context_mark", None)
    mark = getattr(error, "problem_mark", None) or began
    if mark:
        reason = str(error.problem or error.context)
        place = mark.line + 1, mark.column + 1
        if not error.context or not began or began.line == mark.line:
            return DataSyntaxError(reason, *place)
        other = f" {error.context} that starts"
        return DataSyntaxError(reason, *place, other=other, other_line=began.line + 1)
    if match := _FORBIDDEN.search(text):
        reason = f"the character U+{ord(match[0]):04X} is not allowed in a YAML file"
        return ForbiddenCharacterError.at(text, match.start(), reason)
    return DataSyntaxError(str(getattr(error, "problem", None) or error))


CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NUMBER_STARTS = frozenset("0123456789+-.")

LONGEST_WHOLE = 400
"""Characters from which on a number is a float, infinity in effect: Python limits long integers."""

_WHOLE = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def plain_value(text: str) -> Any:
    """Return None, a bool, an int, a float, or the text itself."""
    if text in CONSTANTS:
        return CONSTANTS[text]
    return number_or_text(text) if text[0] in NUMBER_STARTS else text


def number_or_text(text: str) -> Any:
    """Return the number that the text spells, infinity and NaN included, else the text."""
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < LONGEST_WHOLE else float(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0) if len(text) < LONGEST_WHOLE else math.inf
    return float(text.replace(".", "")) if _NOT_FINITE.fullmatch(text) else text


MAX_DEPTH = 100
MAX_NODES = 3_000_000

Marks = dict[int, dict[Any, int]]
"""Lines (1-based) of a container's keys or indexes, by `id()` of the container."""

_CORE_TAG = re.compile(r"tag:yaml\.org,2002:(?:int|float|bool|null)")


def read_yaml(text: str) -> tuple[list[Any], Marks]:
    """Return the documents of a YAML text, and the lines of what is in them.

    Raises DataSyntaxError; ArtifactError above a limit.
    """
    reader = _YamlBuilder()
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


class _YamlBuilder:
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
