"""The driver of the iteration loop, with a scripted agent and a clock turned by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain, count, repeat
from pathlib import Path

import pytest

from pytest_reflex.drivers.iterate.model import Bounds, IterationGate, Status
from pytest_reflex.drivers.iterate.state import state_file
from pytest_reflex.errors import ExitCode, LockedError, UsageError
from pytest_reflex.model.steps import Question, Reply
from tests.drivers.iterate.stage import AT, BAD, GOOD, LIMIT, NO, YES, Script, Stage


def stage(root: Path, *acts: object, **more: object) -> Stage:
    return Stage(root, Script(acts), **more)  # type: ignore[arg-type]


def test_each_round_asks_once_and_is_counted(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=3))
    assert on.run() is ExitCode.OK
    assert [question.prompt for question in on.script.asked] == [
        "do it 1/3",
        "do it 2/3",
        "do it 3/3",
    ]
    assert on.told() == [
        "Iteration 1/3 starting...",
        "Iteration 1/3 completed in 1.0s",
        "Iteration 2/3 starting...",
        "Iteration 2/3 completed in 1.0s",
        "Iteration 3/3 starting...",
        "Iteration 3/3 completed in 1.0s",
        "Reached max iterations: 3 (total: 3.0s)",
    ]


def test_a_completed_run_leaves_no_state(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=1))
    on.run()
    assert on.saved() is None


def test_the_state_is_durable_before_a_round_is_told(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, BAD, GOOD, bounds=Bounds(max_iterations=3))
    seen: list[tuple[int, int, int]] = []

    class Lines(list[str]):
        def append(self, line: str) -> None:
            if "completed in" in line and (state := on.saved()):
                seen.append((state.iteration, state.consecutive_failures, len(state.elapsed)))

    on.lines = Lines()
    on.run()
    assert seen == [(1, 0, 1), (2, 1, 2), (3, 0, 3)]


def test_the_state_is_there_while_the_first_round_runs(tmp_path: Path) -> None:
    def look(question: Question) -> Reply:
        state = on.saved()
        assert state is not None
        assert (state.status, state.iteration) == (Status.RUNNING, 0)
        return GOOD

    on = stage(tmp_path, look, bounds=Bounds(max_iterations=1))
    assert on.run() is ExitCode.OK


def test_three_failures_in_a_row_abort(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, BAD, bounds=Bounds(max_iterations=10))
    assert on.run() is ExitCode.ABORTED
    state = on.saved()
    assert state is not None
    assert (state.status, state.iteration, state.consecutive_failures) == (Status.ABORTED, 4, 3)
    assert on.told()[-2:] == [
        "WARNING: AI CLI failed (exit 1), consecutive failures: 3/3",
        "ERROR: Aborting after 3 consecutive failures (4 iterations completed, total: 4.0s)",
    ]


def test_one_success_starts_the_count_anew(tmp_path: Path) -> None:
    on = stage(tmp_path, BAD, BAD, GOOD, BAD, BAD, bounds=Bounds(max_iterations=5))
    assert on.run() is ExitCode.ITERATION_LIMIT
    assert "consecutive failures: 2/3" in on.told()[-3]


def test_a_failing_required_gate_reaches_the_threshold(tmp_path: Path) -> None:
    gates = [IterationGate(name="tests", command="exit 1")]
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=9), gates=gates)
    assert on.run() is ExitCode.ABORTED
    assert len(on.script.asked) == 3
    assert on.told()[-2] == (
        "WARNING: Quality gates failed: tests\n    | tests: exit status 1\n"
        "    | consecutive failures: 3/3"
    )


def test_a_gate_that_is_not_required_is_told_and_counts_nothing(tmp_path: Path) -> None:
    gates = [IterationGate(name="lint", command="exit 1", required=False)]
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=4), gates=gates)
    assert on.run() is ExitCode.OK


def test_gates_are_not_run_behind_a_failed_answer(tmp_path: Path) -> None:
    gates = [IterationGate(name="tests", command="touch ran")]
    on = stage(tmp_path, BAD, bounds=Bounds(max_iterations=1), gates=gates)
    on.run()
    assert not (tmp_path / "ran").exists()


def test_a_success_signal_ends_the_loop_where_the_gates_pass(tmp_path: Path) -> None:
    gates = [IterationGate(name="tests", command="test -e fixed || { touch fixed; exit 1; }")]
    on = stage(tmp_path, YES, bounds=Bounds(max_iterations=9), gates=gates)
    assert on.run() is ExitCode.OK
    assert len(on.script.asked) == 2
    assert on.told()[-1].startswith("Success signal in iteration 2")
    assert on.saved() is None


def test_a_success_signal_that_was_not_offered_ends_nothing(tmp_path: Path) -> None:
    on = stage(tmp_path, YES, bounds=Bounds(max_iterations=4), success=False)
    assert on.run() is ExitCode.OK
    assert len(on.script.asked) == 4
    warning = "WARNING: The success signal ends nothing: the procedure does not say success = true"
    assert on.told().count(warning) == 4


def test_a_failure_signal_is_a_failure(tmp_path: Path) -> None:
    on = stage(tmp_path, NO, bounds=Bounds(max_iterations=4))
    assert on.run() is ExitCode.ABORTED
    assert any("said FAILURE" in line for line in on.told())


def test_b084_limit_notices_end_an_endless_run(tmp_path: Path) -> None:
    on = stage(tmp_path, LIMIT, bounds=Bounds(max_iterations=0))
    assert on.run() is ExitCode.PHASE_ERROR
    assert len(on.script.asked) == 1


def test_wall_time_ends_a_sitting_that_can_be_resumed(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=0, wall_time=10.0))
    on.script.seconds = 4.0
    assert on.run() is ExitCode.BUDGET_EXCEEDED
    state = on.saved()
    assert state is not None
    assert (state.status, state.iteration) == (Status.INTERRUPTED, 3)
    again = on.with_answers(GOOD)
    assert again.run(state) is ExitCode.BUDGET_EXCEEDED
    assert again.script.asked


def test_b074_rounds_that_change_nothing_end_an_endless_run(tmp_path: Path) -> None:
    bounds = Bounds(max_iterations=0, unchanged=10, stop_unchanged=True)
    on = stage(tmp_path, GOOD, bounds=bounds, trees=repeat("same"))
    assert on.run() is ExitCode.STAGNATION
    assert len(on.script.asked) == 10
    assert on.saved() is not None


def test_rounds_that_change_nothing_are_told_and_go_on_otherwise(tmp_path: Path) -> None:
    bounds = Bounds(max_iterations=7, unchanged=3)
    on = stage(tmp_path, GOOD, bounds=bounds, trees=repeat("same"))
    assert on.run() is ExitCode.OK
    told = [line for line in on.told() if "unchanged iterations" in line]
    assert [line[-3:] for line in told] == ["3/3", "6/3"]


def test_b080_a_change_counts_as_progress(tmp_path: Path) -> None:
    bounds = Bounds(max_iterations=9, unchanged=2, stop_unchanged=True)
    on = stage(tmp_path, GOOD, bounds=bounds, trees=map(str, count()))
    assert on.run() is ExitCode.OK
    trees = chain(["a", "a", "a", "b"], repeat("b"))
    assert stage(tmp_path, GOOD, bounds=bounds, trees=trees).run() is ExitCode.STAGNATION


def test_a_tree_that_nobody_can_tell_is_not_unchanged(tmp_path: Path) -> None:
    bounds = Bounds(max_iterations=5, unchanged=2, stop_unchanged=True)
    on = stage(tmp_path, GOOD, bounds=bounds, trees=repeat(None))
    assert on.run() is ExitCode.OK


def test_a_prompt_over_the_token_budget_is_warned_of_and_sent(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=1), budget=5)
    assert on.run() is ExitCode.OK
    assert "WARNING: Prompt exceeds token budget: 9 > 5" in on.told()


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), UsageError("a fragment is gone")])
def test_an_interrupted_round_is_not_counted_and_run_again(
    tmp_path: Path, fault: BaseException
) -> None:
    on = stage(tmp_path, GOOD, fault, bounds=Bounds(max_iterations=3))
    with pytest.raises(type(fault)):
        on.run()
    state = on.saved()
    assert state is not None
    assert (state.status, state.iteration, len(state.elapsed)) == (Status.INTERRUPTED, 1, 1)
    assert on.told()[-1].startswith("Interrupted. State saved.") is isinstance(fault, Exception)
    again = on.with_answers(GOOD)
    assert again.run(state) is ExitCode.OK
    assert [question.prompt for question in again.script.asked] == ["do it 2/3", "do it 3/3"]


def test_ctrl_c_between_iterations_leaves_the_state_of_the_last_one(tmp_path: Path) -> None:
    class Lines(list[str]):
        def append(self, line: str) -> None:
            super().append(line)
            if "Iteration 2/9 completed" in line:
                raise KeyboardInterrupt

    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=9))
    on.lines = Lines()
    with pytest.raises(KeyboardInterrupt):
        on.run()
    state = on.saved()
    assert state is not None
    assert (state.status, state.iteration) == (Status.INTERRUPTED, 2)


def test_a_run_that_was_killed_before_its_end_was_told_ends_at_once(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, KeyboardInterrupt(), bounds=Bounds(max_iterations=2))
    with pytest.raises(KeyboardInterrupt):
        on.run()
    state = on.saved()
    assert state is not None
    again = on.with_answers(GOOD)
    again.bounds = Bounds(max_iterations=1)
    assert again.run(state) is ExitCode.OK
    assert again.script.asked == []
    assert on.saved() is None


def test_a_tool_is_told_which_round_it_is(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=2, wall_time=60.0))
    on.run()
    told = [question.environment["PYTEST_REFLEX_ITERATION"] for question in on.script.asked]
    assert told == ["1", "2"]
    assert [question.seconds_left for question in on.script.asked] == [60.0, 59.0]


def broken_disk(root: Path) -> Callable[[Question], Reply]:
    """Return a tool after which no state can be written."""

    def act(question: Question) -> Reply:
        path = root / "state/build.json"
        if path.is_file():
            path.unlink()
        path.mkdir(exist_ok=True)
        return GOOD

    return act


def test_disk_full_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    on = stage(tmp_path, broken_disk(tmp_path), bounds=Bounds(max_iterations=3))
    assert on.run() is ExitCode.NOT_PERSISTED
    assert len(on.script.asked) == 3
    # The first time as soon as the call is paid, then at the end of each iteration.
    assert sum("state could not be saved" in line for line in on.told()) == 4


def test_a_disk_that_has_room_again_leaves_a_good_state(tmp_path: Path) -> None:
    def mended(question: Question) -> Reply:
        (tmp_path / "state/build.json").rmdir()
        return GOOD

    acts = (broken_disk(tmp_path), mended)
    on = stage(tmp_path, *acts, bounds=Bounds(max_iterations=2))
    assert on.run() is ExitCode.OK


def test_an_interruption_that_could_not_be_saved_says_so(tmp_path: Path) -> None:
    def act(question: Question) -> Reply:
        broken_disk(tmp_path)(question)
        raise KeyboardInterrupt

    on = stage(tmp_path, act)
    with pytest.raises(KeyboardInterrupt):
        on.run()
    assert on.loop is not None
    on.loop.report_interrupt()
    assert on.told()[-1] == "Interrupted. The state could NOT be saved"


def test_the_seeds_counter_starts_at_0_and_is_shown_from_1(tmp_path: Path) -> None:
    on = stage(tmp_path, GOOD, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        on.run()
    state = on.saved()
    assert state is not None
    assert (state.iteration, state.last_iteration_at) == (1, AT)
    assert on.told()[-1] == "Iteration 2/5 starting..."


def test_a_run_whose_state_had_no_place_to_its_end_says_so(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file of the user's")
    on = stage(tmp_path, GOOD, bounds=Bounds(max_iterations=2))
    assert on.run() is ExitCode.NOT_PERSISTED
    assert len(on.script.asked) == 2
    assert (tmp_path / "state").read_text() == "a file of the user's"


def test_who_finds_another_owner_behind_its_tool_stops(tmp_path: Path) -> None:
    others = ExitStack()

    def robbed(question: Question) -> Reply:
        shutil.rmtree(tmp_path / "state")
        others.enter_context(state_file(tmp_path, "build", print))
        return GOOD

    on = stage(tmp_path, robbed, gates=[IterationGate(name="never", command="touch judged")])
    with others, pytest.raises(LockedError, match="another process is running build"):
        on.run()
    assert len(on.script.asked) == 1
    assert not (tmp_path / "judged").exists()
    assert on.saved() is None
