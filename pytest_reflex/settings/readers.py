"""What a value of a setting must be: each reader returns it in its final type, or says what it is.

A reader raises ValueError with what was expected, for example "a whole number >= 1".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

from pytest_reflex.errors import UsageError, did_you_mean

DEEPEST = 30
STEPS = ("plan", "produce", "prepare", "critique", "refine")
ROLES = ("sensor", "controller", "actuator", "cheap")
MOST = 10**12  # what a state file may hold as well
BUDGET_KEYS = ("seconds", "usd", "tokens", "calls")
_BARE = "usd"  # what a number without a key is

_AMOUNT = re.compile(r"(?P<key>[^=]*)=(?P<plus>\+?)(?P<number>\d{1,15}(?:\.\d{1,9})?)", re.ASCII)


class MisreadError(ValueError):
    """A part of a value is wrong: that at `path`, which is `value`, should be what is said."""

    def __init__(self, path: tuple[Any, ...], value: Any, expected: str) -> None:
        self.path, self.value = path, value
        super().__init__(expected)


def whole(value: Any, least: int = 0) -> int:
    """Read a whole number up to `MOST`; a text is none (B064): see `from_text`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"a whole number >= {least}{_quotes_hint(value)}")
    if value > MOST:
        raise ValueError(f"a whole number from {least} to {MOST}")
    return value


def positive(value: Any) -> int:
    """Read a whole number >= 1."""
    return whole(value, 1)


def depth(value: Any) -> int:
    """Read how deep nodes of a flow may lie; deeper than `DEEPEST` no YAML is read."""
    if whole(value, 1) > DEEPEST:
        raise ValueError(f"a whole number from 1 to {DEEPEST}")
    return int(value)


def text(value: Any) -> str:
    """Read a string that says something."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("a non-empty string")
    return value


def flag(value: Any) -> bool:
    """Read true or false; a text is none of them: see `from_text`."""
    if not isinstance(value, bool):
        raise ValueError(f"true or false{_quotes_hint(value)}")
    return value


def from_text(read: Callable[[Any], Any], value: str) -> Any:
    """Read what an option or a variable says: numbers and truth are spelled there.

    A whole number is in ASCII decimal digits: `08` is 8, `0x5` and `1e3` are refused.
    """
    spelled = _SPELLED.get(read)
    return read(spelled(value) if spelled else value)


def _decimal(value: str) -> int:
    digits = value.strip()
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError("a whole number in decimal digits")
    kept = digits.lstrip("0")
    return int(kept or "0") if len(kept) <= len(str(MOST)) else MOST + 1


def _truth(value: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if value.lower() not in words:
        raise ValueError("true or false")
    return words[value.lower()]


_SPELLED: Mapping[Callable[[Any], Any], Callable[[str], Any]] = {
    whole: _decimal,
    positive: _decimal,
    depth: _decimal,
    flag: _truth,
}


def _quotes_hint(value: Any) -> str:
    return ", without quotes" if isinstance(value, str) else ""


def one_of(*words: str) -> Callable[[Any], str]:
    """Return a reader of one of some words."""

    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(" or ".join(f'"{word}"' for word in words))
        return str(value)

    return read


def names(value: Any) -> tuple[str, ...]:
    """Read a list of names; in one string they are separated by commas."""
    found = value.split(",") if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(n, str) and n for n in found):
        raise ValueError("a list of names")
    return tuple(found)


def globs(value: Any) -> tuple[str, ...]:
    """Read a list of globs of paths in the project; in one string they are separated by commas."""
    found = names(value)
    if any(one.startswith("/") or ".." in one.split("/") for one in found):
        raise ValueError("a list of globs of paths in the project")
    return found


def tables(value: Any) -> dict[str, Any]:
    """Read a table of tables."""
    table = _table(value)
    for name, inner in table.items():
        if not isinstance(inner, dict):
            raise ValueError(f"a table for {name!r}")
    return table


def by_step(value: Any) -> dict[str, str]:
    """Read a table with a string for some of the steps."""
    return _texts_of(value, STEPS, "a step")


def by_role(value: Any) -> dict[str, str]:
    """Read a table with a string for some of the roles in a flow."""
    return _texts_of(value, ROLES, "a role")


def _texts_of(value: Any, words: tuple[str, ...], what: str) -> dict[str, str]:
    table = _table(value)
    for word, named in table.items():
        if word not in words:
            raise ValueError(f"{what} ({', '.join(words)}), not {word!r}")
        text(named)
    return table


def budget(value: Any) -> dict[str, float]:
    """Read a budget: positive numbers under seconds, usd, tokens, calls."""
    table = _table(value)
    for key, amount in table.items():
        if key not in BUDGET_KEYS:
            raise ValueError(f"one of the keys {', '.join(BUDGET_KEYS)}, not {key!r}")
        number = isinstance(amount, (int, float)) and not isinstance(amount, bool)
        if not number or not 0 < amount < float("inf"):
            raise ValueError(f"a positive number for {key!r}")
    return table


def budget_changes(
    pairs: Iterable[str], now: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the limits that values of ``--budget`` give: KEY=N sets one, KEY=+N adds to `now`.

    A value may have several, with commas between them; a number alone is one of usd. Only what is
    named is returned. Raises UsageError for another key, for what is not a positive
    decimal number (an unreadable limit never means none), and for +N where there is no limit.
    """
    changed: dict[str, float] = {}
    for pair in map(_with_key, chain.from_iterable(given.split(",") for given in pairs)):
        key = pair.partition("=")[0]
        if key not in BUDGET_KEYS:
            raise UsageError(f"--budget {pair}: no such key", hint=did_you_mean(key, BUDGET_KEYS))
        match = _AMOUNT.fullmatch(pair)
        amount = _number(match["number"]) if match else 0
        if match is None or amount <= 0:
            raise UsageError(
                f"--budget {pair}: expected a positive number in plain decimals",
                hint=f"for example {key}=1000 or {key}=2.5",
            )
        if key in changed:
            raise UsageError(f"--budget {pair}: {key} is given twice", hint="give each key once")
        if match["plus"]:
            limits = now or {}
            if key not in limits:
                hint = f"give one: {key}={match['number']}"
                raise UsageError(f"--budget {pair}: there is no limit to add to", hint=hint)
            amount += limits[key]
        changed[key] = amount
    return changed


def _with_key(pair: str) -> str:
    pair = pair.strip()
    is_bare = pair.startswith(tuple("+.0123456789")) and "=" not in pair
    return f"{_BARE}={pair}" if is_bare else pair


def _number(digits: str) -> float:
    return float(digits) if "." in digits else int(digits)


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a table")
    return value
