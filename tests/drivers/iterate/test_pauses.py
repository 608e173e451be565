"""A limit of the tool pauses a run, and a FAILURE for a person stops it: neither aborts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.model import Bounds, Status
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Reply
from tests.drivers.iterate.project import Project, told
from tests.drivers.iterate.stage import BAD, GOOD, LIMIT, NO, YES, Script, Stage

pytestmark = pytest.mark.variants

Captured = pytest.CaptureFixture[str]
USAGE = Reply(
    text="", agent="tool", error="the tool ran into a limit: resets 9pm (1 try)",
    seconds=2.0, usd=0.5, tokens=10, details={"limited": True},
)  # fmt: skip
BY_EXIT = Reply(
    text="", agent="tool", error="the tool ran into a limit: 429 (6 tries)",
    details={"end": "exit", "exit": 1, "limited": True},
)  # fmt: skip
BY_TIME = Reply(
    text="", agent="tool", error="no answer within 60 s; it kept trying by itself (529)",
    details={"end": "timed out", "limited": True},
)  # fmt: skip


def stage(root: Path, *acts: object, **more: object) -> Stage:
    return Stage(root, Script(acts), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("refused", "told_as"),
    [
        (LIMIT, "You have hit your limit, resets 5pm"),
        (USAGE, "resets 9pm (1 try)"),
        (BY_EXIT, "429 (6 tries)"),
        (BY_TIME, "no answer within 60 s; it kept trying by itself (529)"),
    ],
    ids=["an answer", "a field", "an exit status", "a time-out"],
)
def test_a_limit_leaves_a_run_that_goes_on(tmp_path: Path, refused: Reply, told_as: str) -> None:
    on = stage(tmp_path, GOOD, BAD, refused, bounds=Bounds(max_iterations=9))
    assert on.run() is ExitCode.PHASE_ERROR
    state = on.saved()
    assert state is not None
    assert (state.status, state.iteration) == (Status.INTERRUPTED, 2)
    assert state.consecutive_failures == 1  # that of the iteration before
    assert on.told()[-1] == (
        f"WARNING: Paused: the tool ran into a limit: {told_as} (2 iterations completed, "
        "total: 3.0s). Resume with: pytest-reflex iterate resume build"
    )
    again = on.with_answers(GOOD)
    assert again.run(state) is ExitCode.OK
    assert again.script.asked[0].prompt.startswith("do it 3/9")


def test_what_refused_calls_cost_is_in_the_spend(tmp_path: Path) -> None:
    on = stage(tmp_path, USAGE, bounds=Bounds(max_iterations=9))
    on.run()
    state = on.saved()
    assert state is not None
    assert (state.spend.calls, state.spend.usd, state.spend.tokens) == (1, 0.5, 10)


def test_a_limit_is_no_failed_iteration_however_low_the_threshold(tmp_path: Path) -> None:
    on = stage(tmp_path, LIMIT, bounds=Bounds(max_iterations=0, failure_threshold=1))
    assert on.run() is ExitCode.PHASE_ERROR
    assert not any("consecutive failures" in line for line in on.told())


def test_a_limit_is_waited_for_before_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "limit", "ok")
    config = tmp_path / "pytest-reflex.toml"
    text = config.read_text().replace("tries = 1\n", "tries = 3\nwait = 0.01\n")
    config.write_text(text.replace("tries", "tries"))
    (tmp_path / "agent.sh").write_text(
        (tmp_path / "agent.sh").read_text().replace(", resets 5pm", "")
    )
    assert main(["iterate", "run", "build", "-n", "2"]) == 0
    lines = told(capsys.readouterr().err)
    assert any("waiting 0.01 s, then try 2 of 3" in line for line in lines)
    assert [number for _, number in project.calls()] == ["1", "1", "2"]


def test_a_paused_run_is_shown_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "ok", "limit")
    assert main(["iterate", "run", "build", "-n", "3"]) == 9
    assert (project.state()["status"], project.state()["iteration"]) == ("interrupted", 1)
    capsys.readouterr()
    main(["iterate", "history", "build"])
    assert capsys.readouterr().out.split("\t")[2:4] == ["1", "rate_limit"]
    main(["iterate", "history", "build", "--run", "last", "--json"])
    assert len(json.loads(capsys.readouterr().out)["iterations"]) == 1
    project.plan("ok")
    assert main(["iterate", "resume", "build"]) == 0
    assert [number for _, number in project.calls()] == ["2", "3"]


def test_feedback_waits_for_an_iteration_that_was_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "limit")
    main(["iterate", "run", "build", "-n", "3"])
    main(["iterate", "feedback", "build", "mind the gap"])
    main(["iterate", "resume", "build"])
    assert "mind the gap" in (tmp_path / "prompt").read_text()
    project.plan("ok")
    main(["iterate", "resume", "build", "-n", "1"])
    assert "mind the gap" in (tmp_path / "prompt").read_text()


def needing(root: Path, *acts: object, **more: object) -> Stage:
    return stage(root, *acts, failure=True, **more)


def test_a_failure_for_a_person_stops_the_run(tmp_path: Path) -> None:
    on = needing(tmp_path, GOOD, NO, GOOD, bounds=Bounds(max_iterations=9))
    assert on.run() is ExitCode.WAITING
    assert len(on.script.asked) == 2
    assert on.told()[-1] == (
        "WARNING: Stopped: the tool needs a person: it cannot be done (2 iterations completed, "
        "total: 2.0s). Resume with: pytest-reflex iterate resume build"
    )
    state = on.saved()
    assert state is not None
    assert (state.status, state.consecutive_failures) == (Status.INTERRUPTED, 1)
    again = on.with_answers(YES)
    assert again.run(state) is ExitCode.OK


@pytest.mark.parametrize(
    "bounds",
    [Bounds(max_iterations=1), Bounds(failure_threshold=1), Bounds(max_iterations=0)],
    ids=["the last iteration", "the last failure", "no limit"],
)
def test_it_stops_before_any_other_end(tmp_path: Path, bounds: Bounds) -> None:
    on = needing(tmp_path, NO, bounds=bounds)
    assert on.run() is ExitCode.WAITING
    assert on.saved() is not None


def test_where_the_procedure_does_not_say_so_it_is_a_failed_iteration(tmp_path: Path) -> None:
    on = stage(tmp_path, NO, bounds=Bounds(max_iterations=9))
    assert on.run() is ExitCode.ABORTED
    assert len(on.script.asked) == 3


@pytest.mark.parametrize("procedure", ["build", "fix-tests", "triage"])
def test_built_in_procedures_stop_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, procedure: str
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "no")
    assert main(["iterate", "run", procedure]) == 14
    assert len(project.calls()) == 1
    last = told(capsys.readouterr().err)[-1]
    assert "needs a person: it cannot be done (1 iteration completed" in last


def test_a_procedure_of_ones_own_says_it_in_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "no", more="[iterate.procedures.build]\nfailure = false\n")
    assert main(["iterate", "run", "build"]) == 16
    assert len(project.calls()) == 3


JUDGED = """\
name: words
version: 1
rules:
  - {id: a.x.clear, description: it is clear, severity: fail,
     check: {type: judged, rubric: "Pass: it is clear. Fail: it is not."}}
"""


def test_a_limit_of_the_judge_of_a_gate_pauses_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(JUDGED)
    (tmp_path / "a.md").write_text("text\n")
    jury = "[agents.jury]\ncommand = ['echo', 'You have hit your limit, resets 5pm']\ntries = 1\n"
    gate = "[iterate.gates.words]\ncriteria = 'words.yaml'\nartifacts = ['a.md']\n"
    project = Project(tmp_path, "ok", more=jury + gate)
    assert main(["iterate", "run", "build", "--judge", "jury"]) == 9
    last = told(capsys.readouterr().err)[-1]
    assert last.startswith("WARNING: Paused: the tool ran into a limit: judge jury: ")
    assert (project.state()["iteration"], project.state()["consecutive_failures"]) == (0, 0)
    assert project.state()["spend"]["calls"] >= 2


@pytest.mark.parametrize("threshold", ["1", "3"])
def test_who_resumes_has_decided_and_the_failure_counts_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threshold: str
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "no", "ok")
    begin = ["iterate", "run", "build", "-n", "3", "--failure-threshold", threshold]
    assert main(begin) == 14
    assert project.state()["outcome"] == "person"
    assert main(["iterate", "resume", "build"]) == 0
    assert [number for _, number in project.calls()] == ["1", "2", "3"]


def test_where_no_iteration_is_left_the_last_one_failed_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path, "no")
    assert main(["iterate", "run", "build", "-n", "1"]) == 14
    assert main(["iterate", "resume", "build"]) == 6
    assert len(project.calls()) == 1
