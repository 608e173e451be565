"""What pauses a goal: budget, iterations, errors that come again, thrashing, what must not be."""

from __future__ import annotations

import pytest

from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Reply
from tests.drivers.goal.stage import ALPHA, BETA, DONE, GATE, SPEC, Stage, claim, work

pytestmark = pytest.mark.long


def paused(stage: Stage) -> str:
    state = stage.state()
    assert state["status"] == "paused"
    return str(state["pause_reason"])


def test_the_same_criteria_unmet_five_times_open_the_circuit(stage: Stage) -> None:
    numbers = iter(range(100))
    stage.deeds = [lambda stage: stage.add(f"word {next(numbers)}")]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert [one["stuckCount"] for one in stage.iterations()] == [0, 1, 2, 3, 4, 5]
    assert "the same criteria stay unmet (5 times)" in paused(stage)
    assert stage.state()["circuitBreaker"] == {
        "stuckCount": 5,
        "lastUnmet": ALPHA,
        "unmet": [ALPHA, BETA, DONE, GATE],
    }


def test_the_count_begins_anew_where_the_set_changes(stage: Stage) -> None:
    stage.deeds = [claim(), claim(), claim(DONE), claim(), claim(GATE)]
    assert stage.start("--max-iterations", "6") == ExitCode.ITERATION_LIMIT
    assert [one["stuckCount"] for one in stage.iterations()] == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("text", [DONE, GATE, "the page renders"])
def test_what_is_only_assumed_is_said_to_be_unmet_and_opens_the_circuit(
    stage: Stage, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    shape = "criteria:\n- the page renders\nverification:\n- the page renders: assumption\n"
    if text == "the page renders":
        stage.write(".loop/shape/SHAPE.md", shape)

    def assume(stage: Stage) -> None:
        work(stage)
        assumed = {"met": True, "verification": "assumption", "evidence": "should be"}
        stage.say(claims={text: assumed}, exits=True)

    stage.deeds = [assume]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert f"the same criteria stay unmet (5 times): {text}" in paused(stage)
    assert f"- [ ] {text} (" in stage.prompts[1]
    assert "  Last: it is assumed, and an assumption proves nothing" in stage.prompts[1]
    assert "Now: signal the end" not in stage.prompts[1]
    assert f"Risk: not met: {text}" in capsys.readouterr().out


def test_the_same_error_three_times_asks_for_help(stage: Stage) -> None:
    numbers = iter(range(100))
    stage.deeds = [
        lambda stage: Reply(text="", agent="script", error=f"line {next(numbers)}: no such key")
    ]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert len(stage.prompts) == 3
    assert "the same error 3 times in a row: line 2: no such key" in paused(stage)


def test_a_claim_that_fails_three_times_is_an_error(stage: Stage) -> None:
    stage.deeds = [claim(ALPHA)]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert len(stage.prompts) == 3
    assert "the same error 3 times in a row" in paused(stage)


def test_another_error_in_between_is_another_error(stage: Stage) -> None:
    def fails(why: str) -> Reply:
        return Reply(text="", agent="script", error=why)

    whys = ["a", "a", "b", "a", "a"]
    stage.deeds = [lambda stage, why=why: fails(why) for why in whys]  # type: ignore[misc]
    assert stage.start("--max-iterations", "5") == ExitCode.ITERATION_LIMIT


def test_a_file_that_is_edited_five_times_in_an_iteration_is_thrashing(stage: Stage) -> None:
    edits = {"edits": {"notes.txt": 5, "other.txt": 4}}
    stage.deeds = [lambda stage: Reply(text="done", agent="script", details=edits)]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert "notes.txt was edited 5 times in one iteration" in paused(stage)


def test_four_edits_are_not(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    edits = {"edits": {"notes.txt": 4}}
    stage.deeds = [lambda stage: Reply(text="done", agent="script", details=edits)]
    assert stage.start("--max-iterations", "1") == ExitCode.ITERATION_LIMIT
    assert "not monitored" not in capsys.readouterr().err


def test_an_agent_that_reports_no_edits_is_said_not_to_be_monitored(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [claim(DONE)]
    stage.start("--max-iterations", "2")
    assert capsys.readouterr().err.count("not monitored") == 1


def test_the_budget_pauses_and_the_last_work_is_verified(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    def deed(stage: Stage) -> None:
        stage.add("alpha")
        stage.say(claims={ALPHA: True})

    stage.deeds = [deed]
    assert stage.start("--budget", "1") == ExitCode.BUDGET_EXCEEDED
    assert len(stage.prompts) == 1
    assert stage.met()[ALPHA] is True
    assert "pytest-reflex goal continue --budget +10" in capsys.readouterr().out
    assert "goal continue --budget +10" in paused(stage)


def test_a_goal_that_its_last_dollar_proves_is_done(stage: Stage) -> None:
    stage.deeds = [work]
    assert stage.start("--budget", "1", "--max-iterations", "1") == ExitCode.OK


def test_a_cost_that_is_not_known_is_not_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [lambda stage: Reply(text="done", agent="script", seconds=1.0)]
    stage.start("--max-iterations", "2")
    err = capsys.readouterr().err
    assert "[LOOP] Iteration 2/2 | Cost: unknown/$25 | Step: add alpha" in err
    assert stage.iterations()[0]["usd"] is None


def test_the_limit_of_iterations_names_what_continues(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [claim(DONE)]
    assert stage.start("--max-iterations", "2") == ExitCode.ITERATION_LIMIT
    told = "Paused: all iterations are used up; pytest-reflex goal continue --max-iterations +5"
    assert told in capsys.readouterr().out


MUST_NOT = "mustNot:\n- {text: notes hold a secret, command: 'grep -q secret notes.txt'}\n"


@pytest.mark.parametrize("exits", [False, True])
def test_what_must_not_be_pauses_at_once(stage: Stage, exits: bool) -> None:
    shape = f"```yaml\ncriteria: [notes are there]\n{MUST_NOT}```\n"
    stage.write(".loop/shape/SHAPE.md", shape)

    def deed(stage: Stage) -> None:
        work(stage) if exits else None
        stage.add("secret")

    def looks(stage: Stage) -> None:
        claims = dict.fromkeys(stage.met(), True)
        deed(stage)
        stage.say(claims=claims, exits=exits)

    stage.deeds = [claim(DONE), looks]
    assert stage.start(spec=SPEC) == ExitCode.CIRCUIT_BREAKER
    assert len(stage.prompts) == 2
    assert "must not become true: notes hold a secret" in paused(stage)
    assert stage.state()["exit_signal"] is False


@pytest.mark.parametrize("where", ["must not", "limit", "gate"])
def test_a_goal_that_is_not_over_is_not_shipped(
    stage: Stage, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    def deed(stage: Stage) -> str:
        work(stage)
        stage.say(exits=where != "limit")
        return "---LOOP_STATUS---\nMUST_NOT: x\n---END_STATUS---" * (where == "must not")

    stage.deeds = [deed]
    flags = ["--shape", "colleague"] if where == "gate" else ["--max-iterations", "1"]
    status = stage.start(*flags)
    if where == "gate":
        status = stage.goal("continue")
    assert all(stage.met().values())
    assert status == {"must not": 15, "limit": 6, "gate": 14}[where]
    out = capsys.readouterr().out
    assert "RESEARCH" in out
    assert not any(word in out for word in ("SHIP", "MONITOR", "<loop-complete>"))


@pytest.mark.parametrize("where", ["criterion", "must not", "error"])
def test_the_mark_of_completion_is_printed_at_the_end_alone(
    stage: Stage, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    mark = "<loop-complete>"
    spec = SPEC.replace("when both", f"{mark} when both") if where == "criterion" else SPEC
    block = f"---LOOP_STATUS---\nMUST_NOT: {mark}\n---END_STATUS---"
    failed = Reply(text="", agent="script", seconds=1.0, error=mark)
    stage.deeds = [lambda _: failed if where == "error" else block if where == "must not" else ""]
    assert stage.start("--max-iterations", "3", spec=spec) in (6, 15)
    out = capsys.readouterr().out
    assert "RESEARCH" in out
    assert mark not in out
    assert "‹loop-complete›" in out


def test_what_no_program_checks_is_reported_by_the_agent(stage: Stage) -> None:
    block = "---LOOP_STATUS---\nMUST_NOT: the public interface changed\n---END_STATUS---"
    stage.deeds = [lambda stage: block]
    assert stage.start() == ExitCode.CIRCUIT_BREAKER
    assert "must not become true: the public interface changed" in paused(stage)
