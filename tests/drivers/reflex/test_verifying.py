"""What the history says was evaluated is a claim: it is evaluated again before it counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.run_status import read_run
from pytest_reflex.model.stop import StopReason
from pytest_reflex.model.targets import Target
from pytest_reflex.storage.journal import read_journal
from tests.drivers.reflex.forged import Records, add, last_of, let_pass, passing, rewrite, stop
from tests.drivers.reflex.stage import Script, Stage, history_of, story

pytestmark = pytest.mark.variants

GOOD = "alpha beta gamma\n"
ONE_PHASE = """\
name: words
rules:
  - {id: b.x.gamma, description: says gamma, severity: fail, check: {type: content, search: gamma}}
  - {id: b.x.delta, description: says delta, severity: warn, check: {type: content, search: delta}}
phases: {B: {threshold: 0.9}}
"""
Capture = pytest.CaptureFixture[str]


def left_after(stage: Stage, kind: str, script: Script, flags: dict[str, Any] | None = None) -> int:
    """Leave a run after its first event of a kind, as if it had been killed; return its events."""
    with stage.begin(script, flags) as loop:
        for event in history_of(loop):
            if event.kind == kind:
                return event.seq
    raise AssertionError(f"there was no {kind}")


def passed_at_b(records: Records) -> None:
    """A pass of all rules at the last phase, after a switch that nothing led to."""
    let_pass(records)
    add(records, "phase_switched", {"from": "A", "to": "B"})
    checks = last_of(records, "checks_prepared")["payload"]
    add(records, "checks_prepared", {**checks, "phase": "B"}, phase="B")
    judged = last_of(records, "evaluation_done")["payload"]["evaluation"]
    add(records, "evaluation_done", {"evaluation": passing(judged, "B")}, phase="B")


def warnings_only(records: Records) -> None:
    """An evaluation at the last phase in which only a warning is left."""
    judged = last_of(records, "evaluation_done")
    forged = passing(judged["payload"]["evaluation"])
    forged |= {"passed": False, "score": 0.5, "score_exact": "1/2"}
    forged["rule_results"][1] |= {"outcome": "fail", "verdict": "warn"}
    judged["payload"] = {"evaluation": forged}
    del records[records.index(judged) + 1 :]


FORGERIES: dict[str, tuple[str, Callable[[Records], object]]] = {
    "a pass of the only phase": (ONE_PHASE, let_pass),
    "warnings that complete a run": (ONE_PHASE, warnings_only),
    "a pass of the first phase": ("", let_pass),
    "a pass of the last phase": ("", passed_at_b),
}


@pytest.fixture(params=[*FORGERIES.values()], ids=[*FORGERIES])
def forged(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    """A run that was killed, and whose history then had an evaluation that never was."""
    criteria, forge = request.param
    stage = Stage(tmp_path, criteria) if criteria else Stage(tmp_path)
    left_after(stage, "critique_done", Script(produce="x\n"))
    rewrite(stage.root / "words", forge)
    return stage


def test_a_recorded_pass_that_is_none_completes_no_run(forged: Stage) -> None:
    with forged.resume(Script(produce="x\n", refine="x\n")) as loop:
        events = list(history_of(loop))
    assert loop.state.stop.passed is False
    assert loop.state.stop.reason is not None
    assert loop.state.stop.reason.value not in ("threshold_reached", "no_major_issues")
    assert forged.run_json()["stop"]["passed"] is False
    first = next(event for event in events if event.kind == "evaluation_done")
    assert first.payload["again"] is True
    assert first.payload["evaluation"]["passed"] is False


def test_a_run_whose_recorded_pass_was_none_can_still_pass(forged: Stage) -> None:
    text = GOOD + "delta\n"
    with forged.resume(Script(produce=text, refine=text)) as loop:
        list(history_of(loop))
    assert (loop.state.stop.passed, forged.artifact()) == (True, text)


def test_who_stops_a_run_with_a_recorded_pass_that_is_none_records_no_pass(
    forged: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(forged.project)
    assert main(["loop", "stop", "words"]) == 0
    assert forged.run_json()["stop"]["passed"] is False
    assert forged.run_json()["evaluation"]["passed"] is False


def test_a_run_that_was_stopped_is_not_completed_by_extend(
    forged: Stage, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(forged.project)
    rewrite(forged.root / "words", lambda records: stop(records, "user_stop"))
    more = ["--max-iterations", "2", "--yes", "--evaluator", "core"]
    status = main(["loop", "extend", "words", *more, "--agent", "offline"])
    assert status not in (0, 4)
    told = " ".join(capsys.readouterr().err.split())
    assert "The recorded evaluation does not hold: recorded " in told
    assert "now 0.000 not passed" in told
    assert forged.run_json()["stop"]["passed"] is False


ENDS = {
    "threshold": lambda records: stop(records),
    "warnings": lambda records: stop(records, "no_major_issues"),
    "a person": lambda records: stop(records, "user_stop"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_run_written_as_passed_is_shown_as_not_verified_and_does_not_hold(
    forged: Stage, end: Callable[[Records], None], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(forged.project)
    rewrite(forged.root / "words", end)
    assert main(["loop", "status", "words"]) == 0
    shown = capsys.readouterr().out
    assert "not verified" in shown
    assert "Verify with: pytest-reflex loop verify words" in shown
    main(["loop", "status", "words", "--json"])
    assert json.loads(capsys.readouterr().out)["verified"] is False
    main(["loop", "list", "--json"])
    assert json.loads(capsys.readouterr().out)["loops"][0]["verified"] is False
    assert main(["loop", "verify", "words"]) == 1
    assert "The recorded verdict does not hold: recorded " in capsys.readouterr().out
    assert main(["loop", "resume", "words"]) == 4
    assert "not verified): " not in (said := capsys.readouterr().err)
    assert ", not verified)" in said


def test_the_list_says_that_a_completed_run_is_not_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    stage = Stage(tmp_path)
    stage.play(Script(produce=GOOD))
    monkeypatch.chdir(tmp_path)
    assert main(["loop", "list"]) == 0
    assert capsys.readouterr().out.split("\t")[2] == "completed, not verified"


# What holds, and leaves no trace.


@pytest.fixture
def completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(tmp_path)
    stage.play(Script(produce=GOOD))
    monkeypatch.chdir(tmp_path)
    return stage


def everything(stage: Stage) -> dict[str, tuple[bytes, int]]:
    files = (path for path in stage.root.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize("as_json", [False, True])
def test_an_honest_verdict_holds_and_nothing_is_written(
    as_json: bool, completed: Stage, capsys: Capture
) -> None:
    before = everything(completed)
    assert main(["loop", "verify", "words", *["--json"] * as_json]) == 0
    assert everything(completed) == before
    out = capsys.readouterr().out
    if not as_json:
        assert out.splitlines() == [
            "Loop: words (completed)",
            "Criteria: words (3 rules at phase B, threshold 0.9)",
            "Artifact: adf7157c",
            "Score: 1.000, passed",
            "The recorded verdict holds: passed",
        ]
        return
    found = json.loads(out)
    assert (found["holds"], found["passed"], found["problem"]) == (True, True, "")
    assert found["found"]["score_exact"] == found["recorded"]["score_exact"] == "1/1"


def test_a_verified_run_is_still_a_claim_on_the_disk(completed: Stage, capsys: Capture) -> None:
    assert main(["loop", "verify", "words"]) == 0
    capsys.readouterr()
    main(["loop", "status", "words"])
    assert "Loop: words (completed, not verified)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("criteria", "text", "status"),
    [(ONE_PHASE, "gamma\n", 0), ("", "x\n", 1), ("", "alpha\n", 1)],
    ids=["warnings only", "nothing", "one phase"],
)
def test_a_verdict_that_is_no_pass_can_hold(
    criteria: str, text: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, criteria) if criteria else Stage(tmp_path)
    stage.play(Script(produce=text, refine=text), {"loop.max_iterations": 2})
    monkeypatch.chdir(tmp_path)
    assert main(["loop", "verify"]) == status


def test_the_best_artifact_is_verified_by_the_evaluation_that_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    stage = Stage(tmp_path)
    script = Script(produce=["alpha\n", "x\n", "y\n"], refine=["x\n", "y\n"])
    stage.play(script, {"loop.max_iterations": 3, "loop.blocker_stagnation": 0})
    assert stage.run_json()["stop"]["restored_from"]["iteration"] == 1
    monkeypatch.chdir(tmp_path)
    assert main(["loop", "verify"]) == 1
    assert "The recorded verdict holds: not passed" in capsys.readouterr().out


CHANGES: dict[str, tuple[Callable[[Stage], object], int, str]] = {
    "another artifact": (
        lambda stage: (stage.root / "words/artifact.md").write_text("alpha beta gamma!\n"),
        1,
        "artifact.md is not the artifact that was evaluated",
    ),
    "other rules": (
        lambda stage: stage.criteria.write_text(stage.criteria.read_text() + "\n"),
        10,
        "criteria.yaml was changed",
    ),
    "a conftest.py": (
        lambda stage: (stage.project / "conftest.py").write_text(""),
        14,
        "conftest.py was added",
    ),
    "a lost history": (
        lambda stage: (stage.root / "words/history.jsonl").unlink(),
        4,
        "the history of 'words' is missing",
    ),
    "a damaged history": (
        lambda stage: (stage.root / "words/history.jsonl").write_bytes(b"?\n{}\n"),
        12,
        "history.jsonl is damaged",
    ),
}


@pytest.mark.parametrize(("change", "status", "said"), CHANGES.values(), ids=list(CHANGES))
def test_what_cannot_be_verified_says_why(
    change: Callable[[Stage], object], status: int, said: str, completed: Stage, capsys: Capture
) -> None:
    change(completed)
    assert main(["loop", "verify", "words"]) == status
    found = capsys.readouterr()
    assert said in found.out + found.err


def test_changes_of_the_project_can_be_accepted(completed: Stage, capsys: Capture) -> None:
    (completed.project / "notes.txt").write_text("later\n")
    assert main(["loop", "verify", "words"]) == 14
    assert "notes.txt was added" in capsys.readouterr().err
    assert main(["loop", "verify", "words", "--accept-changes"]) == 0


def test_a_run_that_is_driven_is_not_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    stage = Stage(tmp_path)
    monkeypatch.chdir(tmp_path)
    with stage.begin(Script(produce="x\n")) as loop:
        events = history_of(loop)
        while next(events).kind != "evaluation_done":
            pass
        assert main(["loop", "verify", "words"]) == 11
    assert "another process is running words" in capsys.readouterr().err


def test_a_run_without_an_evaluation_has_nothing_to_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    stage = Stage(tmp_path)
    left_after(stage, "plan_created", Script(produce="x\n"))
    monkeypatch.chdir(tmp_path)
    assert main(["loop", "verify", "words"]) == 4
    assert "loop 'words' has no evaluation that could be verified" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.usefixtures("installed_packages_as_they_are")
@pytest.mark.parametrize("text", [GOOD, "alpha\n", "x\n"], ids=["passes", "switches", "fails"])
def test_a_run_killed_after_an_evaluation_that_holds_goes_on_as_if_nothing_had_been(
    text: str, tmp_path: Path
) -> None:
    limit = {"loop.max_iterations": 1}
    for name in ("unbroken", "killed"):
        (tmp_path / name).mkdir()
    unbroken, stage = Stage(tmp_path / "unbroken"), Stage(tmp_path / "killed")
    told = story(unbroken.play(Script(produce=text, refine=text), limit))
    left_after(stage, "evaluation_done", Script(produce=text), limit)
    with stage.resume(again := Script(produce=text, refine=text)) as loop:
        list(history_of(loop))
    records = read_journal(stage.root / "words/history.jsonl").records
    assert [record["event"] for record in records] == told
    assert stage.run_json()["stop"] == unbroken.run_json()["stop"]
    assert again.asked() == []


OUTSIDE = """\
name: words
rules:
  - {id: a.x.set, description: d, severity: fail, check: {type: executable, command: test "$FLAG"}}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("1", "", "recorded 1.000 passed, now 0.000 not passed (a.x.set pass -> fail)"),
        ("", "1", "recorded 0.000 not passed, now 1.000 passed (a.x.set fail -> pass)"),
    ],
    ids=["worse", "better"],
)
def test_a_check_that_says_something_else_now_counts_as_it_says_now(
    before: str, after: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path, OUTSIDE)
    monkeypatch.setenv("FLAG", before)
    left_after(stage, "evaluation_done", Script(produce=GOOD), {"loop.max_iterations": 1})
    monkeypatch.setenv("FLAG", after)
    notices: list[str] = []
    with stage.resume(Script()) as loop:
        list(history_of(replace(loop, notice=notices.append)))
    state = read_run(stage.root / "words").state
    assert (state.stop.passed, len(state.marks)) == (bool(after), 1)
    assert notices == [f"The recorded evaluation does not hold: {said}"]


def test_an_evaluation_that_fails_when_it_is_verified_ends_as_any_other(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    left_after(stage, "evaluation_done", Script(produce=GOOD))

    class Broken(Script):
        def pytest_reflex_evaluate(self, target: Target) -> None:
            raise RuntimeError("no disk")

    with stage.resume(Broken()) as loop:
        events = list(history_of(loop))
    assert story(events) == ["phase_error", "phase_error", "failed"]
    assert (loop.state.stop.reason, loop.state.stop.passed) == (StopReason.PHASE_ERROR, False)
