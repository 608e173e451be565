"""Mappings and lists that know where their keys, values and items stand in the file."""

from __future__ import annotations

from typing import Any

from pytest_reflex.criteria.faults import NOWHERE, Spot

MAX_DEPTH = 64


class Table(dict[str, Any]):
    """A mapping. `spot` is where it starts; `spots` says where keys and values stand.

    It has an entry for each key, in their order: line and column of the key, then of the value;
    or only the line, for a key in the column of the mapping with its value one blank behind the
    colon. It is empty where positions are not known (JSON).
    """

    __slots__ = ("spot", "spots")

    def __init__(self, spot: Spot = NOWHERE) -> None:
        self.spot = spot
        self.spots: list[int | tuple[int, int, int, int]] = []

    def at(self, key: str) -> Spot:
        """Return where the value of `key` stands; the mapping's start if there is no such key."""
        spot = self._entry(key)
        if isinstance(spot, int):
            return spot, self.spot[1] + len(key) + 2
        return spot[2:] if spot else self.spot

    def at_key(self, key: str) -> Spot:
        """Return where `key` itself stands."""
        spot = self._entry(key)
        if isinstance(spot, int):
            return spot, self.spot[1]
        return spot[:2] if spot else self.spot

    def _entry(self, key: str) -> int | tuple[int, int, int, int] | None:
        return self.spots[list(self).index(key)] if key in self and self.spots else None


class Items(list[Any]):
    """A list. `spot` is where it starts; `spots` has a position for each item."""

    __slots__ = ("spot", "spots")

    def __init__(self, spot: Spot = NOWHERE) -> None:
        self.spot = spot
        self.spots: list[Spot] = []

    def at(self, index: int) -> Spot:
        return self.spots[index] if index < len(self.spots) else self.spot
