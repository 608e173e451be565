"""A tool that was not allowed what it tried ends the run before it is paid again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from pytest_reflex.drivers.iterate.model import Bounds, IterationGate, Status
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Reply
from tests.drivers.iterate.stage import GOOD, NO, YES, Script, Stage

pytestmark = pytest.mark.variants

WHAT = "tool was not allowed: Write, notes.md (what it may do: edit_options in agents.tool)"


def denied(reply: Reply, **more: object) -> Reply:
    return replace(reply, details={**reply.details, "denied": WHAT, **more}, tokens=7)


def stage(
    tmp_path: Path, *acts: Reply, changes: bool, gates: tuple[IterationGate, ...] = ()
) -> Stage:
    trees: Iterator[str | None] = map(str, count()) if changes else iter(lambda: "same", None)
    bounds = Bounds(max_iterations=4)
    return Stage(tmp_path, Script(acts), bounds=bounds, trees=trees, gates=gates)


FAILING = (IterationGate(name="never", command="false"),)
NOTHING_DONE: dict[str, tuple[Reply, bool, tuple[IterationGate, ...]]] = {
    "the answer is good, and nothing was changed": (denied(GOOD), False, ()),
    "it promised success, and nothing was changed": (denied(YES), False, ()),
    "it promised failure": (denied(NO), True, ()),
    "it answered nothing": (denied(Reply(text="", agent="tool"), silent=True), False, ()),
    "a gate failed": (denied(GOOD), True, FAILING),
}


@pytest.mark.parametrize("case", NOTHING_DONE)
def test_a_denied_iteration_that_came_to_nothing_is_not_counted_and_ends_the_run(
    tmp_path: Path, case: str
) -> None:
    reply, changes, gates = NOTHING_DONE[case]
    played = stage(tmp_path, reply, changes=changes, gates=gates)
    assert played.run() is ExitCode.PHASE_ERROR
    assert len(played.script.asked) == 1
    state = played.saved()
    assert state is not None
    assert (state.status, state.iteration, state.consecutive_failures) == (
        Status.INTERRUPTED, 0, 0,
    )  # fmt: skip
    assert (state.spend.calls, state.spend.tokens) == (1, 7)
    assert played.told()[-1] == (
        f"ERROR: Stopped, since {WHAT} (0 iterations completed, total: 1.0s). "
        "Resume with: pytest-reflex iterate resume build"
    )


def test_what_was_changed_all_the_same_counts_and_the_run_ends_behind_it(tmp_path: Path) -> None:
    played = stage(tmp_path, denied(GOOD), changes=True)
    assert played.run() is ExitCode.PHASE_ERROR
    state = played.saved()
    assert state is not None
    assert (state.status, state.iteration) == (Status.INTERRUPTED, 1)
    assert len(played.script.asked) == 1


@pytest.mark.parametrize("limit", [1, 4])
def test_a_run_that_is_done_is_not_stopped_by_what_was_denied(tmp_path: Path, limit: int) -> None:
    played = stage(tmp_path, denied(YES if limit > 1 else GOOD), changes=True)
    played.bounds = Bounds(max_iterations=limit)
    assert played.run() is ExitCode.OK
    assert played.saved() is None


def test_a_resume_does_the_denied_iteration_again(tmp_path: Path) -> None:
    played = stage(tmp_path, denied(GOOD), changes=False)
    played.run()
    state = played.saved()
    assert state is not None
    allowed = replace(played.with_answers(YES), trees=map(str, count()))
    assert allowed.run(replace(state, status=Status.RUNNING)) is ExitCode.OK
    assert "Iteration 1/4" in allowed.told()[0]
