"""Values that know where they stand in a file, and the problems found in them.

Words mean what they mean in YAML 1.2, but numbers are exact or refused. `{var: name}` in a check
becomes the variable's value.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NoReturn

from pytest_reflex.errors import (
    CriteriaError,
    Place,
    Problem,
    UsageError,
    did_you_mean,
    nearest_word,
    suggest,
)
from pytest_reflex.model.rules import LONGEST_ID, is_id
from pytest_reflex.text import yaml_data
from pytest_reflex.text.yaml_data import CONSTANTS, NUMBER_STARTS

_LONGEST_SHOWN = 60
_MOST_SHOWN = 12


def quote(text: str) -> str:
    """Return a text of the user's in quotes, on one line, cut where it is long."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: the nearest known one, all where they are few, or none."""
    words = tuple(known)
    if 0 < len(words) <= _MOST_SHOWN:
        return did_you_mean(shorten(word), words)
    return suggest(nearest_word(shorten(word), words))


def shorten(word: str) -> str:
    """Return the start of a word, which is enough to find what is near it."""
    return word[:_LONGEST_SHOWN]


FORM = "<a|b>.<category>.<name>"


def what_is_wrong(text: str) -> tuple[str, str]:
    """Return message and hint for a text that is not an id."""
    if len(text) > LONGEST_ID:
        return f"the id has {len(text)} characters; {LONGEST_ID} are allowed", ""
    odd = next((c for c in text if not (c.isascii() and (c.isalnum() or c in ".-_ "))), None)
    if odd is not None:
        name = unicodedata.name(odd, "a character without a name")
        return f"the id {quote(text)} holds U+{ord(odd):04X} ({name})", f"ids look like {FORM}"
    near = re.sub(r"[-_ ]+", "-", text.lower()).strip("-.")
    hint = f"did you mean {near}?" if is_id(near) else f"ids look like {FORM}"
    form = "lower case, parts joined by dots, hyphens inside a part"
    return f"{quote(text)} is not an id: {form}", hint


def fold(text: str) -> str:
    """Return the form in which ids that look or compare alike are equal."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in plain if unicodedata.category(c) != "Cf")


Spot = tuple[int, int]
"""Line and column, 1-based; (0, 0) where the position is not known."""

NOWHERE: Spot = (0, 0)
MOST_PROBLEMS = 100


class Diagnostics:
    """Gathers what is wrong with one file, so that a user sees all of it at once.

    `path` is how messages name the file; `text` is its content, for hints that need the line.
    `controls` is whether a text in it may hold control characters (most files need no look).
    """

    def __init__(self, path: str, text: str = "") -> None:
        self.path = path
        self.text = text
        self.controls = False
        self.found: list[Problem] = []
        self._lines: list[str] | None = None
        self._settled: dict[Spot, str] = {}

    def place(self, spot: Spot) -> Place:
        # Twice as fast as Place(...), and every rule and check has one.
        return tuple.__new__(Place, (self.path, *spot))

    def add(self, message: str, spot: Spot = NOWHERE, *, hint: str = "", rule_id: str = "") -> None:
        """Note one problem; nothing where the value at `spot` was refused already."""
        if spot in self._settled:
            return
        if len(self.found) >= MOST_PROBLEMS:
            self._stop_counting()
        self.found.append(
            Problem(message=message, place=self.place(spot), hint=hint, rule_id=rule_id)
        )

    def _stop_counting(self) -> NoReturn:
        hint = "fix these first"
        more = Problem(message="there are more problems", place=Place(self.path), hint=hint)
        raise CriteriaError([*in_order(self.found), more])

    def refuse(
        self, message: str, spot: Spot, *, hint: str = "", rule_id: str = "", as_value: str = ""
    ) -> None:
        """Note that the value at `spot` is unusable; later problems of it are not reported.

        `as_value` is what is said of it once its key is known, where that is another sentence.
        """
        self.add(message, spot, hint=hint, rule_id=rule_id)
        self._settled[spot] = as_value

    def retell_number(self, key: str, spot: Spot, *, rule_id: str = "") -> bool:
        """Return whether a number was refused as the value of `key`; False where none was."""
        if spot not in self._settled:
            return False
        place = self.place(spot)
        for index, old in enumerate(self.found):
            if old.place == place:
                as_value = self._settled[spot]
                message = f"{key} {as_value}" if as_value else f"{key}: {old.message}"
                self.found[index] = Problem(message=message, place=place, rule_id=rule_id)
        return True

    def stop(self, message: str, spot: Spot = NOWHERE, *, hint: str = "") -> NoReturn:
        """Note a problem after which nothing more can be read; raises CriteriaError."""
        self.add(message, spot, hint=hint)
        raise CriteriaError(in_order(self.found))

    def line(self, number: int) -> str:
        """Return a line of the file by its 1-based number; empty where there is none."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""


def in_order(problems: list[Problem]) -> list[Problem]:
    """Return the problems by line and column, files in the order in which they appear."""
    files: dict[str, int] = {}
    for problem in problems:
        files.setdefault(problem.place.path if problem.place else "", len(files))

    def key(problem: Problem) -> tuple[int, int, int]:
        place = problem.place or Place("")
        return files[place.path], place.line, place.column

    unique = {(str(problem), problem.place): problem for problem in problems}
    return sorted(unique.values(), key=key)


MAX_DEPTH = 64
LONGEST_NUMBER = 100
LARGEST_EXPONENT = 400

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

VAR = "var"


class Table(dict[str, Any]):
    """A mapping. `spot` is where it starts; `spots` says where keys and values stand.

    It has an entry for each key, in their order: line and column of the key, then of the value. It
    is empty where positions are not known (JSON).
    """

    __slots__ = ("spot", "spots")

    def __init__(self, spot: Spot = NOWHERE) -> None:
        self.spot = spot
        self.spots: list[tuple[int, int, int, int]] = []

    def at(self, key: str) -> Spot:
        """Return where the value of `key` stands; the mapping's start if there is no such key."""
        spot = self._entry(key)
        return spot[2:] if spot else self.spot

    def at_key(self, key: str) -> Spot:
        """Return where `key` itself stands."""
        spot = self._entry(key)
        return spot[:2] if spot else self.spot

    def _entry(self, key: str) -> tuple[int, int, int, int] | None:
        return self.spots[list(self).index(key)] if key in self and self.spots else None


class Items(list[Any]):
    """A list. `spot` is where it starts; `spots` has a position for each item."""

    __slots__ = ("spot", "spots")

    def __init__(self, spot: Spot = NOWHERE) -> None:
        self.spot = spot
        self.spots: list[Spot] = []

    def at(self, index: int) -> Spot:
        return self.spots[index] if index < len(self.spots) else self.spot


class WrittenFloat(float):
    """A decimal number that remembers how it was written, so that 0.1 is exactly 1/10."""

    __slots__ = ("text",)
    text: str

    @classmethod
    def of(cls, text: str) -> WrittenFloat:
        number = cls(text)
        number.text = text
        return number

    @property
    def exact(self) -> Fraction:
        return Fraction(self.text)


def plain_value(text: str) -> Any:
    """Return None, a bool, an int, a `WrittenFloat` decimal, or the text itself.

    Raises ValueError, its message a predicate, for numbers that cannot be used: NaN, infinity,
    absurd lengths and exponents.
    """
    if text in CONSTANTS:
        return CONSTANTS[text]
    return number_or_text(text) if text[0] in NUMBER_STARTS else text


class NotFiniteError(ValueError):
    """A number that is none: infinite, or not a number."""


def number_or_text(text: str) -> Any:
    """Return the number that the text spells, else the text; raises ValueError as `plain_value`."""
    number = yaml_data.number_or_text(text)
    if isinstance(number, str):
        return text
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"is a number of {len(text)} characters")
    return number if isinstance(number, int) else _decimal(text, number)


def _decimal(text: str, number: float) -> WrittenFloat:
    if text[-1].isalpha():
        raise NotFiniteError("is not a finite number")
    exponent = text.lower().partition("e")[2]
    if not math.isfinite(number) or abs(int(exponent or 0)) > LARGEST_EXPONENT:
        raise ValueError("is out of range")
    return WrittenFloat.of(text)


def exact_number(value: int | float) -> Fraction:
    """Return the exact value of a number that was read."""
    return value.exact if isinstance(value, WrittenFloat) else Fraction(str(value))


def plain(value: Any, variable: Callable[[Table], Any] | None = None) -> Any:
    """Return dicts, lists, texts, numbers, booleans and None; `variable` replaces `{var: name}`.

    Nesting is bounded by the reader's depth limit and alias budget.
    """
    if isinstance(value, Table):
        if variable and len(value) == 1 and isinstance(value.get(VAR), str):
            return variable(value)
        return {key: plain(item, variable) for key, item in value.items()}
    if isinstance(value, Items):
        return [plain(item, variable) for item in value]
    return float(value) if isinstance(value, WrittenFloat) else value


def lookup(
    variables: Mapping[str, Any], diagnostics: Diagnostics, rule_id: str
) -> Callable[[Table], Any]:
    """Return what finds the value for a `{var: name}`; an unknown name is a problem."""

    def find(node: Table) -> Any:
        name = node[VAR]
        if name not in variables:
            known = nearest(name, variables) if variables else "declare it under vars"
            diagnostics.refuse(f"there is no variable {quote(name)}", node.at(VAR), hint=known)
        return variables.get(name)

    return find


def is_variable_name(text: str) -> bool:
    """Return whether the text may name a variable; it becomes part of an environment variable."""
    return bool(_NAME.fullmatch(text))


def parse_variable(text: str) -> tuple[str, str]:
    """Return name and text of `NAME=VALUE` as given on a command line; raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not is_variable_name(name):
        raise UsageError(
            f"--var {quote(text)} is not of the form NAME=VALUE",
            hint="NAME is made of letters, digits and underscores",
        )
    return name, value


def settle_variables(declared: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the declared variables with the given ones in their places.

    A text given for a variable that is declared as something else is read as YAML reads a word,
    and must come out as the same kind. Raises UsageError, also for what is not declared.
    """
    settled = dict(declared)
    for name, value in given.items():
        if name not in declared:
            known = nearest(name, declared) if declared else "declare it under vars"
            raise UsageError(f"the criteria have no variable {quote(name)}", hint=known)
        settled[name] = _typed_variable(name, declared[name], value)
    return settled


def _typed_variable(name: str, declared: Any, value: Any) -> Any:
    if not isinstance(value, str) or isinstance(declared, str):
        return value
    try:
        typed = plain(plain_value(value))
    except ValueError as error:
        raise UsageError(f"the variable {name}: {value[:40]!r} {error}") from None
    numbers = type(typed) in (int, float) and type(declared) in (int, float)
    if declared is not None and not numbers and type(typed) is not type(declared):
        message = f"the variable {name} is declared as {declared!r}, so {value[:40]!r} does not fit"
        raise UsageError(message, hint="give a value of the same kind")
    return typed
