"""What earlier code left behind is read, resumed to its end and replayed by today's code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.earlier.conftest import BringBack, Told
from tests.earlier.inputs import CODE, RIGHT
from tests.earlier.make import SESSION
from tests.earlier.projects import calls_after, versions_with, write_inputs

pytestmark = [
    pytest.mark.variants,
    pytest.mark.parametrize("earlier", versions_with("loop"), indirect=True),
]

CALLS_OF_LOOP = ["PLAN", "PRODUCE", "CRITIQUE", "REFINE"] * 2 + ["PLAN", "PRODUCE"]
ALIAS = "make-the-tests-pass"


def stable(told: Told, name: str = "run") -> list[dict[str, Any]]:
    """Return the events of a run as every run has them that went the same way."""
    lines = told("loop", "history", name, "--stable").splitlines()
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return events


def way(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events as all versions write them, without the first: it has the settings.

    They are without the agent's seconds, and without what only later versions say of a check.
    """
    return [{**one, "payload": _untimed(one["payload"])} for one in events[1:]]


_LATER = ("seconds", "findings", "more_findings", "pattern")
_WORDS = ("message", "details")
"""What a check says in words, which get better from version to version."""


_PLANS = {"Mend what": "Fix what", "See to": "Work on", "Hold the result": "Check the result"}
"""How steps of the offline agent's plans began, and how they begin now; the rest is compared."""


def _reworded(step: str) -> str:
    old = next((words for words in _PLANS if step.startswith(words)), "")
    return _PLANS.get(old, "") + step.removeprefix(old)


def _untimed(value: Any, left_out: tuple[str, ...] = _LATER) -> Any:
    if isinstance(value, dict):
        if "plan" in value:
            value = {**value, "plan": [_reworded(step) for step in value["plan"]]}
        return {
            key: _untimed(one, (*_LATER, *_WORDS) if key == "evaluation" else left_out)
            for key, one in value.items()
            if key not in left_out
        }
    return [_untimed(one, left_out) for one in value] if isinstance(value, list) else value


# The Reflex loop

LOOPS = {
    "loop-finished": ("completed", 3),
    "loop-killed-in-refine": ("running", 1),
    "loop-killed-after-iteration": ("running", 2),
    "loop-waiting": ("stopped", 1),
}


@pytest.mark.parametrize("name", LOOPS)
def test_an_earlier_loop_is_shown_and_verified(earlier: BringBack, told: Told, name: str) -> None:
    earlier(name)
    status, iteration = LOOPS[name]
    shown = json.loads(told("loop", "status", "run", "--json"))
    assert (shown["status"], shown["iteration"]) == (status, iteration)
    (listed,) = json.loads(told("loop", "list", "--json"))["loops"]
    assert (listed["alias"], listed["iteration"]) == ("run", iteration)
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["driver"], row["iteration"]) == ("loop", iteration)
    assert row["interrupted"] == (status == "running")
    assert "PLAN" in told("loop", "history", "run")
    if name != "loop-killed-after-iteration":  # its artifact was refined and not evaluated yet
        verified = told("loop", "verify", "run", status=int(name != "loop-finished"))
        assert "The recorded verdict holds" in verified


@pytest.mark.parametrize(
    ("name", "done"), [("loop-killed-in-refine", 3), ("loop-killed-after-iteration", 4)]
)
def test_an_earlier_loop_goes_on_to_the_end_of_an_unbroken_one(
    earlier: BringBack, told: Told, name: str, done: int
) -> None:
    earlier("loop-finished")
    unbroken = way(stable(told))
    project = earlier(name)
    told("loop", "resume", "run", "--quiet")
    assert way(stable(told)) == unbroken
    assert calls_after(project) == CALLS_OF_LOOP[done:]
    assert "The recorded verdict holds" in told("loop", "verify", "run")
    recording = [json.loads(line) for line in Path("calls.jsonl").read_text().splitlines()]
    assert [call["step"] for call in recording[1:]] == CALLS_OF_LOOP


def test_an_earlier_loop_at_its_limit_is_extended(earlier: BringBack, told: Told) -> None:
    project = earlier("loop-waiting")
    told("loop", "extend", "run", "--max-iterations", "4", "--quiet", "--yes")
    state = json.loads(told("loop", "status", "run", "--json"))
    assert (state["status"], state["iteration"]) == ("completed", 3)
    assert calls_after(project) == CALLS_OF_LOOP[2:]


@pytest.mark.parametrize("name", [*LOOPS])
def test_an_earlier_recording_is_replayed_to_equal_events(
    earlier: BringBack, told: Told, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = earlier(name)
    if LOOPS[name][0] == "running":
        told("loop", "resume", "run", "--quiet")
    original, asked = way(stable(told)), calls_after(project)
    recording, folder = project / "calls.jsonl", project.parent / "again"
    write_inputs("loop", folder)
    monkeypatch.chdir(folder)
    limit = ("--max-iterations", "1") if name == "loop-waiting" else ()
    replayed = ("--criteria", "words.yaml", "--yes", "--replay", str(recording), *limit)
    status = 6 if limit else 0
    told("loop", "new", "say it", "--alias", "run", "--quiet", *replayed, status=status)
    assert way(stable(told)) == original
    assert calls_after(project) == asked


# The loop over a session


def run_pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, env=dict(os.environ))


@pytest.mark.parametrize(("name", "status"), [("finished", "completed"), ("killed", "running")])
def test_an_earlier_loop_over_a_session_is_shown(
    earlier: BringBack, told: Told, name: str, status: str
) -> None:
    earlier(f"session-{name}")
    assert json.loads(told("loop", "status", ALIAS, "--json"))["status"] == status
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["driver"], row["interrupted"]) == ("pytest-loop", status == "running")
    assert told("loop", "history", ALIAS)
    assert ALIAS in told("loop", "list")


@pytest.mark.long
@pytest.mark.parametrize("name", ["finished", "killed"])
def test_an_earlier_loop_over_a_session_is_resumed_and_replayed(
    earlier: BringBack, told: Told, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier("session-finished")
    unbroken = way(stable(told, ALIAS))
    project = earlier(f"session-{name}")
    if name == "killed":
        done = run_pytest(*SESSION[:-2], "--reflex-resume", "--reflex-accept-changes")
        assert done.returncode == 0, done.stdout + done.stderr
        assert way(stable(told, ALIAS)) == unbroken
    assert (project / "sums.py").read_text() == RIGHT
    original = way(stable(told, ALIAS))
    recording, folder = project / "calls.jsonl", project.parent / "again"
    write_inputs("session", folder)
    played = f'agent = "played"\n[agents.played]\nkind = "replay"\nrecording = "{recording}"\n'
    (folder / "pytest-reflex.toml").write_text(played)
    monkeypatch.chdir(folder)
    before = calls_after(project)
    assert (folder / "sums.py").read_text() == CODE
    done = run_pytest(*SESSION)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "sums.py").read_text() == RIGHT
    assert way(stable(told, ALIAS)) == original
    assert calls_after(project) == before


# The iteration loop

ITERATES = {
    "iterate-killed": ("running", 2, ["3", "4"]),
    "iterate-interrupted": ("interrupted", 2, ["3", "4"]),
    "iterate-aborted": ("aborted", 3, ["4"]),
}


@pytest.mark.parametrize("name", ITERATES)
def test_an_earlier_iteration_loop_is_shown(earlier: BringBack, told: Told, name: str) -> None:
    earlier(name)
    status, iteration, _ = ITERATES[name]
    shown = json.loads(told("iterate", "status", "build", "--json"))
    assert (shown["iteration"], shown["procedure_name"]) == (iteration, "build")
    assert "build" in told("iterate", "list")
    assert "build" in told("iterate", "info", "build")
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["driver"], row["iteration"]) == ("iterate", iteration)
    assert row["interrupted"] == (status == "running")
    (run,) = json.loads(told("iterate", "history", "build", "--json"))["runs"]
    assert run["iterations"] == iteration


@pytest.mark.parametrize("name", ITERATES)
def test_an_earlier_iteration_loop_is_resumed_to_its_end(
    earlier: BringBack, told: Told, name: str
) -> None:
    project = earlier(name)
    again = ("--reset-failures",) if name == "iterate-aborted" else ()
    told("iterate", "resume", "build", *again)
    assert calls_after(project) == ITERATES[name][2]
    assert not (project / ".rooda/state/build.json").exists()
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["status"], row["iteration"], row["interrupted"]) == ("completed", 4, False)


def test_an_earlier_iteration_loop_that_ended_is_in_the_lists(
    earlier: BringBack, told: Told
) -> None:
    earlier("iterate-finished")
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["status"], row["iteration"]) == ("completed", 4)
    run = json.loads(told("iterate", "history", "build", "--run", "last", "--json"))
    assert [one["outcome"] for one in run["iterations"]] == [
        "success", "failure", "success", "success"
    ]  # fmt: skip
    told("iterate", "resume", "build", status=4)
