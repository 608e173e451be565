"""Where runs of procedures stand: by state file, lock and log, without a write."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.drivers.iterate.logfile import LogFile, log_path
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.state import dump, state_file, state_path
from pytest_reflex.drivers.iterate.status import (
    describe_status,
    procedures_with_state,
    status_of,
)
from pytest_reflex.reports.runs import plain_lines, table
from tests.drivers.iterate.tape import state


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / ".rooda"


def saved(root: Path, found: State) -> Path:
    path = state_path(root, found.procedure_name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(found))
    return path


def logged(root: Path, message: str, *, at: str = "2026-02-06T10:00:00Z") -> Path:
    file = LogFile(log_path(root, "build", at), pytest.fail)
    file.append(json.dumps({"event": "ended", "message": message}))
    file.close()
    return file.path


def test_a_running_state_whose_owner_is_gone_is_told_as_interrupted(root: Path) -> None:
    saved(root, state(60, 70, status=Status.RUNNING))
    found = status_of(root, "build")
    assert (found.shown_status, found.interrupted) == ("running (interrupted)", True)
    assert found.next_step == "pytest-reflex iterate resume build"


def test_a_running_state_with_an_owner_is_running(root: Path) -> None:
    with state_file(root, "build", pytest.fail) as file:
        file.save(state(60, status=Status.RUNNING))
        found = status_of(root, "build")
    assert (found.shown_status, found.driven, found.next_step) == ("running", True, "")


@pytest.mark.parametrize(
    ("status", "shown", "next_step"),
    [
        (Status.INTERRUPTED, "interrupted", "pytest-reflex iterate resume build"),
        (Status.ABORTED, "aborted", "pytest-reflex iterate resume build --reset-failures"),
        (Status.COMPLETED, "completed", ""),
    ],
)
def test_each_status_has_its_next_step(
    root: Path, status: Status, shown: str, next_step: str
) -> None:
    saved(root, state(60, status=status))
    found = status_of(root, "build")
    assert (found.shown_status, found.next_step) == (shown, next_step)


def test_one_procedure_is_told_in_full(root: Path) -> None:
    ended = replace(
        state(60, 70, failures=1, status=Status.INTERRUPTED),
        last_iteration_at="2026-02-06T10:02:10Z",
    )
    saved(root, ended)
    log = logged(root, "Interrupted. State saved.")
    assert describe_status(status_of(root, "build")).splitlines() == [
        "Procedure: build (interrupted)",
        "Iteration: 2/10",
        "Failures: 1/3 in a row",
        "Started: 2026-02-06T10:00:00Z",
        "Time: 2m10s (min 1m0s, max 1m10s, mean 1m5s, stddev 5.0s)",
        f"Log: {log}",
        "Last line: Interrupted. State saved.",
        "Continue with: pytest-reflex iterate resume build",
    ]


def test_of_a_run_that_is_complete_the_log_tells_the_end(root: Path) -> None:
    logged(root, "an earlier one", at="2026-02-05T10:00:00Z")
    with logged(root, "Reached max iterations: 3 (total: 2m16s)").open("a") as torn:
        torn.write('{"event": "st')
    assert describe_status(status_of(root, "build")).splitlines() == [
        "Procedure: build (no run is under way)",
        f"Log: {root}/log/build/20260206T100000Z.jsonl",
        "Last line: Reached max iterations: 3 (total: 2m16s)",
    ]


def test_a_state_that_cannot_be_read_is_told_and_stays(root: Path) -> None:
    path = saved(root, state(60))
    path.write_text("{torn")
    found = status_of(root, "build")
    assert (found.status, found.to_json()["problem"]) == ("damaged", found.problem)
    assert "holds no state of an iteration loop" in describe_status(found)
    assert path.read_text() == "{torn"


def test_all_procedures_with_a_state_are_told_and_nothing_else(root: Path) -> None:
    left = state(60, 70, status=Status.INTERRUPTED)
    saved(root, replace(left, last_iteration_at="2026-02-06T10:02:10Z"))
    aborted = state(1, total=0, failures=2, status=Status.ABORTED)
    saved(root, replace(aborted, procedure_name="audit"))
    for name in ("Build.json", "build.json.corrupt-1", "build.lock", "-x.json"):
        (root / "state" / name).write_text("{}")
    names = procedures_with_state(root)
    rows = [status_of(root, name).row().to_json() for name in names]
    at = "2026-02-06T10:00:00Z"
    assert [line.split("\t") for line in plain_lines(rows).splitlines()] == [
        ["iterate", "audit", "aborted", at, "0.0s", "1", "", "", "2 failures in a row"],
        ["iterate", "build", "interrupted", at, "2m10s", "2/10", "", "", ""],
    ]
    assert len(table(rows, 80).splitlines()) == 4


def test_where_nothing_ran_there_is_nothing(root: Path) -> None:
    assert procedures_with_state(root) == []
    assert status_of(root, "build").to_json() == {
        "procedure_name": "build", "status": "none", "interrupted": False, "driven": False,
    }  # fmt: skip


def test_looking_writes_nothing(root: Path) -> None:
    saved(root, state(60, status=Status.RUNNING))
    before = sorted(root.rglob("*"))
    status_of(root, "build")
    assert sorted(root.rglob("*")) == before


def test_numbers_of_a_state_are_there_for_programs(root: Path) -> None:
    saved(root, state(60, 70, status=Status.INTERRUPTED))
    found = status_of(root, "build").to_json()
    assert (found["iteration"], found["max_iterations"], found["seconds"]) == (2, 10, 130.0)
    assert found["statistics"]["stddev"] == 5.0
