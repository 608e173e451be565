"""Faults to plant into documents, each of the kind that one rule of a stock template names.

An operator adds a fault, or takes away what its rule asks for. Where what it touches may have had
faults of its own, or may do good elsewhere, `spares` are the rules that have to pass before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Plant = Callable[[str], Iterator[str]]
"""Returns a text with the fault, in each way and at each place that there is for it."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to plant a fault of a rule, but into files with names like `unless`."""

    rule: str
    what: str
    plant: Plant
    spares: frozenset[str] = frozenset()
    unless: str = ""


def changed(pattern: str, new: str) -> Plant:
    """Return a plant that replaces each single match."""

    def plant(text: str) -> Iterator[str]:
        for found in re.finditer(pattern, text, re.MULTILINE):
            yield text[: found.start()] + found.expand(new) + text[found.end() :]

    return plant


def appended(*ends: str) -> Plant:
    return lambda text: (f"{text.rstrip()}\n\n\n{end}\n" for end in ends)


def cut(text: str) -> Iterator[str]:
    """Yield JSON that ends too early."""
    if text.lstrip().startswith("{"):
        for part in (4, 3, 2):
            yield text.rstrip()[: len(text.rstrip()) * (part - 1) // part or 1]
        yield text.rstrip()[:-1]
