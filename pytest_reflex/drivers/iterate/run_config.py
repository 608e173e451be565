"""What the iterations of a run are made of, as a driver is given it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.iterate.commits import Commits
from pytest_reflex.drivers.iterate.gates import Gates
from pytest_reflex.drivers.iterate.model import Bounds, Procedure
from pytest_reflex.model.steps import Askable


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """What the iterations of a run are made of.

    `prompt` returns that of an iteration by its number, the limit (0: none), what people said of
    the work and what the last iteration did (as `progress` has it), `tokens` their count;
    `fingerprint` that of the working tree, None where this is unknown, and `seen` the files as that
    saw them. `folder` is passed to tools and gates: by that a resume finds what was left running.
    `commits` has git keep what each iteration changed.
    """

    procedure: Procedure
    bounds: Bounds
    agent: Askable
    prompt: Callable[[int, int, Sequence[str], Mapping[str, Any]], str]
    tokens: Callable[[str], int]
    token_budget: int
    gates: Gates
    fingerprint: Callable[[], str | None]
    folder: Path
    seen: Callable[[], Mapping[bytes, bytes] | None] = lambda: None
    commits: Commits | None = None


def other_limits(bounds: Bounds) -> list[str]:
    """Return the names of the limits that hold whatever a tool reports."""
    holding = {
        "max_iterations": bounds.max_iterations,
        "wall_time": bounds.wall_time,
        "unchanged": bounds.unchanged if bounds.stop_unchanged else 0,
    }
    return [name for name, value in holding.items() if value]
