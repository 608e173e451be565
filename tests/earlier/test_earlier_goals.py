"""Goals that earlier code left are shown, verified and worked on to their end; hooks count on."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.earlier.conftest import BringBack, Told
from tests.earlier.inputs import PAYLOAD
from tests.earlier.projects import calls_after, git, versions_with

pytestmark = [
    pytest.mark.variants,
    pytest.mark.parametrize("earlier", versions_with("goal"), indirect=True),
]

STATE = Path(".loop/state.json")
STEPS = ["add-alpha", "add-beta"]
# How a goal was left, which steps are still to be done, and what goes on with it is told.
GOALS: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "goal-killed": ("running", STEPS[1:], ()),
    "goal-interrupted": ("interrupted", STEPS[1:], ()),
    "goal-at-its-limit": ("stopped", STEPS[1:], ("--max-iterations", "+5")),
    "goal-with-open-breaker": ("stopped", STEPS, ()),
    "goal-held-twice": ("running", STEPS[1:], ()),
}


def state() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(STATE.read_text("utf-8"))
    return found


def proven(project: Path) -> tuple[Any, ...]:
    """Return what a goal came to: its criteria with their evidence, its steps and its files."""
    found = state()
    keys = ("status", "criteriaStatus", "completedSteps", "remainingSteps", "exit_signal")
    texts = [(project / name).read_text() for name in ("notes.txt", "search.md")]
    return (*(found[key] for key in keys), *texts)


@pytest.mark.parametrize("name", ["goal-finished", *GOALS])
def test_an_earlier_goal_is_shown_and_verified(earlier: BringBack, told: Told, name: str) -> None:
    project = earlier(name)
    status = GOALS[name][0] if name in GOALS else "completed"
    before = STATE.read_bytes()
    assert json.loads(told("goal", "status", "--json"))["status"] == status
    assert told("goal", "status").startswith("Goal:      goal-1\n")
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["driver"], row["name"]) == ("goal", "goal-1")
    # What a person approved is run, and nothing else.
    notes = (project / "notes.txt").read_text()
    met = [f"exit status {int(word not in notes)}" for word in ("alpha", "beta")]
    checked = told("goal", "check", "--json", status=int(name != "goal-finished"))
    found = json.loads(checked)["criteria"]
    assert [one["evidence"] for text, one in found.items() if "grep" in text] == met
    shutil.rmtree(project.parent / "user-state")
    unknown = json.loads(told("goal", "check", "--json", status=5))["criteria"]
    assert all(
        "it is not approved" in one["evidence"] for text, one in unknown.items() if "grep" in text
    )
    assert STATE.read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize("name", GOALS)
def test_an_earlier_goal_is_worked_on_to_its_end(earlier: BringBack, told: Told, name: str) -> None:
    unbroken = proven(earlier("goal-finished"))
    project = earlier(name)
    _, steps, more = GOALS[name]
    told("goal", "continue", *more)
    assert calls_after(project) == steps
    assert proven(project) == unbroken
    lines = (project / ".loop/iterations.jsonl").read_text().splitlines()
    numbers = [json.loads(line)["iteration"] for line in lines]
    assert numbers == list(range(1, len(numbers) + 1))
    checkpoints = git(project, "for-each-ref", "--format=%(refname:short)", "refs/pytest-reflex")
    assert len(checkpoints.split()) == len(numbers)


def test_an_earlier_entry_of_the_hook_is_taken_out(earlier: BringBack, told: Told) -> None:
    project = earlier("goal-with-hook-installed")
    settings = project / ".claude/settings.json"
    shown = json.dumps(json.loads(told("hook", "status", "--json")))
    assert "pytest-reflex hook stop --timeout 60" in shown
    told("hook", "install", "--undo")
    assert not settings.exists()  # there was none before


@pytest.mark.long
@pytest.mark.parametrize("lost", ["nothing", "what the state file has", "what the person has"])
def test_an_earlier_hook_goes_on_counting(
    earlier: BringBack, told: Told, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    project = earlier("goal-held-twice")

    def stop(payload: str = PAYLOAD) -> dict[str, Any]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(payload.encode())))
        found: dict[str, Any] = json.loads(told("hook", "stop"))
        return found

    if lost == "what the state file has":  # an agent may write it anew
        STATE.write_text(json.dumps({**state(), "hook": {}}))
    else:
        assert "7f2c" in told("hook", "status")
        assert stop(PAYLOAD.replace("7f2c", "0000")) == {}
    if lost == "what the person has":
        shutil.rmtree(project.parent / "user-state/pytest-reflex/hook")
    assert "(held 3 of at most 8 times)" in stop()["reason"]
    assert state()["hook"]["blocks"] == 3
    if lost == "nothing":
        told("goal", "continue")
        assert calls_after(project) == STEPS[1:]
        assert stop() == {}
        told("hook", "release")
        assert "hook" not in state()
