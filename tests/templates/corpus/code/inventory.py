"""Keeps count of what is on the shelves."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path

LOG = logging.getLogger(__name__)


class UnknownItemError(KeyError):
    """There is no such item on the shelves."""


@dataclass
class Inventory:
    """Items and how many of each there are."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, item: str, number: int = 1) -> int:
        """Put items on the shelf and return how many there are now."""
        if number < 1:
            raise ValueError(f"a number above 0 is needed, not {number}")
        self.counts[item] = self.counts.get(item, 0) + number
        LOG.info("added %d of %s", number, item)
        return self.counts[item]

    def take(self, item: str) -> int:
        """Take one item and return how many are left."""
        try:
            left = self.counts[item] - 1
        except KeyError as error:
            raise UnknownItemError(item) from error
        self.counts[item] = left
        return left


def load(path: Path) -> Inventory:
    """Read an inventory from a JSON file."""
    counts = json.loads(path.read_text("utf-8"))
    if not isinstance(counts, dict):
        raise ValueError(f"{path} holds no table")
    return Inventory({str(name): int(count) for name, count in counts.items()})
