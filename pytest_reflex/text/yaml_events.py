"""The events of a YAML 1.2 text, and what its unquoted words mean.

The events come from ruamel.yaml's C parser, and where it is wrong, from the other. Plain scalars
have the core schema (YAML 1.2.2 section 10.3).
Promises: whichever parser reads, a fault is a DataSyntaxError with its place, and no text of an
event holds half of a surrogate pair.
Limits: events are parsed as they are asked for, so a reader that stops at a depth or a number of
nodes stops the parser too. Aliases are not followed: the reader that follows them counts them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

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
    given = 0
    try:
        for event in iter(CParser(text).get_event, None):
            given += 1
            yield event
    except (YAMLError, UnicodeEncodeError) as error:
        fault = _fault(error, text)
        if getattr(error, "problem", "") not in _FAULTS_OF_THE_C_PARSER:
            raise fault from None
    else:
        return
    if len(text) > MAX_SECOND_READING:
        raise fault
    same = islice(iter(CParser(text).get_event, None), given)
    yield from _second_reading(text, same, fault)


def _second_reading(text: str, same: Iterator[Any], fault: DataSyntaxError) -> Iterator[Any]:
    """Yield what follows the events that were given already, if both parsers agree on those."""
    events = _python_events(text)
    try:
        for known, event in zip(same, events, strict=False):
            if _content(known) != _content(event):
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
                event.value = _joined(event)
            yield event
    except YAMLError as error:
        raise _fault(error, text) from None
    except DataSyntaxError:
        raise
    except (ValueError, OverflowError):  # from chr()
        raise DataSyntaxError("found an escape beyond Unicode") from None


def _joined(event: Any) -> str:
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
