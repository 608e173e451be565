"""Every row of the loop's decision: what comes next, and every stop condition in its order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_reflex.drivers.common.drive import find_exhausted
from pytest_reflex.drivers.reflex.decide import Action, decide
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import Limits
from pytest_reflex.model.stop import StopReason
from tests.drivers.reflex.histories import History
from tests.verdict.sets import criteria, rule

A_MUST, A_SHOULD, B_MUST, B_SHOULD = "a.x.must", "a.x.should", "b.x.must", "b.x.should"

STEPS: dict[str, tuple[Callable[[History], History], str]] = {
    "a new run plans": (lambda h: h, "PLAN"),
    "then the pair": (lambda h: h.planned(), "PRODUCE_PREPARE"),
    "PREPARE was quicker": (lambda h: h.planned().prepared(), "PRODUCE"),
    "PRODUCE was quicker": (lambda h: h.planned().produced(), "PREPARE"),
    "both are there": (lambda h: h.planned().produced().prepared(), "EVALUATE"),
    "it failed": (lambda h: h.round(A_MUST), "CRITIQUE"),
    "an artifact changed by hand is judged again": (
        lambda h: h.round(A_MUST).produced("2", by="hand"),
        "EVALUATE",
    ),
    "after the switch the checks of B are prepared": (lambda h: h.round().switched(), "PREPARE"),
    "then B judges the same artifact": (lambda h: h.round().switched().prepared(), "EVALUATE"),
    "a next iteration plans": (lambda h: h.round(A_MUST).refined("2").advanced(), "PLAN"),
    "one phase error is retried": (lambda h: h.failed("PLAN"), "PLAN"),
}


@pytest.mark.parametrize(("write", "step"), STEPS.values(), ids=STEPS.keys())
def test_next_step(write: Callable[[History], History], step: str) -> None:
    decision = decide(write(History()).state)
    assert (decision.act, decision.step) == (Action.STEP, step)


def test_an_iteration_advances_after_refine_only() -> None:
    assert decide(History().round(A_MUST).refined("2").state).act is Action.ADVANCE


def test_passed_at_a_switches_to_b() -> None:
    assert decide(History().round().state).act is Action.SWITCH


def test_passed_at_a_switches_even_at_the_iteration_limit() -> None:
    history = History(limits=Limits(max_iterations=1)).round()
    assert decide(history.state).act is Action.SWITCH


STOPS: dict[str, tuple[Callable[[], History], StopReason]] = {
    "B passed": (
        lambda: History().round().switched().prepared().evaluated(),
        StopReason.THRESHOLD_REACHED,
    ),
    "A passed and there is no B": (
        lambda: History(criteria(rule(A_MUST))).round(),
        StopReason.THRESHOLD_REACHED,
    ),
    "only warnings at B": (
        lambda: History().round().switched().prepared().evaluated(A_SHOULD),
        StopReason.NO_MAJOR_ISSUES,
    ),
    "the last iteration failed": (
        lambda: History(limits=Limits(max_iterations=1)).round(A_MUST),
        StopReason.ITERATION_LIMIT,
    ),
    "a step failed twice": (
        lambda: History().failed("PLAN").failed("PLAN"),
        StopReason.PHASE_ERROR,
    ),
    "the same blocker three times": (
        lambda: _rounds(History(), *"123"),
        StopReason.STAGNATION,
    ),
    "an earlier artifact came back": (
        lambda: _rounds(History(limits=Limits(blocker_stagnation=0)), *"121"),
        StopReason.STAGNATION,
    ),
}


def _rounds(history: History, *shas: str) -> History:
    for n, sha in enumerate(shas):
        history.round(A_MUST, sha=sha)
        if n < len(shas) - 1:
            history.refined(sha).advanced()
    return history


@pytest.mark.parametrize(("write", "reason"), STOPS.values(), ids=STOPS.keys())
def test_stop_condition(write: Callable[[], History], reason: StopReason) -> None:
    assert decide(write().state).reason is reason


def test_stagnation_without_blockers_counts_small_rises() -> None:
    limits = Limits(no_major_issues="never", oscillation=False, max_iterations=9)
    history = History(criteria(rule("b.x.must"), rule("b.x.should", "warn")), limits)
    for sha in "12":
        history.round(B_SHOULD, sha=sha).refined(sha).advanced()
    assert decide(history.round(B_SHOULD, sha="3").state).reason is StopReason.STAGNATION


def test_one_small_rise_is_no_stagnation_yet() -> None:
    limits = Limits(no_major_issues="never", oscillation=False, max_iterations=9)
    history = History(criteria(rule("b.x.must"), rule("b.x.should", "warn")), limits)
    history.round(B_SHOULD, sha="1").refined("2").advanced().round(B_SHOULD, sha="2")
    assert history.state.stagnation_count == 1
    assert decide(history.state).step is Step.CRITIQUE


def test_no_major_issues_never_goes_on() -> None:
    limits = Limits(no_major_issues="never")
    history = History(limits=limits).round().switched().prepared().evaluated(A_SHOULD)
    assert decide(history.state).act is Action.STEP


def test_no_major_issues_does_not_end_phase_a() -> None:
    history = History(criteria(rule(A_MUST), rule(A_SHOULD, "warn", 9))).round(A_SHOULD)
    assert decide(history.state).act is Action.STEP


def test_b072_valid_but_not_done_eight_times_is_the_iteration_limit() -> None:
    limits = Limits(max_iterations=8, blocker_stagnation=0)
    history = _rounds(History(limits=limits), *"12345678")
    decision = decide(history.state)
    assert (decision.reason, history.state.iteration) == (StopReason.ITERATION_LIMIT, 8)


def test_a_person_s_stop_comes_before_everything() -> None:
    history = History().round().switched().prepared().evaluated()
    decision = decide(history.state, stop_requested="enough")
    assert (decision.reason, decision.detail) == (StopReason.USER_STOP, "enough")


def test_a_broken_seal_comes_before_a_person_s_stop() -> None:
    decision = decide(History().state, stop_requested="enough", tampering="x.yaml was changed")
    assert (decision.reason, decision.detail) == (StopReason.TAMPERED, "x.yaml was changed")


def test_a_budget_used_up_stops_before_the_next_step() -> None:
    history = History(limits=Limits(budget={"calls": 1}))
    cost = {"calls": 1, "seconds": 2.0, "usd": None, "tokens": None}
    history.events[0].payload["cost"] = cost  # type: ignore[index]
    state = history.planned().state
    assert find_exhausted(state.limits.budget, state.spend) == ""
    history.events[-1].payload["cost"] = cost  # type: ignore[index]
    assert decide(history.state).reason is StopReason.BUDGET_EXCEEDED
    state = history.state
    assert find_exhausted(state.limits.budget, state.spend) == "calls: 1 of 1 used"


@pytest.mark.parametrize(("elapsed", "detail"), [(0.0, None), (59.6, None), (60.0, "60 s of 60 s")])
def test_a_sitting_ends_when_its_time_is_spent(elapsed: float, detail: str | None) -> None:
    state = History(limits=Limits(wall_time=60)).state
    decision = decide(state, elapsed=elapsed)
    reason = StopReason.BUDGET_EXCEEDED if detail else None
    assert (decision.reason, decision.act is Action.STOP) == (reason, detail is not None)
    assert decision.detail == (f"wall time: {detail} since start or resume" if detail else "")
    assert decide(History(limits=Limits(wall_time=1)).state).act is Action.STEP
    assert decide(History(limits=Limits(wall_time=0)).state, elapsed=9e9).act is Action.STEP


def test_a_run_that_ended_has_nothing_to_do() -> None:
    from pytest_reflex.model.events import EventKind

    history = History().round().add(EventKind.STOPPED, {"reason": "user_stop", "passed": False})
    assert decide(history.state).act is Action.NOTHING


def test_the_errors_of_one_step_do_not_count_for_another() -> None:
    state = History().planned().failed("PRODUCE").failed("PREPARE").state
    assert decide(state).act is Action.STEP


def test_a_success_clears_the_errors_of_its_step_only() -> None:
    state = History().planned().failed("PRODUCE").prepared().state
    assert state.errors == {"PRODUCE": ("not JSON",)}


UNJUDGED: dict[str, Callable[[], History]] = {
    "produced, and no checks yet": lambda: History().planned().produced(),
    "refined": lambda: History().round(A_MUST).refined("2"),
    "refined, before the next plan": lambda: History().round(A_MUST).refined("2").advanced(),
    "produced anew": lambda: (
        History().round(A_MUST).refined("2").advanced().planned().produced("3")
    ),
    "changed by hand": lambda: History().round(A_MUST).produced("2", by="hand"),
}
SPENT = Limits(budget={"calls": 0})


@pytest.mark.parametrize("write", UNJUDGED.values(), ids=UNJUDGED.keys())
def test_an_artifact_that_nothing_judged_is_judged_before_a_stop(
    write: Callable[[], History],
) -> None:
    state = write().state
    failed = replace(state, errors={"PLAN": ("no JSON", "no JSON")})
    spent = replace(state, limits=SPENT)
    for due in (decide(state, stop_requested=""), decide(failed), decide(spent)):
        assert (due.act, due.step) == (Action.STEP, Step.EVALUATE)
    assert decide(state, tampering="x.yaml was changed").reason is StopReason.TAMPERED


JUDGED: dict[str, Callable[[], History]] = {
    "there is none": lambda: History().planned(),
    "it is judged": lambda: History().round(A_MUST),
    "REFINE changed nothing": lambda: History().round(A_MUST).refined("1"),
    "it was judged last": lambda: History().round(A_MUST).refined("2").evaluated(A_MUST, sha="2"),
    "it is judged at A": lambda: History().round().switched(),
    "EVALUATE failed": lambda: History().planned().produced().failed("EVALUATE"),
}


@pytest.mark.parametrize("write", JUDGED.values(), ids=JUDGED.keys())
def test_a_stop_comes_at_once_where_nothing_is_left_to_judge(write: Callable[[], History]) -> None:
    assert decide(write().state, stop_requested="").reason is StopReason.USER_STOP


def test_an_artifact_that_something_changes_for_ever_does_not_keep_a_run_from_its_stop() -> None:
    history = History().planned()
    for number in "12345":
        history.produced(number, by="hand").evaluated(A_MUST, sha=number)
    state = history.produced("6", by="hand").state
    assert decide(state, stop_requested="").reason is StopReason.USER_STOP


@pytest.mark.parametrize("judged", [4, 5, 6])
def test_an_artifact_that_something_changes_for_ever_is_judged_five_times(judged: int) -> None:
    history = History(limits=LIMITS).planned().prepared()
    for number in range(judged):
        history.produced(str(number), by="hand").evaluated(A_MUST, sha=str(number))
    assert decide(history.state).step is Step.CRITIQUE, "the evaluation stands"
    decision = decide(history.produced("9", by="hand").state)
    if judged < 5:
        assert (decision.act, decision.step) == (Action.STEP, Step.EVALUATE)
    else:
        assert decision.reason is StopReason.STAGNATION
        assert decision.detail == "artifact.md was changed from outside 5 times in one iteration"


def test_what_was_judged_before_its_stop_is_critiqued_when_the_run_goes_on() -> None:
    history = History().round(A_MUST).refined("2").advanced().evaluated(A_MUST, sha="2")
    assert decide(history.state).step is Step.CRITIQUE
    assert decide(history.refined("3").state).act is Action.ADVANCE


def test_what_was_judged_without_its_checks_gets_them_and_is_judged_again() -> None:
    history = History().planned().produced().evaluated(A_MUST)
    assert decide(history.state).step is Step.PREPARE
    assert decide(history.prepared().state).step is Step.EVALUATE


def test_a_step_that_failed_twice_does_not_matter_to_an_artifact_that_passes() -> None:
    history = History(criteria(rule(A_MUST))).round(A_MUST).refined("2").advanced()
    history.failed("PLAN").failed("PLAN").evaluated(sha="2")
    assert decide(history.state).reason is StopReason.THRESHOLD_REACHED
    assert decide(history.state, stop_requested="").reason is StopReason.USER_STOP


# Each condition alone decides: a fault in it would let something else through.


def test_a_step_that_failed_twice_stops_a_run_whose_first_phase_passes() -> None:
    history = History().round(A_MUST).refined("2").advanced()
    history.failed("PLAN").failed("PLAN").evaluated(sha="2")
    assert decide(history.state).reason is StopReason.PHASE_ERROR


def test_a_step_that_failed_twice_comes_before_a_request_to_stop() -> None:
    state = History().failed("PLAN").failed("PLAN").state
    assert decide(state, stop_requested="enough").reason is StopReason.PHASE_ERROR
    assert decide(History().state, stop_requested="enough").reason is StopReason.USER_STOP


def test_a_step_that_failed_twice_stops_a_run_that_is_critiqued_already() -> None:
    history = History(criteria(rule(A_MUST))).round()
    history.add(EventKind.CRITIQUE_DONE, {"issues": []}, Step.CRITIQUE)
    assert decide(history.failed("REFINE").failed("REFINE").state).reason is StopReason.PHASE_ERROR


def unsound(history: History) -> History:
    payload = history.events[-1].payload["evaluation"]
    payload |= {"unsound": "the artifact changed", "passed": False}
    return history


def test_warnings_of_an_evaluation_that_is_not_sound_complete_nothing() -> None:
    history = History().round().switched().prepared().evaluated(A_SHOULD)
    assert decide(history.state).reason is StopReason.NO_MAJOR_ISSUES
    assert decide(unsound(history).state).act is Action.STEP


def test_a_blocker_at_b_keeps_warnings_from_completing_a_run() -> None:
    history = History().round().switched().prepared().evaluated(A_SHOULD, B_MUST)
    assert decide(history.state).step is Step.CRITIQUE


def test_how_often_an_artifact_was_judged_counts_for_one_phase_of_one_iteration() -> None:
    history = History(criteria(rule(A_MUST), rule(B_MUST)), LIMITS).planned()
    for number in "1234":
        history.produced(number, by="hand").prepared().evaluated(A_MUST, sha=number)
    history.produced("5", by="hand").prepared().evaluated(sha="5").switched().prepared()
    assert decide(history.state).step is Step.EVALUATE  # five times at A, and not at B
    history.evaluated(B_MUST, sha="5").refined("6").advanced().planned().produced("6").prepared()
    assert decide(history.state).step is Step.EVALUATE


LIMITS = Limits(blocker_stagnation=0, oscillation=False)


# What was found on the disk is verified before it counts.

CLAIMS: dict[str, Callable[[], History]] = {
    "B passed": lambda: History().round().switched().prepared().evaluated(),
    "A passed": lambda: History().round(),
    "only warnings": lambda: History().round().switched().prepared().evaluated(A_SHOULD),
    "the last iteration": lambda: History(limits=Limits(max_iterations=1)).round(A_MUST),
    "stagnation": lambda: _rounds(History(), *"123"),
}


@pytest.mark.parametrize("write", CLAIMS.values(), ids=CLAIMS.keys())
def test_an_evaluation_found_on_the_disk_is_verified_before_it_counts(
    write: Callable[[], History],
) -> None:
    state = write().state
    assert decide(state).act in (Action.STOP, Action.SWITCH)
    decision = decide(state, unverified=True)
    assert (decision.act, decision.step) == (Action.VERIFY, Step.EVALUATE)


def test_a_pass_found_on_the_disk_is_verified_before_a_stop_records_it() -> None:
    state = History().round().state
    for due in (
        decide(state, stop_requested="", unverified=True),
        decide(replace(state, limits=SPENT), unverified=True),
    ):
        assert due.act is Action.VERIFY
    failed = History().round(A_MUST).state
    assert decide(failed, stop_requested="", unverified=True).reason is StopReason.USER_STOP


def test_what_does_not_rest_on_an_evaluation_is_done_without_verifying_it() -> None:
    assert decide(History().round(A_MUST).state, unverified=True).step is Step.CRITIQUE
    refined = History().round(A_MUST).refined("2").state
    assert decide(refined, unverified=True).act is Action.ADVANCE
    passed = History().round().state
    assert decide(passed, tampering="x", unverified=True).reason is StopReason.TAMPERED


def test_an_evaluation_that_cannot_be_verified_ends_as_a_step_that_failed_twice() -> None:
    once = History().round().switched().prepared().evaluated().failed("EVALUATE")
    assert decide(once.state, unverified=True).act is Action.VERIFY
    assert decide(once.state, stop_requested="", unverified=True).reason is StopReason.USER_STOP
    twice = once.failed("EVALUATE").state
    assert decide(twice, unverified=True).reason is StopReason.PHASE_ERROR
