"""A project with a configuration of its own, for tests of procedures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_reflex.drivers.iterate.model import Fragment, Phase, Procedure

FOUR = """\
observe = [{content = "look"}]
orient = [{content = "think"}]
decide = [{content = "choose"}]
act = [{content = "do"}]
"""


def write(project: Path, text: str, name: str = "pytest-reflex.toml") -> Path:
    """Write a file of the project and return its path."""
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def four(**changed: tuple[Fragment, ...]) -> Mapping[Phase, tuple[Fragment, ...]]:
    """Return four phases of one word each, some of them changed."""
    words = {"observe": "look", "orient": "think", "decide": "choose", "act": "do"}
    return {phase: changed.get(phase, (Fragment(content=words[phase]),)) for phase in Phase}


def procedure(**changed: tuple[Fragment, ...]) -> Procedure:
    """Return a procedure with those phases."""
    return Procedure(name="mine", description="", phases=four(**changed))
