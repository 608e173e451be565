"""Flows that earlier code left are shown, and resumed to the commits of an unbroken run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.earlier.conftest import BringBack, Told
from tests.earlier.projects import calls_after, git, versions_with

pytestmark = [
    pytest.mark.variants,
    pytest.mark.parametrize("earlier", versions_with("flow"), indirect=True),
]

BRANCH = "ai-loop/close-all-points"
_ITERATION = ["decide:outer", "decide:outer/inner", "act:outer/inner", "decide:outer/inner"]
CALLS = [*_ITERATION, "decide:outer"]
# How a run was left: its status, whether nobody drives it although it says so, how many of the
# calls were answered, and what a resume is told.
FLOWS: dict[str, tuple[str, bool, int, tuple[str, ...]]] = {
    "flow-killed-in-act": ("running", True, 2, ()),
    "flow-killed-before-commit": ("running", True, 3, ()),
    "flow-killed-behind-commit": ("running", True, 3, ()),
    "flow-beside-unsaved": ("running", True, 2, ()),
    "flow-out-of-budget": ("stopped", False, 2, ("--budget", "calls=+20")),
    "flow-without-git": ("running", True, 2, ()),
}


def commits(project: Path) -> list[str]:
    """Return what the commits of the run say and change, but for what they cost."""
    form = "--format=%s%n%(trailers:key=Reflex-Boundary,key=Reflex-Setpoint)%b"
    told = git(project, "log", "--reverse", "--name-status", form, f"main..{BRANCH}").decode()
    return [line for line in told.splitlines() if not line.startswith("Reflex-Spent")]


def run_id(told: Told) -> str:
    (row,) = json.loads(told("flow", "list", "--json"))["runs"]
    return str(row["name"])


@pytest.mark.parametrize("name", ["flow-finished", *FLOWS])
def test_an_earlier_flow_is_shown(earlier: BringBack, told: Told, name: str) -> None:
    project = earlier(name)
    status, interrupted, *_ = FLOWS.get(name, ("completed", False))
    before = git(project, "status", "--porcelain", "--untracked-files=all")
    (row,) = json.loads(told("runs", "--json"))["runs"]
    assert (row["driver"], row["interrupted"]) == ("flow", interrupted)
    run = run_id(told)
    assert row["name"] == run
    assert json.loads(told("flow", "status", run, "--json"))["status"] == status
    assert "close all points" in told("flow", "status", run)
    assert "Close OPEN 1" in told("flow", "show", run)
    assert told("flow", "check").endswith("The flow can be run.\n")
    assert git(project, "status", "--porcelain", "--untracked-files=all") == before


@pytest.mark.long
@pytest.mark.parametrize("name", FLOWS)
def test_an_earlier_flow_is_resumed_to_its_end(earlier: BringBack, told: Told, name: str) -> None:
    unbroken = commits(earlier("flow-finished"))
    project = earlier(name)
    *_, done, more = FLOWS[name]
    told("flow", "resume", *more)
    assert calls_after(project) == CALLS[done:]
    assert (project / "note.txt").read_text() == "DONE 1\n"
    assert json.loads(told("flow", "status", run_id(told), "--json"))["status"] == "completed"
    if name == "flow-without-git":
        (log,) = project.glob(".ai-loop/runs/*/commits.log")
        said = [line for line in log.read_text().splitlines() if line.startswith("ai-loop[")]
        assert said == [line for line in unbroken if line.startswith("ai-loop[")]
    else:
        assert commits(project) == unbroken
        unsaved = b"?? mine.txt\n" if name == "flow-beside-unsaved" else b""
        assert git(project, "status", "--porcelain", "--untracked-files=all") == unsaved
