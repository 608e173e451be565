"""One iteration of a loop goes through few modules: what one has to read to understand it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.api import run_loop
from pytest_reflex.drivers.common import control
from tests.walk import CRITERIA, DRAFT

MOST_MODULES = 90
MOST_MOVES = 1_500
MOST_OF_A_RULE = 20
MOST_OF_AN_EVALUATION = 50


def walked(*options: str) -> dict[str, Any]:
    """Return modules and moves of a walk in a process of its own."""
    run = [sys.executable, "-m", "tests.walk", "--json", *options]
    found: dict[str, Any] = json.loads(
        subprocess.run(run, check=True, capture_output=True, text=True).stdout
    )
    return found


@pytest.mark.long
def test_an_offline_iteration_goes_through_few_modules() -> None:
    """In a process of its own, where nothing was imported before; `python -m tests.walk` tells."""
    found = walked()
    moves = {module: count for module, count in found["moves"].items() if count > 20}
    assert len(found["modules"]) <= MOST_MODULES, found["modules"]
    assert sum(found["moves"].values()) <= MOST_MOVES, moves


def test_a_rule_goes_through_few_modules_on_its_way_to_an_item() -> None:
    """From YAML to what is run; `python -m tests.walk --rule` tells."""
    found = walked("--rule")
    assert len(found["modules"]) <= MOST_OF_A_RULE, found["modules"]


@pytest.mark.long
def test_an_evaluation_goes_through_few_modules() -> None:
    """From the arguments of `evaluate` to the verdict; `python -m tests.walk --evaluate` tells."""
    found = walked("--evaluate")
    assert len(found["modules"]) <= MOST_OF_AN_EVALUATION, found["modules"]


def test_a_tick_reads_what_people_ask_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """current.json is read once a tick; to change it, it is read again under its lock."""
    opened: list[str] = []
    real = os.open

    def counted(path: str | Path, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_ACCMODE == os.O_RDONLY:
            opened.append(Path(path).name)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", counted)
    # Beside a step that takes long it is read each second: not here, however slow the machine is.
    monkeypatch.setattr(control, "POLL", 3600.0)
    (tmp_path / "note.yaml").write_text(CRITERIA)
    (tmp_path / "note.md").write_text(DRAFT)
    given: dict[str, Any] = {"criteria": tmp_path / "note.yaml", "draft": tmp_path / "note.md"}
    reads: dict[str, int] = {}
    for event in run_loop("A note", project=tmp_path, **given):
        if word := event.fields.get("event"):
            reads.setdefault(word, opened.count("current.json"))
            opened.clear()
    steps = {"plan_created", "artifact_created", "evaluation_done", "critique_done"}
    assert {kind: reads[kind] for kind in steps} == dict.fromkeys(steps, 1)
    assert max(reads.values()) <= 3, reads
