"""Criteria with where each rule was said: the file that declares it, and those that lay over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.criteria.layers import Layer
from pytest_reflex.criteria.load import Reading, collector_off
from pytest_reflex.criteria.templates import find_template
from pytest_reflex.errors import Place
from pytest_reflex.model.rules import Criteria

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


@dataclass(frozen=True, slots=True)
class Saying:
    """One file's word on a rule: where it stands, and which keys of the rule it gives."""

    place: Place
    keys: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.place.path,
            "line": self.place.line,
            "column": self.place.column,
            "keys": list(self.keys),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """Criteria as they were read, with what each file said; `path` is the file that was named."""

    criteria: Criteria
    layer: Layer
    path: Path
    files: tuple[Path, ...]

    def sayings(self, rule_id: str) -> tuple[Saying, ...]:
        """Return what was said about a rule: its declaration first, then what overrides it."""
        draft = self.layer.drafts[rule_id]
        return tuple(
            Saying(part.faults.place(part.table.spot), tuple(k for k in part.table if k != "id"))
            for part in draft.parts()
        )


def trace(
    ref: str | Path,
    *,
    registry: Registry,
    variables: Mapping[str, Any] | None = None,
    relative_to: Path | None = None,
) -> Traced:
    """Read criteria as `load_criteria` does, and keep where everything was said."""
    reading = Reading(registry, variables or {})
    path = find_template(ref, relative_to=relative_to)
    with collector_off():
        table, faults = reading.document(path)
        layer = reading.layer(path, table, faults)
        criteria = reading.criteria(layer, path)
    files = tuple(dict.fromkeys(reading.files))
    return Traced(criteria=criteria, layer=layer, path=path, files=files)
