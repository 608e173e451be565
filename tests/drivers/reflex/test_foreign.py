"""A run that another program began in the seed's files is read, shown and resumed."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems
from pytest_reflex.drivers.reflex.run_status import find_run, read_run
from pytest_reflex.drivers.reflex.setup import take_up
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.steps import StepRequest
from tests.drivers.reflex.stage import Script, Stage, history_of, issues, story

pytestmark = pytest.mark.variants

RUN_ID = "words-20260218-120000"
GOOD, BAD = "# Words\n\nalpha beta gamma\n", "# Words\n\nbeta\n"
CHECKS = {
    "a.x.alpha": "Verify that alpha is said",
    "a.x.beta": "Verify that beta is said",
    "b.x.gamma": "Verify that gamma is said",
}
PREPARED = {
    "checks": [
        {"rule_id": rule_id, "type": "content", "search": rule_id.rpartition(".")[2],
         "expected": "it is there"}
        for rule_id in CHECKS
    ]
}  # fmt: skip
Captured = pytest.CaptureFixture[str]


def rules() -> list[dict[str, Any]]:
    return [
        {
            "id": rule_id,
            "description": f"says {rule_id}",
            "severity": "warn" if "beta" in rule_id else "fail",
            "weight": 1 if "beta" in rule_id else 2,
            "phase": rule_id[0].upper(),
            "check": prose,
        }
        for rule_id, prose in CHECKS.items()
    ]


def verdicts(*failed: str, phase: str = "A") -> dict[str, Any]:
    """Return an evaluation as seed 001 has it; its score is a claim."""
    active = [rule for rule in rules() if phase == "B" or rule["phase"] == "A"]
    rows = [
        {"id": r["id"], "verdict": r["severity"] if r["id"] in failed else "pass", "details": "x"}
        for r in active
    ]
    bad = [
        {"id": r["id"], "severity": r["severity"], "message": "it is not there"}
        for r in active
        if r["id"] in failed
    ]
    return {
        "score": 0.33 if failed else 1.0,
        "passed": not failed,
        "failed": [row for row in bad if row["severity"] == "fail"],
        "warnings": [row for row in bad if row["severity"] == "warn"],
        "rule_results": rows,
    }


STATE: dict[str, Any] = {
    "run_id": RUN_ID,
    "task_alias": "words",
    "status": "running",
    "iteration": 1,
    "max_iterations": 4,
    "phase": "A",
    "current_step": "PLAN",
    "task": {"prompt": "say words", "ideal_result": "all words"},
    "criteria": {
        "name": "loop_default_v1",
        "version": 1,
        "phase": {
            "A": {"threshold": 0.8, "active_levels": ["A"]},
            "B": {"threshold": 0.9, "active_levels": ["A", "B"]},
        },
        "rules": rules(),
    },
    "plan": [],
    "prepared_checks": None,
    "evaluation": None,
    "critique": None,
    "stop": {"passed": False, "reason": ""},
    "last_score": 0,
    "stagnation_count": 0,
    "created_at": "2026-02-18T12:00:00Z",
    "updated_at": "2026-02-18T12:00:00Z",
}
PLANNED = {"plan": ["say alpha", "say beta", "say gamma"]}
MADE = {**PLANNED, "prepared_checks": PREPARED}
JUDGED = {**MADE, "evaluation": verdicts("a.x.alpha")}
CRITIQUED = {**JUDGED, "critique": json.loads(issues("a.x.alpha"))}


def line(event: str, step: str, iteration: int = 1, phase: str = "A", **payload: Any) -> str:
    """Return a line of history.jsonl as the seed has it."""
    at = {"ts": "2026-02-18T12:01:10Z", "run_id": RUN_ID, "iteration": iteration, "phase": phase}
    wire = {**at, "step": step, "event": event, "status": "ok", "payload": payload}
    return json.dumps(wire, separators=(",", ":")) + "\n"


BEGUN = [line("run_started", "PLAN")]
PLAN_LINES = [*BEGUN, line("plan_created", "PLAN")]
PAIR = [line("artifact_created", "PRODUCE"), line("checks_prepared", "PREPARE")]
MADE_LINES = [*PLAN_LINES, *PAIR]
JUDGED_LINES = [*MADE_LINES, line("evaluation_done", "EVALUATE", score=0.33, passed=False)]
CRITIQUED_LINES = [*JUDGED_LINES, line("critique_done", "CRITIQUE")]


class Foreign(Stage):
    """A project in which another program has left a run."""

    def leave(self, lines: list[str], artifact: str | None = None, **state: Any) -> None:
        folder = self.root / "words"
        folder.mkdir(parents=True, exist_ok=True)
        run = {**copy.deepcopy(STATE), **state}
        (folder / "run.json").write_text(json.dumps(run, indent=2))
        (folder / "history.jsonl").write_text("".join(lines))
        if artifact is not None:
            (folder / "artifact.md").write_text(artifact)
        pointer = {
            "active_run_id": run["run_id"], "task_alias": "words", "status": run["status"],
            "updated_at": run["updated_at"],
        }  # fmt: skip
        (self.root / "current.json").write_text(json.dumps(pointer))


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Foreign:
    monkeypatch.chdir(tmp_path)
    return Foreign(tmp_path)


def prepare(request: StepRequest) -> str:
    asked = [rule.id for rule in request.rules]
    return json.dumps({"checks": [one for one in PREPARED["checks"] if one["rule_id"] in asked]})


def scripted() -> Script:
    return Script(produce=GOOD, refine=GOOD, prepare=prepare)


# name: (lines, artifact, what run.json says, the steps that an agent is asked for first)
WHERE: dict[str, tuple[list[str], str | None, dict[str, Any], list[str]]] = {
    "nothing is done": (BEGUN, None, {}, ["PLAN"]),
    "the plan is there": (
        PLAN_LINES, None, {**PLANNED, "current_step": "PRODUCE"}, ["PREPARE", "PRODUCE"],
    ),
    "the pair runs": (
        PLAN_LINES, None, {**PLANNED, "current_step": "PRODUCE_PREPARE"}, ["PREPARE", "PRODUCE"],
    ),
    "the artifact alone is there": (
        [*PLAN_LINES, PAIR[0]], GOOD, {**PLANNED, "current_step": "PREPARE"}, ["PREPARE"],
    ),
    "all is made": (MADE_LINES, GOOD, {**MADE, "current_step": "EVALUATE"}, []),
    "it failed": (
        JUDGED_LINES, BAD, {**JUDGED, "current_step": "CRITIQUE"}, ["CRITIQUE", "REFINE"],
    ),
    "the critique is there": (
        CRITIQUED_LINES, BAD, {**CRITIQUED, "current_step": "REFINE"}, ["REFINE", "PLAN"],
    ),
    "it was refined": (
        [*CRITIQUED_LINES, line("refinement_done", "REFINE")],
        GOOD,
        {**CRITIQUED, "current_step": "REFINE"},
        ["PLAN"],
    ),
    "its next iteration has begun": (
        [*CRITIQUED_LINES, line("refinement_done", "REFINE"),
         line("iteration_advanced", "REFINE", 2)],
        GOOD,
        {**CRITIQUED, "iteration": 2, "current_step": "PLAN"},
        ["PLAN"],
    ),
    "run.json is behind the history": (
        [*CRITIQUED_LINES, line("refinement_done", "REFINE"),
         line("iteration_advanced", "REFINE", 2)],
        GOOD,
        {**CRITIQUED, "current_step": "REFINE"},
        ["PLAN"],
    ),
    "it passed A": (
        [*MADE_LINES, line("evaluation_done", "EVALUATE", score=1.0, passed=True),
         line("phase_switched", "EVALUATE", phase="B")],
        GOOD,
        {**MADE, "phase": "B", "current_step": "PREPARE"},
        ["PREPARE"],
    ),
    "its plan was lost": (
        PLAN_LINES, None, {"current_step": "PRODUCE"}, ["PLAN"],
    ),
    "its artifact was lost": (
        MADE_LINES, None, {**MADE, "current_step": "EVALUATE"}, ["PRODUCE"],
    ),
    "its critique was lost": (
        CRITIQUED_LINES, BAD, {**JUDGED, "current_step": "REFINE"}, ["CRITIQUE", "REFINE"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "artifact", "state", "asked"), WHERE.values(), ids=WHERE)
def test_it_goes_on_where_it_was_left(
    foreign: Foreign,
    lines: list[str],
    artifact: str | None,
    state: dict[str, Any],
    asked: list[str],
) -> None:
    foreign.leave(lines, artifact, **state)
    script = scripted()
    with foreign.resume(script) as loop:
        list(history_of(loop))
    found = script.asked()
    first = sorted(found[: len(asked)]) if "PRODUCE" in asked[1:] else found[: len(asked)]
    assert first == asked
    run = foreign.run_json()
    assert (run["status"], run["stop"]["reason"]) == ("completed", "threshold_reached")
    assert run["current_step"] == "EVALUATE"
    history = (foreign.root / "words/history.jsonl").read_text()
    assert history.startswith("".join(lines))
    events = [json.loads(one) for one in history.splitlines()]
    assert events[len(lines)]["event"] == "run_adopted"
    assert [problem for one in events for problem in problems("event", one)] == []
    assert problems("run", run) == []
    assert not (foreign.root / "current.json").exists()


@pytest.mark.parametrize(("lines", "artifact", "state", "asked"), WHERE.values(), ids=WHERE)
def test_it_is_shown_as_it_is_and_nothing_is_written(
    foreign: Foreign,
    capsys: Captured,
    lines: list[str],
    artifact: str | None,
    state: dict[str, Any],
    asked: list[str],
) -> None:
    foreign.leave(lines, artifact, **state)
    before = {p: p.read_bytes() for p in foreign.root.rglob("*") if p.is_file()}
    assert main(["loop", "status"]) == 0
    told = capsys.readouterr().out
    assert "Loop: words (running (interrupted))\nTask: say words\n" in told
    assert "Continue with: pytest-reflex loop resume words" in told
    assert main(["loop", "list"]) == 0
    assert "running (interrupted)" in capsys.readouterr().out
    assert main(["loop", "history"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(lines)
    assert main(["loop", "show"]) == (4 if artifact is None else 0)
    assert capsys.readouterr().out == (artifact or "")
    assert main(["loop", "resume", "--dry-run", "--agent", "offline"]) == 0
    assert {p: p.read_bytes() for p in foreign.root.rglob("*") if p.is_file()} == before


def test_the_seeds_own_sample_is_read(foreign: Foreign, capsys: Captured) -> None:
    sample = (
        '{"ts":"2026-02-18T12:01:10Z","run_id":"words-20260218-120000","iteration":1,"phase":"A",'
        '"step":"EVALUATE","event":"evaluation_done","status":"ok",'
        '"payload":{"score":0.72,"passed":false}}\n'
    )
    foreign.leave([sample], BAD, current_step="CRITIQUE", **{**JUDGED, "evaluation": None})
    assert main(["loop", "history"]) == 0
    assert capsys.readouterr().out.strip().endswith("evaluation_done: 0.720 not passed")
    assert find_run(foreign.root, None).state.step is Step.EVALUATE


def test_the_score_follows_from_the_verdicts_and_not_from_what_is_claimed(
    foreign: Foreign,
) -> None:
    claimed = {**verdicts("a.x.alpha"), "passed": True}
    foreign.leave(
        JUDGED_LINES, BAD, **{**JUDGED, "evaluation": claimed, "current_step": "CRITIQUE"}
    )
    state = find_run(foreign.root, "words").state
    assert state.evaluation is not None
    assert (str(state.evaluation.score), state.evaluation.passed) == ("1/3", False)
    assert [row.rule.id for row in state.evaluation.failed] == ["a.x.alpha"]


def test_a_pass_that_it_claims_is_evaluated_before_it_counts(foreign: Foreign) -> None:
    passed = {**MADE, "evaluation": verdicts(), "current_step": "EVALUATE"}
    lines = [*MADE_LINES, line("evaluation_done", "EVALUATE", score=1.0, passed=True)]
    foreign.leave(lines, BAD, **passed)
    with foreign.resume(scripted()) as loop:
        events = list(history_of(loop))
    again = next(event for event in events if event.kind is EventKind.EVALUATION_DONE)
    assert (again.payload["again"], again.payload["passed"]) == (True, False)
    assert foreign.run_json()["status"] == "completed"


@pytest.mark.parametrize("allowed", [False, True])
def test_its_commands_are_those_of_an_agent_and_run_where_a_person_allows_it(
    foreign: Foreign, allowed: bool
) -> None:
    command = {
        "rule_id": "a.x.alpha",
        "type": "executable",
        "command": "test -s .ai-factory/evolution/words/artifact.md",
        "expected": "artifact file exists and is non-empty (exit code 0)",
    }
    given = {"checks": [*PREPARED["checks"], command]}
    foreign.leave(
        MADE_LINES, GOOD, **{**MADE, "prepared_checks": given, "current_step": "EVALUATE"}
    )
    hooks = foreign.host(scripted()).hooks
    with take_up(
        foreign.root / "words",
        project=foreign.project,
        hooks=hooks,
        allow_agent_commands=allowed,
    ) as loop:
        first = next(e for e in history_of(loop) if e.kind is EventKind.EVALUATION_DONE)
    rows = {row["id"]: row["outcome"] for row in first.payload["evaluation"]["rule_results"]}
    assert rows["a.x.alpha"] == ("pass" if allowed else "not_measured")


def test_commands_of_a_loop_of_ours_are_allowed_at_its_start(
    foreign: Foreign, capsys: Captured
) -> None:
    with foreign.begin(Script(produce=BAD)) as loop:
        next(history_of(loop))
    assert main(["loop", "resume", "--allow-agent-commands"]) == 4
    told = capsys.readouterr().err
    assert "was decided when the loop began (leave --allow-agent-commands out)" in told


def test_plan_is_told_what_happened_before(foreign: Foreign) -> None:
    lines = [*CRITIQUED_LINES, line("iteration_advanced", "REFINE", 2)]
    foreign.leave(lines, BAD, **{**CRITIQUED, "iteration": 2})
    script = scripted()
    with foreign.resume(script) as loop:
        next(e for e in history_of(loop) if e.kind is EventKind.PLAN_CREATED)
    (adopted,) = script.requests[0].history
    told = [one["event"] for one in adopted["payload"]["earlier"]]
    assert told == ["evaluation_done", "critique_done", "iteration_advanced"]
    assert script.requests[0].evaluation is not None


ENDS = {
    "completed": ("threshold_reached", JUDGED_LINES[:-1], {"passed": True}),
    "stopped": ("iteration_limit", JUDGED_LINES, {"passed": False}),
    "failed": ("phase_error", JUDGED_LINES, {"passed": False}),
}


@pytest.mark.parametrize("status", ENDS)
def test_one_that_has_ended_is_shown_and_not_resumed(
    foreign: Foreign, capsys: Captured, status: str
) -> None:
    reason, lines, stop = ENDS[status]
    ended = line("failed" if status == "failed" else "stopped", "EVALUATE", reason=reason)
    state = {**JUDGED, "status": status, "stop": {**stop, "reason": reason}}
    foreign.leave([*lines, ended], BAD, **{**state, "current_step": "EVALUATE"})
    assert main(["loop", "status", "words"]) == 0
    assert f"Stopped: {reason}" in capsys.readouterr().out
    assert main(["loop", "resume", "words"]) == 4
    assert f"loop 'words' has ended ({reason}" in capsys.readouterr().err
    assert "run_adopted" not in (foreign.root / "words/history.jsonl").read_text()


def test_one_at_its_limit_is_extended(foreign: Foreign, capsys: Captured) -> None:
    stop = {"passed": False, "reason": "iteration_limit"}
    state = {**JUDGED, "status": "stopped", "stop": stop, "current_step": "EVALUATE"}
    foreign.leave(
        [*JUDGED_LINES, line("stopped", "EVALUATE", reason="iteration_limit")],
        BAD,
        **{**state, "max_iterations": 1},
    )
    argv = ["loop", "extend", "words", "--max-iterations", "+1", "--yes", "--agent", "offline"]
    assert main(argv) in (6, 7)
    run = foreign.run_json()
    assert (run["iteration"], run["max_iterations"]) == (2, 2)


def test_it_is_stopped_and_told_of_like_any(foreign: Foreign, capsys: Captured) -> None:
    foreign.leave(JUDGED_LINES, BAD, **{**JUDGED, "current_step": "CRITIQUE"})
    assert main(["loop", "feedback", "words", "be brief"]) == 0
    assert main(["loop", "stop", "words", "--reason", "enough"]) == 0
    told = capsys.readouterr().out
    assert "Stop reason: user_stop (enough)" in told
    assert told.endswith(BAD)
    assert foreign.run_json()["feedback"]["waiting"] == ["be brief"]


BROKEN: dict[str, tuple[dict[str, Any] | str | None, str]] = {
    "run.json is gone": (None, "which has its task and its rules, is missing or broken"),
    "run.json is cut": ("{", "which has its task and its rules, is missing or broken"),
    "it has no task": ({"task": None}, "has None as 'task', not an object"),
    "its task says nothing": ({"task": {}}, "has a 'task' without a 'prompt'"),
    "its task is a text": ({"task": "say it"}, "has 'say it' as 'task', not an object"),
    "it has no number": ({"iteration": "one"}, "has 'one' as 'iteration', not a number"),
    "its limit is a text": ({"max_iterations": "4"}, "has no number as 'max_iterations'"),
    "its id is a number": ({"run_id": 7}, "has 7 as 'run_id', not a text"),
    "its rules are a list": ({"criteria": []}, "has [] as 'criteria', not an object"),
    "its stop is a text": ({"stop": "now"}, "is not in the form that can be taken up"),
    "it has no rules": ({"criteria": {**STATE["criteria"], "rules": []}}, "there are no rules"),
    "its phase is unknown": ({"phase": "C"}, "has 'C' as 'phase', not A or B"),
    "its status is unknown": (
        {"status": "paused"},
        "has 'paused' as 'status', not",
    ),
}


@pytest.mark.parametrize(("state", "says"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_used_is_named(
    foreign: Foreign, capsys: Captured, state: dict[str, Any] | str | None, says: str
) -> None:
    foreign.leave(MADE_LINES, GOOD, **(state if isinstance(state, dict) else {}))
    path = foreign.root / "words/run.json"
    if state is None:
        path.unlink()
    elif isinstance(state, str):
        path.write_text(state)
    with pytest.raises(StateError, match=r"run\.json") as raised:
        read_run(foreign.root / "words")
    assert says in str(raised.value)
    assert main(["loop", "list"]) == 0
    assert "damaged" in capsys.readouterr().out
    assert main(["loop", "resume", "words"]) == 12
    assert "run.json" in capsys.readouterr().err


def test_taken_over_and_interrupted_it_goes_on_as_ours(foreign: Foreign, capsys: Captured) -> None:
    foreign.leave(PLAN_LINES, None, **{**PLANNED, "current_step": "PRODUCE"})
    script = scripted()
    with foreign.resume(script) as loop:
        for event in history_of(loop):
            if event.kind is EventKind.CHECKS_PREPARED:
                break
        told = loop.files.recovered
    assert told == ("Another program began this loop; see that it does not go on as well",)
    with foreign.resume(script) as again:
        events = list(history_of(again))
        assert again.files.recovered == ()
    assert "run_adopted" not in story(events)
    assert foreign.run_json()["status"] == "completed"
    assert main(["loop", "verify", "words"]) == 0
    assert "The recorded verdict holds: passed" in capsys.readouterr().out


def test_resume_by_the_command_says_whose_run_it_was(foreign: Foreign, capsys: Captured) -> None:
    prose = {**STATE["criteria"], "rules": [{**rules()[0], "check": "`alpha` is said"}]}
    foreign.leave(BEGUN, None, criteria=prose, task={"prompt": "say alpha", "ideal_result": "x"})
    assert main(["loop", "resume", "--evaluator", "core"]) == 0
    told = capsys.readouterr()
    assert "Another program began this loop" in told.err
    assert told.out.endswith("say alpha\n")


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("is_list", [False, True])
def test_its_commands_are_shown_before_any_of_them_runs(
    foreign: Foreign, capsys: Captured, allowed: bool, is_list: bool
) -> None:
    ran = foreign.project.with_suffix(".ran")
    text = f'touch {ran}; grep -q alpha "$PYTEST_REFLEX_ARTIFACT"'
    command = ["sh", "-c", text] if is_list else text
    made = {"rule_id": "a.x.alpha", "type": "executable", "command": command, "expected": "runs"}
    given = {"checks": [*PREPARED["checks"], made]}
    foreign.leave(MADE_LINES, GOOD, **MADE | {"prepared_checks": given, "max_iterations": 1})
    resume = ["loop", "resume", "--evaluator", "core"]
    assert main([*resume, *(["--allow-agent-commands"] if allowed else [])]) == 6
    told = capsys.readouterr().err
    assert told.index("Commands that an agent made:") < told.index("Iteration 1/1")
    run = "runs by --allow-agent-commands" if allowed else "is not run"
    assert re.search(rf"  - a\.x\.alpha, [0-9a-f]{{8}}, {run}: .*touch .*grep", told)
    assert ran.exists() is allowed
    lines = map(json.loads, (foreign.root / "words/history.jsonl").read_text().splitlines())
    first = next(one["payload"] for one in lines if one["event"] == "evaluation_done")
    row = next(r for r in first["evaluation"]["rule_results"] if r["id"] == "a.x.alpha")
    assert row["outcome"] == ("pass" if allowed else "not_measured")
    if not allowed:
        assert "a loop that begins with --allow-agent-commands runs it" in row["details"]
    assert foreign.run_json()["status"] == "stopped"
