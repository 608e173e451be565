"""How messages show what a user wrote, and what may have been meant."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_reflex.errors import did_you_mean, nearest_word, suggest

_LONGEST_SHOWN = 60
_MOST_SHOWN = 12


def quoted(text: str) -> str:
    """Return a text of the user's in quotes, on one line, cut where it is long."""
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: the nearest known one, all where they are few, or none."""
    words = tuple(known)
    if 0 < len(words) <= _MOST_SHOWN:
        return did_you_mean(shortened(word), words)
    return suggest(nearest_word(shortened(word), words))


def shortened(word: str) -> str:
    """Return the start of a word, which is enough to find what is near it."""
    return word[:_LONGEST_SHOWN]
