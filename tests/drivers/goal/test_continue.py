"""A goal goes on, is looked at and given up: our own, and what another program left."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.drivers.goal.model import VerificationPlan
from pytest_reflex.drivers.goal.verify import Approvals
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Reply
from tests.drivers.flow.stage import repository
from tests.drivers.goal.stage import ALPHA, BETA, DONE, GATE, SPEC, STATE, Stage, claim, work


def test_more_iterations_continue_where_it_stood(stage: Stage) -> None:
    stage.deeds = [claim(DONE), claim(GATE), work]
    assert stage.start("--max-iterations", "1") == ExitCode.ITERATION_LIMIT
    assert stage.goal("continue", "--max-iterations", "+1") == ExitCode.ITERATION_LIMIT
    assert stage.record.max_iterations == 2
    assert stage.goal("continue", "--max-iterations", "5") == ExitCode.OK
    assert [one["iteration"] for one in stage.iterations()] == [1, 2, 3]


def test_more_budget_continues(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.deeds = [claim(DONE), work]
    assert stage.start("--budget", "1") == ExitCode.BUDGET_EXCEEDED
    assert stage.goal("continue", "--budget", "+0.5") == ExitCode.OK
    assert "Cost: $1/$1.50" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--budget", "+80"), "at most 100"),
        (("--max-iterations", "+45"), "between 1 and 50"),
        (("--max-iterations", "some"), "is not a number"),
        (("--max-iterations", "1.5"), "is not a number"),
        (("--budget", "-1"), "is not a number"),
    ],
)
def test_limits_that_cannot_be_used_are_refused(
    stage: Stage, capsys: pytest.CaptureFixture[str], flags: Any, told: str
) -> None:
    stage.deeds = [claim(DONE)]
    stage.start()
    before = len(stage.prompts)
    assert stage.goal("continue", *flags) == ExitCode.USAGE
    assert told in capsys.readouterr().err
    assert len(stage.prompts) == before


@pytest.mark.long
def test_a_breaker_counts_anew_when_a_person_continues(stage: Stage) -> None:
    stage.deeds = [claim()] * 6 + [work]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert stage.state()["circuitBreaker"]["stuckCount"] == 5
    assert stage.goal("continue") == ExitCode.OK
    assert len(stage.prompts) == 7


def test_what_is_too_little_proven_goes_on(stage: Stage) -> None:
    def lie(stage: Stage) -> None:
        stage.add("alpha beta")
        stage.say(claims=dict.fromkeys(stage.met(), True), exits=True)

    stage.deeds = [lie, work]
    assert stage.start() == ExitCode.GATE_FAILED
    assert stage.goal("continue") == ExitCode.OK


def test_a_goal_that_is_done_does_not_go_on(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage.goal("continue") == ExitCode.USAGE
    assert "there is no goal in this project" in capsys.readouterr().err
    stage.deeds = [work]
    stage.start()
    assert stage.goal("continue") == ExitCode.USAGE
    assert "goal-1 has ended" in capsys.readouterr().err
    assert stage.start() == ExitCode.OK
    assert stage.record.run == "goal-2"
    assert [one["run"] for one in stage.iterations()] == ["goal-1", "goal-2"]


def test_status_says_where_it_stands(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    stage.deeds = [claim(DONE)]
    stage.start("--max-iterations", "1")
    capsys.readouterr()
    assert stage.goal("status") == ExitCode.OK
    out = capsys.readouterr().out
    for row in ("Goal:      goal-1", "Status:    paused", "Iteration: 1 of 1", f"✓ {DONE} (claim)"):
        assert row in out
    assert "Paused:    all iterations are used up; pytest-reflex goal continue" in out
    assert stage.goal("status", "--json") == ExitCode.OK
    document = json.loads(capsys.readouterr().out)
    assert (document["reason"], document["driven"]) == ("iteration_limit", False)


def test_check_verifies_now_and_writes_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [claim(DONE)]
    stage.start("--max-iterations", "1")
    before = (stage.folder / STATE).read_bytes()
    assert stage.goal("check") == ExitCode.GATE_FAILED
    stage.add("alpha")
    capsys.readouterr()
    stage.goal("check")
    out = capsys.readouterr().out
    assert f"✓ {ALPHA} (execution output)" in out
    assert f"✗ {BETA}" in out
    assert (stage.folder / STATE).read_bytes() == before
    assert stage.goal("check", "--json") == ExitCode.GATE_FAILED
    assert json.loads(capsys.readouterr().out)["criteria"][ALPHA]["met"] is True


@pytest.mark.parametrize("keeps", [False, True])
def test_cancel_ends_it_and_removes_the_state_unless_it_is_kept(
    stage: Stage, capsys: pytest.CaptureFixture[str], keeps: bool
) -> None:
    stage.deeds = [claim(DONE)]
    stage.start("--max-iterations", "1")
    assert stage.goal("cancel", *(["--keep-state"] if keeps else [])) == ExitCode.OK
    assert "Cancelled: goal-1" in capsys.readouterr().out
    assert (stage.folder / STATE).exists() is keeps
    if keeps:
        assert stage.state()["status"] == "cancelled"
    assert stage.goal("continue") == ExitCode.USAGE
    assert stage.record.reason == "cancelled"


FOREIGN = {
    "spec": SPEC,
    "criteria": [ALPHA, BETA],
    "criteriaStatus": {ALPHA: True, BETA: {"met": False, "command": "grep -q beta notes.txt"}},
    "exit_signal": False,
    "steps": ["add alpha", "add beta"],
    "completedSteps": ["add alpha"],
    "remainingSteps": ["add beta"],
    "iteration": 2,
    "status": "in_progress",
    "circuitBreaker": {"stuckCount": 0, "lastUnmet": BETA},
    "notes": {"of": "another program"},
}


@pytest.fixture
def foreign(stage: Stage) -> Stage:
    """A project with a state file that another program wrote."""
    stage.write(str(STATE), json.dumps(FOREIGN))
    repository(stage.folder, {})
    return stage


def test_a_state_of_another_program_is_shown_and_taken_over(
    foreign: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foreign.goal("status") == ExitCode.OK
    out = capsys.readouterr().out
    assert "of another program" in out
    assert f"✓ {ALPHA} (claim)" in out

    def deed(stage: Stage) -> None:
        stage.add("beta")
        stage.say(claims={BETA: True}, exits=True)

    foreign.deeds = [deed]
    assert foreign.goal("continue", "--yes") == ExitCode.GATE_FAILED
    out, err = capsys.readouterr()
    assert "taken over as goal-1" in err
    assert "[LOOP] Iteration 3/10 | Cost: $0/$25 | Step: add beta" in err
    assert "🔴 RESEARCH" in out
    assert foreign.state()["notes"] == {"of": "another program"}
    assert foreign.standing.state.criteria[1].verification == "execution output"


def test_its_commands_are_shown_and_not_run_without_approval(
    foreign: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    state = {**FOREIGN, "criteriaStatus": {ALPHA: {"met": False, "command": "touch ran"}}}
    foreign.write(str(STATE), json.dumps(state))
    foreign.deeds = [claim(ALPHA)]
    foreign.goal("continue")
    assert "not run unless it is approved (goal continue --yes): touch ran" in (
        capsys.readouterr().err
    )
    assert not (foreign.folder / "ran").exists()


@pytest.mark.parametrize(
    ("approved", "code"),
    [((), ExitCode.NOTHING_MEASURED), (("true",), ExitCode.GATE_FAILED),
     (("true", "test -d ."), ExitCode.OK)],
)  # fmt: skip
def test_a_check_passes_on_nothing_that_was_not_run(
    stage: Stage, approved: tuple[str, ...], code: ExitCode
) -> None:
    met = {one: {"met": True, "command": one} for one in ("true", "test -d .")}
    foreign = {"spec": "Fix it", "criteriaStatus": met, "exit_signal": True}
    stage.write(str(STATE), json.dumps(foreign))
    plans = [VerificationPlan(command=one) for one in approved]
    approvals = Approvals.load(stage.folder)
    approvals.record(approvals.find_missing(plans, built_in_registry()))
    assert stage.goal("check") == code


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"criteria": [], "criteriaStatus": {}}, "no spec or no criteria"),
        ({"spec": ""}, "no spec or no criteria"),
        ({"spec": "Change the database schema"}, "Type 1"),
    ],
)
def test_a_state_that_nothing_can_be_made_of_is_refused(
    foreign: Stage, capsys: pytest.CaptureFixture[str], change: Any, told: str
) -> None:
    foreign.write(str(STATE), json.dumps({**FOREIGN, **change}))
    assert foreign.goal("continue") == ExitCode.USAGE
    assert told in capsys.readouterr().err
    assert not foreign.prompts


def test_a_state_of_another_program_can_be_given_up(foreign: Stage) -> None:
    assert foreign.goal("cancel") == ExitCode.OK
    assert not (foreign.folder / STATE).exists()


def test_a_goal_is_not_begun_over_the_state_of_another_program(
    foreign: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foreign.start() == ExitCode.USAGE
    assert "goal continue takes it over" in capsys.readouterr().err
    assert foreign.state() == FOREIGN
    assert not foreign.prompts


def test_what_the_stop_hook_keeps_in_the_file_stays(stage: Stage) -> None:
    def deed(stage: Stage) -> None:
        work(stage)
        stage.say(exits=True, hook={"blocked": 2})

    stage.deeds = [deed]
    assert stage.start() == ExitCode.OK
    assert stage.iterations()[0]["undone"] == []
    assert stage.state()["hook"] == {"blocked": 2}


def test_a_goal_that_is_interrupted_holds_nobody_back(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave(stage: Stage) -> None:
        stage.say(claims={DONE: True})
        raise KeyboardInterrupt

    stage.deeds = [leave, work]
    assert stage.start() == ExitCode.INTERRUPTED
    shown = capsys.readouterr()
    assert "go on with: pytest-reflex goal continue" in shown.err
    assert "RESEARCH" in shown.out
    assert stage.state()["status"] == "paused"
    assert stage.state()["pause_reason"] == "interrupted; pytest-reflex goal continue"
    assert stage.met()[DONE] is False
    assert stage.goal("continue") == ExitCode.OK
    assert [one["iteration"] for one in stage.iterations()] == [1]


def test_a_rate_limit_leaves_a_goal_that_goes_on(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = Reply(text="", agent="script", error="limit reached", details={"limited": True})
    stage.deeds = [lambda stage: limited, work]
    assert stage.start() == ExitCode.PHASE_ERROR
    shown = capsys.readouterr().out
    assert "RESEARCH" in shown
    assert shown.splitlines()[-1] == "Paused: interrupted; pytest-reflex goal continue"
    assert stage.goal("continue") == ExitCode.OK
    assert stage.record.spend.calls == 2


def test_a_spoilt_state_file_does_not_stop_a_goal_that_goes_on(stage: Stage) -> None:
    stage.deeds = [claim(DONE), work]
    stage.start("--max-iterations", "1")
    stage.write(str(STATE), "{nonsense")
    assert stage.goal("status") == ExitCode.OK
    assert stage.goal("continue", "--max-iterations", "+1") == ExitCode.OK
    assert stage.state()["status"] == "completed"


def test_a_spoilt_state_file_of_nobody_is_named_and_can_be_removed(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.write(str(STATE), "{nonsense")
    assert stage.start() == ExitCode.NOT_PERSISTED
    assert "state.json:1:2: it is not JSON" in capsys.readouterr().err
    assert stage.goal("cancel", "--keep-state") == ExitCode.NOT_PERSISTED
    assert stage.goal("cancel") == ExitCode.OK
    assert "which could not be read" in capsys.readouterr().out
    assert not (stage.folder / STATE).exists()


def test_a_goal_that_has_ended_is_not_cancelled_again(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage.goal("cancel") == ExitCode.USAGE
    stage.deeds = [work]
    stage.start()
    capsys.readouterr()
    assert stage.goal("cancel") == ExitCode.OK
    assert capsys.readouterr().out == "goal-1 has ended; .loop/state.json is removed\n"
    assert stage.record.reason == "target-met"
