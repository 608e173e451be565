"""The published schemas are true of what an iteration loop writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.contracts.validate import problems, schema
from pytest_reflex.drivers.iterate.commits import IterationCommit
from pytest_reflex.drivers.iterate.decide import ENDINGS
from pytest_reflex.drivers.iterate.logfile import Verbosity
from pytest_reflex.drivers.iterate.model import (
    Bounds,
    FailureCause,
    GateResult,
    Iteration,
    IterationGate,
    Status,
)
from pytest_reflex.drivers.iterate.progress import last_of
from pytest_reflex.drivers.iterate.state import dump, load
from pytest_reflex.model.run import Spend
from tests.drivers.iterate.tape import Tape, state

SEED_STATE = {
    "iteration": 3,
    "max_iterations": 10,
    "consecutive_failures": 0,
    "failure_threshold": 3,
    "started_at": "2026-02-06T10:00:00Z",
    "last_iteration_at": "2026-02-06T10:05:32Z",
    "status": "interrupted",
    "procedure_name": "build",
    "elapsed_per_iteration": ["45.2s", "38.7s", "52.1s"],
}


def everything() -> list[dict[str, Any]]:
    """Return a line of each kind."""
    tape = Tape(as_json=True, volume=Verbosity.VERBOSE)
    tape.log.report_start(Bounds(max_iterations=0))
    tape.log.report_resume(state(1, 2), Bounds(max_iterations=0))
    tape.round(1, 0, 2.0)
    gate = IterationGate(name="lint", command="lint")
    for outcome in ("pass", "fail", "error"):
        result = GateResult(gate=gate, outcome=outcome, summary="s", seconds=1, output="o")
        tape.log.report_gate(1, result)
    for cause in FailureCause:
        ended = Iteration(
            number=2, seconds=1, cause=cause, detail="d", usd=0.5, tokens=7, changed=True
        )
        tape.log.report_iteration(ended, 0, failures=1, threshold=3)
    ended = Iteration(
        number=3,
        seconds=1,
        gates=(result,),
        failing=("lint",),
        progress="lint has 1 failure, before 2",
        files=("a.py",),
        cost={"calls": 1, "seconds": 1.0, "usd": 0.5, "tokens": 7},
    )
    tape.log.report_iteration(ended, 0, failures=1, threshold=3)
    tape.log.report_answer(3, "did it", 6)
    tape.log.report_spend(ended, replace(state(1, 2), spend=Spend().plus(ended.cost)))
    tape.log.report_commit(3, IterationCommit(commit="abc1234", files=("a.py",), problems=("no",)))
    tape.log.partial(2, path=Path("log/x.iteration-2.partial-1"))
    tape.log.partial(2, problem="the disk is full")
    tape.log.report_unchanged(3, 10)
    for tell in (tape.log.info, tape.log.warning, tape.log.error):
        tell("text")
    tape.log.feedback({"a1": "do less"})
    for ending in ENDINGS:
        tape.log.report_end(ending, state(1, 2, status=Status.INTERRUPTED))
    return tape.documents


def test_every_line_of_a_log_is_as_its_schema_says() -> None:
    lines = everything()
    assert [found for line in lines for found in problems("iteration-log", line)] == []
    kinds = set(schema("iteration-log")["properties"]["event"]["enum"])
    assert {line["event"] for line in lines} == kinds


def test_the_state_of_the_seed_is_as_its_schema_says() -> None:
    assert problems("iteration-state", SEED_STATE) == []
    assert load(json.dumps(SEED_STATE).encode(), "build").iteration == 3


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.PAUSED])
def test_every_state_that_is_written_is_as_its_schema_says(status: Status) -> None:
    for made in (state(status=status), state(1, 2, status=status)):
        full = replace(
            made,
            outcome="limit",
            options={"agent": "claude"},
            others={"x": 1},
            log_name="20260206T100000Z-2",
            last=last_of(Iteration(number=1, seconds=1, answer="did it")),
            failing=("lint",),
            known_failures={"lint": {"pytest 1": 2}},
        )
        assert problems("iteration-state", json.loads(dump(made))) == []
        assert problems("iteration-state", json.loads(dump(full))) == []


@pytest.mark.parametrize(
    ("key", "value"), [("status", "done"), ("iteration", -1), ("failure_threshold", 0)]
)
def test_a_state_that_no_run_has_is_none(key: str, value: Any) -> None:
    assert problems("iteration-state", SEED_STATE | {key: value})
