"""What gates relied on when a run began, as the state file keeps it while the run lasts.

A run whose process was killed has no other witness: on a resume its files are compared with this.
Limits: who rewrites the state file rewrites this, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from pytest_reflex.drivers.common.protection import Relied, Start
from pytest_reflex.drivers.iterate.model import Gate
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStart:
    """A gate as it was `declared` (a hash), with what it `relied` on and how that was found."""

    declared: str
    relied: Relied
    start: Start = field(default_factory=Start)

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: a file is a hash, or that and the sections that count."""
        relied, start = self.relied, self.start
        wire = {
            "declared": self.declared,
            "files": {path: [*sections] for path, sections in relied.files.items()},
            "programs": sorted(relied.programs),
            "patterns": {pattern: [*sections] for pattern, sections in relied.patterns.items()},
            "named": {name: [*sections] for name, sections in relied.named.items()},
            "module_folders": sorted(relied.module_folders),
            "modules": {folder: sorted(names) for folder, names in start.modules.items() if names},
            "found": dict(sorted(start.found.items())),
        }
        return {key: value for key, value in wire.items() if value}


def starts_from_json(wire: Any, key: str) -> dict[str, GateStart]:
    """Read what gates began with, by their names; raises ValueError for what is none."""
    return {name: _from_json(_object(one, key), key) for name, one in _object(wire, key).items()}


def _from_json(wire: Mapping[str, Any], key: str) -> GateStart:
    def table(name: str) -> dict[str, tuple[str, ...]]:
        found = _object(wire.get(name, {}), key)
        return {path: tuple(_texts(sections, key)) for path, sections in found.items()}

    declared = wire.get("declared")
    prints = _object(wire.get("found", {}), key)
    if not isinstance(declared, str) or not all(isinstance(one, str) for one in prints.values()):
        raise ValueError(f"{key} does not say what a gate or its files were")
    relied = Relied(
        files=table("files"),
        programs=frozenset(_texts(wire.get("programs", []), key)),
        patterns=table("patterns"),
        named=table("named"),
        module_folders=frozenset(_texts(wire.get("module_folders", []), key)),
    )
    modules = {folder: frozenset(names) for folder, names in table("modules").items()}
    return GateStart(declared=declared, relied=relied, start=Start(found=prints, modules=modules))


def declaration(gate: Gate) -> str:
    """Return a hash of all that is said of what passes a gate; how failures count is not a part."""
    said = (f"{one.name}={getattr(gate, one.name)!r}" for one in fields(gate))
    kept = (text for text in said if not text.startswith(("progress=", "failures=")))
    text = f"Gate({', '.join(kept)})"  # as it was when all fields of a gate were such
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def refuse_other_gates(
    began: Mapping[str, GateStart], now: Mapping[str, str], procedure: str
) -> None:
    """Raise UsageError where gates are declared otherwise than when a killed run began."""
    if not began:
        return
    names = [name for name in {**began, **now} if now.get(name) != _declared(began, name)]
    if names:
        raise UsageError(
            f"the run of {procedure} was killed, and since it began these gates were changed, "
            f"added or removed: {_listed(names)}",
            hint="put their configuration back, or begin anew: "
            f"pytest-reflex iterate run {procedure} --fresh",
        )


def _declared(began: Mapping[str, GateStart], name: str) -> str | None:
    return began[name].declared if name in began else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"iterate.gates.{one_line(name)}" for name in names)


def _object(wire: Any, key: str) -> dict[str, Any]:
    if not isinstance(wire, dict):
        raise ValueError(f"{key} has {one_line(repr(wire), 80)}, not an object")
    return wire


def _texts(wire: Any, key: str) -> list[str]:
    if not isinstance(wire, list) or not all(isinstance(one, str) for one in wire):
        raise ValueError(f"{key} has {one_line(repr(wire), 80)}, not a list of texts")
    return wire
