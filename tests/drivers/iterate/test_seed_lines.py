"""What seed 004 says of times, names, dry runs and two programs at once, statement by statement."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.iterate.model import Bounds, IterationGate, Status
from tests.drivers.iterate.project import Project, left_behind, told, untimed
from tests.drivers.iterate.stage import BAD, GOOD, Script, Stage
from tests.faults.driven import wait_until

pytestmark = pytest.mark.variants

Captured = pytest.CaptureFixture[str]
DRY = ("iterate", "run", "build", "--dry-run")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, "ok")


def config(project: Project, text: str) -> None:
    (project.folder / "pytest-reflex.toml").write_text(text)


# A dry run


@pytest.mark.parametrize(("budget", "warned"), [(5, True), (100, True), (100_000, False)])
def test_a_dry_run_warns_of_an_exceeded_token_budget(
    project: Project, capsys: Captured, budget: int, warned: bool
) -> None:
    config(project, f'[iterate]\nagent = "claude"\ntoken_budget = {budget}\n')
    assert main([*DRY]) == 0
    done = capsys.readouterr()
    count = done.out.splitlines()[2].split()[4]
    warning = f"WARNING: Prompt exceeds token budget: {count} > {budget:,}"
    assert told(done.err) == ([warning] if warned else [])
    assert done.out.splitlines()[2] == f"[DRY RUN] Token count: {count} / {budget:,} budget"


@pytest.mark.parametrize(
    ("text", "argv", "shown"),
    [
        ("", (), "agent offline, which takes no prompt: name an AI tool: --agent NAME, or"),
        ("", ("--agent", "python"), "agent python, which takes no prompt: name an AI tool"),
        ("", ("--ai-cmd", "no-such-tool -p"), "no-such-tool -p (not installed: no-such-tool)"),
        ("", ("--ai-cmd", "sh -c $NO_SUCH_NAME"), "sh -c '$NO_SUCH_NAME' (not set: $NO_SUCH_NAME)"),
        ("[agents.x]\ncommand = ['nope']\n", ("--agent", "x"), "nope (not installed: nope)"),
        ("", ("--agent", "cluade"), "nothing: no agent named 'cluade' (did you mean claude?)"),
        (
            "[agents.x]\ncommand = 7\n",
            ("--agent", "x"),
            "nothing: {project}/pytest-reflex.toml:2:11: agents.x.command must be text or a list",
        ),
        ("", ("--agent", "llm"), "nothing: agent 'llm' cannot change files: it only answers (name"),
    ],
    ids=[
        "nobody named one",
        "hooks only",
        "not installed",
        "not set",
        "of the configuration",
        "unknown",
        "a broken table",
        "answers only",
    ],
)
def test_a_dry_run_needs_no_agent(
    project: Project, capsys: Captured, text: str, argv: tuple[str, ...], shown: str
) -> None:
    config(project, text)
    assert main([*DRY, *argv]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = shown.replace("{project}", str(Path.cwd()))
    assert lines[1].startswith(f"[DRY RUN] Would execute with: {shown}")
    assert "## OBSERVE" in lines


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ((), "cannot take the prompt of a procedure"),
        (("--agent", "python"), "cannot take the prompt of a procedure"),
        (("--agent", "cluade"), "no agent named 'cluade' (did you mean claude?)"),
        (("--agent", "answers"), "agent 'answers' cannot change files: it only answers"),
    ],
)
def test_a_run_in_earnest_needs_one(
    project: Project, capsys: Captured, argv: tuple[str, ...], why: str
) -> None:
    config(project, "[agents.answers]\ncommand = 'true'\nedit_options = false\n")
    assert main(["iterate", "run", "build", *argv]) == 4
    assert why in capsys.readouterr().err


# Times


def slow_gates(on: Stage) -> Iterator[str]:
    """Yield trees; a minute passes at each look, as it would for gates."""
    while True:
        on.script.clock[0] += 60.0
        yield str(on.script.clock[0])


def test_the_time_of_an_iteration_is_that_of_its_tool(tmp_path: Path) -> None:
    gates = [IterationGate(name="tests", command="exit 0")]
    on = Stage(tmp_path, Script([GOOD, BAD]), bounds=Bounds(max_iterations=3), gates=gates)
    on.trees = slow_gates(on)
    on.script.seconds = 3.0
    on.run()
    assert [line for line in on.told() if "completed" in line] == [
        f"Iteration {number}/3 completed in 3.0s" for number in (1, 2, 3)
    ]
    assert on.loop is not None
    assert on.loop.state.elapsed == (3.0, 3.0, 3.0)


@pytest.mark.parametrize(("looks", "total"), [(60.0, "6m9s"), (0.0, "9.0s"), (3600.0, "6h0m9s")])
def test_the_total_counts_from_the_start(tmp_path: Path, looks: float, total: str) -> None:
    on = Stage(tmp_path, Script([GOOD]), bounds=Bounds(max_iterations=3))

    def trees() -> Iterator[str]:
        while True:
            on.script.clock[0] += looks
            yield str(on.script.clock[0])

    on.trees = trees()
    on.script.seconds = 3.0
    on.run()
    assert on.told()[-1] == f"Reached max iterations: 3 (total: {total})"


def test_the_total_of_a_resumed_run_counts_from_its_start(tmp_path: Path) -> None:
    on = Stage(tmp_path, Script([GOOD]), bounds=Bounds(max_iterations=3))
    on.script.clock[0] = 7200.0
    began = replace(on.fresh(), iteration=2, elapsed=(30.0, 40.0), status=Status.RUNNING)
    on.run(began)
    assert on.told()[-1] == "Reached max iterations: 3 (total: 2h0m1s)"


@pytest.mark.parametrize("start", ["0001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"])
def test_a_start_that_cannot_be_is_not_counted_from(tmp_path: Path, start: str) -> None:
    on = Stage(tmp_path, Script([GOOD]), bounds=Bounds(max_iterations=3))
    began = replace(on.fresh(), iteration=2, elapsed=(30.0, 40.0), started_at=start)
    on.run(began)
    assert on.told()[-1] == "Reached max iterations: 3 (total: 1m11s)"


# Lines


def test_the_limit_is_told_without_a_suffix(project: Project, capsys: Captured) -> None:
    project.plan("ok", "fail")
    assert main(["iterate", "run", "build", "-n", "2"]) == 6
    assert untimed(capsys.readouterr().err)[-1] == "Reached max iterations: 2 (total: _)"


def test_gates_that_failed_are_named_and_their_reasons_stand_below(
    project: Project, capsys: Captured
) -> None:
    gates = "".join(
        f'[iterate.gates.{name}]\ncommand = "{command}"\n'
        for name, command in (
            ("lint", "echo 3 errors; exit 1"),
            ("fine", "exit 0"),
            ("tests", "kill -9 $$"),
        )
    )
    Project(project.folder, "ok", more=gates)
    main(["iterate", "run", "build", "-n", "1"])
    lines = untimed(capsys.readouterr().err)
    assert lines[2:6] == [
        "WARNING: Quality gates failed: lint, tests",
        "    | lint: exit status 1: 3 errors",
        "    | tests: it was ended by SIGKILL",
        "    | consecutive failures: 1/3",
    ]


# Two runs in a second


def busy_seconds(project: Project, numbers: tuple[str, ...] = ("",)) -> None:
    """Have each second of the next minutes a log of another run."""
    folder = project.folder / ".rooda/log/build"
    folder.mkdir(parents=True)
    now = datetime.now(UTC)
    for second in range(300):
        for number in numbers:
            stamp = f"{now + timedelta(seconds=second):%Y%m%dT%H%M%SZ}{number}"
            (folder / f"{stamp}.jsonl").write_text('{"event": "started"}\n')


def logs_of_runs(project: Project) -> list[Path]:
    logs = (project.folder / ".rooda/log/build").glob("*.jsonl")
    return [log for log in logs if len(log.read_text().splitlines()) > 1]


@pytest.mark.parametrize(
    ("taken", "suffix"), [(("",), "-2"), (("", "-2"), "-3"), (("", "-3"), "-2")]
)
def test_two_runs_that_begin_in_one_second_have_two_logs(
    project: Project, taken: tuple[str, ...], suffix: str
) -> None:
    busy_seconds(project, taken)
    main(["iterate", "run", "build", "-n", "1"])
    (log,) = logs_of_runs(project)
    assert log.stem.endswith(f"Z{suffix}")
    assert log.read_text().count('"started"') == 1


def test_such_a_run_is_resumed_in_its_own_log(project: Project, capsys: Captured) -> None:
    busy_seconds(project)
    project.plan("ok", "fail")
    main(["iterate", "run", "build", "-n", "3", "--failure-threshold", "1"])
    (log,) = logs_of_runs(project)
    assert project.state()["log_name"] == log.stem
    capsys.readouterr()
    main(["iterate", "status", "build", "--json"])
    assert json.loads(capsys.readouterr().out)["log"] == str(log)
    project.plan("ok")
    assert main(["iterate", "resume", "build", "--reset-failures"]) == 0
    assert logs_of_runs(project) == [log]
    capsys.readouterr()
    main(["iterate", "history", "build", "--run", log.stem, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [row["iteration"] for row in found["iterations"]] == [1, 2, 3]


def test_a_run_alone_in_its_second_keeps_no_name(project: Project) -> None:
    project.plan("fail")
    main(["iterate", "run", "build"])
    assert "log_name" not in project.state()


@pytest.mark.parametrize("name", ["../../x-2", "a/b-2", "x", "", 7, "x-0"])
def test_a_name_of_a_log_that_is_none_is_not_followed(project: Project, name: object) -> None:
    left_behind(project, "interrupted", done=1, limit=2)
    state = project.state() | {"log_name": name}
    project.state_file.write_text(json.dumps(state))
    assert main(["iterate", "resume", "build"]) == 0
    assert [log.name for log in logs_of_runs(project)] == ["20260206T100000Z.jsonl"]


# Another program


def test_a_resume_of_a_running_state_says_that_another_program_may_be_at_work(
    project: Project, capsys: Captured
) -> None:
    left_behind(project, "running")
    assert main(["iterate", "resume", "build"]) == 0
    lines = told(capsys.readouterr().err)
    assert lines[2] == (
        "WARNING: The state says that it is running, but no process holds its lock: it was killed, "
        "or another program is at work on it; end that one first"
    )


@pytest.mark.parametrize("status", ["interrupted", "paused"])
def test_a_resume_of_another_state_says_nothing(
    project: Project, capsys: Captured, status: str
) -> None:
    left_behind(project, status)
    main(["iterate", "resume", "build"])
    assert "another program" not in capsys.readouterr().err


def test_a_run_beside_a_running_state_is_refused_with_the_same_doubt(
    project: Project, capsys: Captured
) -> None:
    left_behind(project, "running")
    assert main(["iterate", "run", "build"]) == 4
    error = capsys.readouterr().err
    assert "a run of build is marked as running after 5 iterations; no process" in error
    assert "another program is at work on it" in error
    assert main(["iterate", "run", "build", "-n", "1", "--fresh"]) == 0
    assert "another program is at work on it" in capsys.readouterr().err


# A signal that was ignored from the start


@pytest.mark.long
def test_a_job_that_ignores_ctrl_c_from_the_start_is_ended_by_sigterm(tmp_path: Path) -> None:
    project = Project(tmp_path, "hold", "tree")
    command = [sys.executable, "-m", "pytest_reflex", "iterate", "run", "build", "-n", "9"]
    job = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]  # as sh starts what ends with &
    with subprocess.Popen(job, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        project.wait_for("held")
        process.send_signal(signal.SIGINT)
        project.go()
        project.wait_for("hanging")  # it went on to the next iteration
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "Interrupted. State saved." in err
    assert project.state()["iteration"] == 1
    wait_until(lambda: project.state()["status"] == "interrupted")
