"""Seed 004 through the door that users use: its acceptance criteria and its edge cases."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.project import Project, left_behind, told, untimed

GATE = '[iterate.gates.tests]\ncommand = "test -e mended"\n'
Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, "ok")


@pytest.fixture
def iterate(project: Project, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a verb and returns its status and its lines, untimed."""

    def run(*argv: str) -> tuple[int, list[str]]:
        capsys.readouterr()
        status = main(["iterate", *argv])
        return status, untimed(capsys.readouterr().err)

    return run


def test_the_loop_executes_until_max_iterations(project: Project, iterate: Run) -> None:
    assert iterate("run", "build", "--max-iterations", "3") == (
        0,
        [
            "Starting procedure: build (max 3 iterations)",
            "Iteration 1/3 starting...",
            "Iteration 1/3 completed in _",
            "Iteration 2/3 starting...",
            "Iteration 2/3 completed in _",
            "Iteration 3/3 starting...",
            "Iteration 3/3 completed in _",
            "Reached max iterations: 3 (total: _)",
        ],
    )
    assert not project.state_file.exists()


def test_the_loop_executes_until_the_failure_threshold(project: Project, iterate: Run) -> None:
    project.plan("ok", "ok", "ok", "fail")
    status, lines = iterate("run", "build", "--max-iterations", "10")
    assert status == 16
    assert lines.count("    | boom") == 3  # below each warning: what the tool said last
    assert [line for line in lines if line != "    | boom"][6:] == [
        "Iteration 3/10 completed in _",
        "Iteration 4/10 starting...",
        "WARNING: AI CLI failed (exit 1), consecutive failures: 1/3",
        "Iteration 4/10 completed in _",
        "Iteration 5/10 starting...",
        "WARNING: AI CLI failed (exit 1), consecutive failures: 2/3",
        "Iteration 5/10 completed in _",
        "Iteration 6/10 starting...",
        "WARNING: AI CLI failed (exit 1), consecutive failures: 3/3",
        "ERROR: Aborting after 3 consecutive failures (6 iterations completed, total: _)",
    ]
    assert project.state()["status"] == "aborted"


def test_each_iteration_is_a_process_of_its_own(project: Project, iterate: Run) -> None:
    iterate("run", "build", "-n", "3")
    assert len({pid for pid, _ in project.calls()}) == 3


def test_the_counter_counts_from_0_inside_and_from_1_outside(
    project: Project, iterate: Run
) -> None:
    project.plan("ok", "fail")
    _, lines = iterate("run", "build", "-n", "9", "--failure-threshold", "1")
    assert project.state()["iteration"] == 2
    assert [line for line in lines if "starting" in line] == [
        "Iteration 1/9 starting...",
        "Iteration 2/9 starting...",
    ]
    assert [number for _, number in project.calls()] == ["1", "2"]


def test_max_iterations_of_0_means_unlimited(project: Project, iterate: Run) -> None:
    project.plan(*["change"] * 7, "fail")
    status, lines = iterate("run", "build", "--max-iterations", "0")
    assert status == 16
    assert lines[0] == "Starting procedure: build (unlimited iterations)"
    assert "Iteration 7 completed in _" in lines
    assert len(project.calls()) == 10


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "flags", "rounds"),
    [
        ("", (), 5),
        ("[iterate.procedures.build]\nmax_iterations = 2\n", (), 2),
        ("[iterate.procedures.build]\nmax_iterations = 2\n", ("-n", "1"), 1),
        ("[iterate.procedures.build]\nmax_iterations = 2\n", ("-n", "04"), 4),
    ],
    ids=["default", "procedure", "flag", "leading zero"],
)
def test_max_iterations_defaults_to_the_procedure_then_the_configuration(
    project: Project, iterate: Run, more: str, flags: tuple[str, ...], rounds: int
) -> None:
    Project(project.folder, "ok", more=more)
    assert iterate("run", "build", *flags)[0] == 0
    assert len(project.calls()) == rounds


@pytest.mark.parametrize("value", ["0x5", "1e3", "-1", "3.0", "٣", "", "many"])
def test_b075_a_limit_that_cannot_be_read_is_never_unlimited(
    project: Project, iterate: Run, value: str
) -> None:
    status, lines = iterate("run", "build", f"--max-iterations={value}")
    assert status == 4
    assert "--max-iterations" in lines[0]
    assert not project.calls()
    assert not (project.folder / ".rooda").exists()


def test_progress_is_displayed_between_iterations(iterate: Run) -> None:
    _, lines = iterate("run", "build", "-n", "2")
    assert "Iteration 1/2 completed in _" in lines


def test_the_exit_status_is_captured_and_checked(project: Project, iterate: Run) -> None:
    project.plan("fail", "killed", "ok")
    _, lines = iterate("run", "build", "-n", "3")
    failed = [line for line in lines if line.startswith("WARNING")]
    assert failed == [
        "WARNING: AI CLI failed (exit 1), consecutive failures: 1/3",
        "WARNING: AI CLI failed (signal 9), consecutive failures: 2/3",
    ]


def test_the_failure_threshold_can_be_configured(project: Project, iterate: Run) -> None:
    project.plan("fail")
    assert iterate("run", "build", "--failure-threshold", "2")[0] == 16
    assert len(project.calls()) == 2
    assert project.state()["failure_threshold"] == 2


def test_a_failure_threshold_below_1_is_refused(project: Project, iterate: Run) -> None:
    status, lines = iterate("run", "build", "--failure-threshold", "0")
    assert status == 4
    assert "--failure-threshold '0'" in lines[0]


def test_a_single_failure_is_forgotten_by_the_next_success(project: Project, iterate: Run) -> None:
    project.plan("fail", "fail", "ok", "fail", "fail", "ok")
    assert iterate("run", "build", "-n", "6")[0] == 0


def test_the_state_is_persisted_after_each_iteration(project: Project, iterate: Run) -> None:
    gate = (
        '[iterate.gates.keep]\ncommand = "cp .rooda/state/build.json seen-$PYTEST_REFLEX_ITERATION"'
    )
    Project(project.folder, "ok", more=gate)
    iterate("run", "build", "-n", "3")
    seen = [json.loads((project.folder / f"seen-{n}").read_text()) for n in (1, 2, 3)]
    assert [state["iteration"] for state in seen] == [0, 1, 2]
    assert {state["status"] for state in seen} == {"running"}
    assert [len(state["elapsed_per_iteration"]) for state in seen] == [0, 1, 2]


def test_resume_continues_from_the_persisted_state(project: Project, iterate: Run) -> None:
    project.plan("ok", "fail")
    iterate("run", "build", "-n", "4", "--failure-threshold", "1", "--context", "mind the gap")
    project.plan("ok")
    status, lines = iterate("resume", "build", "--reset-failures")
    assert status == 0
    assert lines[:3] == [
        "Resuming procedure: build from iteration 3 (max 4)",
        "Previous session: 2 iterations completed in _",
        "Iteration 3/4 starting...",
    ]
    assert [number for _, number in project.calls()] == ["3", "4"]
    assert "mind the gap" in (project.folder / "prompt").read_text()


def test_a_dry_run_displays_the_prompt_and_runs_nothing(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(project.folder.rglob("*"))
    assert main(["iterate", "run", "build", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("[DRY RUN] Procedure: build\n[DRY RUN] Would execute with: sh agent.sh\n")
    assert out.index("## OBSERVE") < out.index("## ORIENT") < out.index("## DECIDE")
    assert err == ""
    assert sorted(project.folder.rglob("*")) == before


def test_a_prompt_over_the_token_budget_is_warned_of_and_piped(
    project: Project, iterate: Run
) -> None:
    config = (project.folder / "pytest-reflex.toml").read_text()
    tight = config.replace("[iterate]\n", "[iterate]\ntoken_budget = 5\n")
    (project.folder / "pytest-reflex.toml").write_text(tight)
    status, lines = iterate("run", "build", "-n", "1")
    assert status == 0
    assert any(line.startswith("WARNING: Prompt exceeds token budget: ") for line in lines)
    assert len(project.calls()) == 1


def test_structured_logging_has_timing_phase_number_and_outcome(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.plan("ok", "fail")
    main(["iterate", "run", "build", "-n", "2", "--log-format", "json"])
    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    done = [row for row in rows if row["event"] == "iteration_completed"]
    assert [(row["iteration"], row["outcome"], row["phase"]) for row in done] == [
        (1, "success", "agent"),
        (2, "failure", "agent"),
    ]
    assert all(row["seconds"] >= 0 for row in done)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_sigint_and_sigterm_shut_down_gracefully(tmp_path: Path, number: int) -> None:
    project = Project(tmp_path, "ok", "ok", "tree")
    with project.start("run", "build") as process:
        project.wait_for("hanging")
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == 128 + number
    resume = "Interrupted. State saved. Resume with: pytest-reflex iterate resume build"
    assert told(err)[-1] == resume
    state = project.state()
    assert (state["status"], state["iteration"]) == ("interrupted", 2)


def test_quality_gates_run_after_the_tool_and_count_as_failures(
    project: Project, iterate: Run
) -> None:
    Project(project.folder, "ok", more=GATE)
    status, lines = iterate("run", "build", "-n", "9")
    assert status == 16
    assert lines[-4:-1] == [
        "WARNING: Quality gates failed: tests",
        "    | tests: exit status 1",
        "    | consecutive failures: 3/3",
    ]
    assert len(project.calls()) == 3


def test_max_iterations_1_is_a_single_iteration(project: Project, iterate: Run) -> None:
    status, lines = iterate("run", "build", "-n", "1")
    assert (status, len(project.calls())) == (0, 1)
    assert lines[-1] == "Reached max iterations: 1 (total: _)"


def test_a_state_file_with_interrupted_is_not_begun_anew(project: Project, iterate: Run) -> None:
    left_behind(project, "interrupted")
    status, lines = iterate("run", "build")
    assert status == 4
    assert "iterate resume build" in lines[0]
    assert "--fresh" in lines[0]
    assert not project.calls()


def test_a_state_file_with_interrupted_is_forgotten_where_that_is_said(
    project: Project, iterate: Run
) -> None:
    left_behind(project, "interrupted")
    assert iterate("run", "build", "-n", "2", "--fresh")[0] == 0
    assert [number for _, number in project.calls()] == ["1", "2"]


@pytest.mark.parametrize("status", ["running", "interrupted", "paused"])
def test_resume_after_iteration_5_of_10_goes_on_with_6(
    project: Project, iterate: Run, status: str
) -> None:
    left_behind(project, status)
    code, lines = iterate("resume", "build")
    assert code == 0
    assert lines[0] == "Resuming procedure: build from iteration 6 (max 10)"
    assert [number for _, number in project.calls()] == ["6", "7", "8", "9", "10"]


def test_the_previous_session_is_told(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    left_behind(project, "interrupted")
    main(["iterate", "resume", "build"])
    lines = told(capsys.readouterr().err)
    assert lines[1] == "Previous session: 5 iterations completed in 4m30s"


def test_a_state_file_corrupted_is_kept_aside_and_begun_anew(
    project: Project, iterate: Run
) -> None:
    project.state_file.parent.mkdir(parents=True)
    project.state_file.write_bytes(b'{"iteration": 3, "max_it')
    status, lines = iterate("run", "build", "-n", "1")
    assert status == 0
    assert "build.json.corrupt-1" in lines[1]
    kept = project.state_file.with_name("build.json.corrupt-1")
    assert kept.read_bytes() == b'{"iteration": 3, "max_it'


def test_resume_of_a_corrupt_state_is_refused(project: Project, iterate: Run) -> None:
    project.state_file.parent.mkdir(parents=True)
    project.state_file.write_bytes(b"{")
    status, lines = iterate("resume", "build")
    assert status == 12
    assert "holds no state of an iteration loop" in lines[0]


def test_b083_an_aborted_run_is_resumed_where_its_failures_are_reset(
    project: Project, iterate: Run
) -> None:
    project.plan("fail")
    iterate("run", "build", "-n", "4")
    project.plan("ok")
    status, lines = iterate("resume", "build")
    assert status == 4
    assert "--reset-failures" in lines[0]
    assert iterate("resume", "build", "--reset-failures")[0] == 0
    assert [number for _, number in project.calls()] == ["4"]


def test_a_run_after_an_aborted_one_begins_anew(project: Project, iterate: Run) -> None:
    project.plan("fail")
    iterate("run", "build")
    project.plan("ok")
    assert iterate("run", "build", "-n", "1")[0] == 0


@pytest.mark.parametrize("verb", ["run", "resume"])
@pytest.mark.parametrize("name", ["buil", "../build", "BUILD", "build.json", "/etc/passwd", ""])
def test_a_name_of_no_procedure_is_looked_for_nowhere(
    project: Project, iterate: Run, verb: str, name: str
) -> None:
    status, lines = iterate(verb, name)
    assert status == 4
    assert lines[0].startswith(f"pytest-reflex: there is no procedure {name!r}")
    assert not (project.folder / ".rooda").exists()


def test_nothing_to_resume_is_said(iterate: Run) -> None:
    status, lines = iterate("resume", "build")
    assert status == 4
    assert "nothing to resume for build" in lines[0]


def test_a_resume_can_raise_the_limit(project: Project, iterate: Run) -> None:
    left_behind(project, "interrupted")
    assert iterate("resume", "build", "-n", "6")[0] == 0
    assert len(project.calls()) == 1


def test_a_secret_in_the_command_is_kept_by_name_only(
    project: Project, iterate: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_API_KEY", "s3cr3t-value-of-the-key")
    (project.folder / "keyed.sh").write_text('cat > prompt; echo "$1" > key; exit 1\n')
    command = "sh keyed.sh s3cr3t-value-of-the-key"
    iterate("run", "build", "--ai-cmd", command, "--failure-threshold", "1")
    assert (project.folder / "key").read_text() == "s3cr3t-value-of-the-key\n"
    assert project.state()["options"] == {"ai_cmd": "sh keyed.sh ${TOOL_API_KEY}"}


def test_a_tool_that_clears_everything_away_loses_no_count(project: Project, iterate: Run) -> None:
    project.plan("ok", "clear", "fail")
    assert iterate("run", "build", "-n", "9", "--failure-threshold", "2")[0] == 16
    assert (project.state()["iteration"], project.state()["consecutive_failures"]) == (4, 2)
    assert len([*(project.folder / ".rooda/log/build").iterdir()]) == 1


@pytest.mark.parametrize("flag", ["-n", "--failure-threshold", "--unchanged", "--timeout"])
@pytest.mark.parametrize("number", ["1000000000001", "9" * 5000], ids=["one more", "digits"])
def test_a_bound_that_no_state_can_hold_is_refused(
    project: Project, iterate: Run, flag: str, number: str
) -> None:
    status, lines = iterate("run", "build", flag, number)
    assert status == 4
    assert re.search(r"expected a whole number from [01] to 1000000000000\b", lines[0])
    assert not project.calls()


def test_the_highest_bound_is_read_back(project: Project, iterate: Run) -> None:
    project.plan("fail")
    highest = ("-n", "1000000000000", "--failure-threshold", "2")
    assert iterate("run", "build", *highest)[0] == 16
    assert iterate("resume", "build", "--reset-failures")[0] == 16
    assert project.state()["max_iterations"] == 1000000000000
