"""The values in force as rows, each with where it came from: what `config` and `doctor` print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_reflex.errors import UsageError, did_you_mean
from pytest_reflex.settings.resolve import Origin, Settings
from pytest_reflex.settings.table import SETTINGS


@dataclass(frozen=True, slots=True)
class Row:
    """A value, by its dotted key; of a table every key that is in it is a row."""

    key: str
    value: Any
    origin: Origin

    def to_json(self) -> dict[str, Any]:
        """Return the row on the wire; `file` is null where the tier is not a file."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        file = str(self.origin.file) if self.origin.file else None
        return {"key": self.key, "value": value, "tier": self.origin.tier.value, "file": file}


def rows(settings: Settings) -> list[Row]:
    """Return all values in force, in the order of the declaration."""
    return [row for one in SETTINGS for row in _rows(settings, one.key, settings[one.key])]


def rows_of(settings: Settings, key: str) -> list[Row]:
    """Return the rows of a key: one value, or all below a table; raises UsageError for another."""
    every = rows(settings)
    found = [row for row in every if row.key == key or row.key.startswith(f"{key}.")]
    if not found:
        known = [*(one.key for one in SETTINGS), *(row.key for row in every)]
        raise UsageError(
            f"there is no setting {key!r}", hint=did_you_mean(key, dict.fromkeys(known))
        )
    return found


def _rows(settings: Settings, key: str, value: Any) -> Iterator[Row]:
    deeper = isinstance(value, dict) and value and f"{key}.{next(iter(value))}" in settings.origins
    if deeper:
        for name, inner in value.items():
            yield from _rows(settings, f"{key}.{name}", inner)
    else:
        yield Row(key, value, settings.origins[key])
