"""What a run has spent is shown beside its budget, and a budget that cannot hold is reported
first.
"""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.model.run import Spend
from pytest_reflex.reports.run_lines import budget_text
from tests.drivers.iterate.project import Project, left_behind, told
from tests.drivers.iterate.test_history import PAID, PAYING
from tests.faults.driven import wait_until

pytestmark = pytest.mark.variants

Captured = pytest.CaptureFixture[str]
QUIET = "cost unknown: the budget in usd cannot be held; "
BOTH = "max_iterations, wall_time can"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "payer.sh").write_text(PAYING)
    return Project(tmp_path, "ok", more=PAID)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--budget", "2"), f"{QUIET}{BOTH}"),
        (("--budget", "usd=2,calls=9"), f"{QUIET}calls, max_iterations, wall_time can"),
        (("--budget", "tokens=5,usd=1"),
         f"cost and tokens unknown: the budget in usd and tokens cannot be held; {BOTH}"),
        (("--budget", "2", "-n", "0", "--no-caps", "--failure-threshold", "1"),
         f"{QUIET}no other limit is set"),
        (("--budget", "2", "-n", "0"), f"{QUIET}wall_time, unchanged can"),
    ],
)  # fmt: skip
def test_a_budget_that_cannot_hold_is_told_once_before_the_first_iteration(
    project: Project, argv: tuple[str, ...], said: str, capsys: Captured
) -> None:
    project.plan("ok", "fail")
    main(["iterate", "run", "build", *argv])
    lines = told(capsys.readouterr().err)
    assert lines.count(f"WARNING: {said}") == 1
    first = next(place for place, line in enumerate(lines) if line.startswith("Iteration 1"))
    assert lines.index(f"WARNING: {said}") < first


@pytest.mark.parametrize(
    ("argv", "more"),
    [
        (("--budget", "calls=9,seconds=600"), ""),
        ((), ""),
        (("--budget", "9,tokens=9000", "--agent", "payer"), ""),
    ],
    ids=["calls and seconds", "no budget", "a tool that reports both"],
)
def test_a_budget_that_holds_is_not_warned_of(
    project: Project, argv: tuple[str, ...], more: str, capsys: Captured
) -> None:
    main(["iterate", "run", "build", "-n", "1", *argv])
    assert "cannot be held" not in capsys.readouterr().err


def test_a_budget_of_the_configuration_is_looked_at_too(project: Project, capsys: Captured) -> None:
    config = project.folder / "pytest-reflex.toml"
    config.write_text(config.read_text().replace("[agents.", "budget = {usd = 1}\n[agents.", 1))
    main(["iterate", "run", "build", "-n", "1"])
    assert f"{QUIET}{BOTH}" in capsys.readouterr().err
    main(["iterate", "clean", "--all", "--yes"])
    project.state_file.parent.rmdir()
    left_behind(project, "interrupted")
    main(["iterate", "resume", "build"])
    assert f"{QUIET}{BOTH}" in capsys.readouterr().err


def test_a_tool_that_fails_to_report_its_cost_is_told_behind_that(
    project: Project, capsys: Captured
) -> None:
    main(["iterate", "run", "build", "-n", "4", "--budget", "9", "--agent", "payer"])
    lines = told(capsys.readouterr().err)
    warning = f"WARNING: {QUIET}{BOTH}"
    assert lines.count(warning) == 1
    assert lines.index(warning) > lines.index("Iteration 3/4 starting...")


@pytest.mark.parametrize(
    ("agent", "budget", "spent", "shown"),
    [
        ("script", "calls=2", "2 calls, ", "calls 2 of 2"),
        ("payer", "usd=0.5", "2 calls, ", "usd 0.5 of 0.5"),
        ("payer", "tokens=300,usd=9", ", $0.5000, 300 tokens", "tokens 300 of 300, usd 0.5 of 9"),
        ("script", "calls=2,usd=1", ", unknown cost", "calls 2 of 2, usd unknown of 1"),
    ],
)
def test_the_status_has_what_was_spent_and_the_budget(
    project: Project, agent: str, budget: str, spent: str, shown: str, capsys: Captured
) -> None:
    assert main(["iterate", "run", "build", "--agent", agent, "--budget", budget]) == 8
    capsys.readouterr()
    main(["iterate", "status", "build"])
    rows = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    assert spent in rows["Spent"]
    assert rows["Budget"].strip() == shown
    main(["iterate", "status", "build", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["spend"]["calls"] == 2
    assert [f"{key}={value:g}" for key, value in found["budget"].items()] == budget.split(",")


@pytest.mark.parametrize(
    ("flags", "running"),
    [
        ((), []),
        (("-v",), ["$0.2500, 100 tokens", "$0.5000, 300 tokens"]),
    ],
)
def test_what_was_paid_is_told_with_each_iteration_and_at_the_end(
    project: Project, flags: tuple[str, ...], running: list[str], capsys: Captured
) -> None:
    main(["iterate", "run", "build", "-n", "2", "--agent", "payer", *flags])
    lines = told(capsys.readouterr().err)
    each = [line for line in lines if line.startswith("Spent in iteration")]
    assert [line.rpartition(" s, ")[2] for line in each] == running
    assert lines[-2].startswith("Spent: 2 calls, ")
    assert lines[-2].endswith("$0.5000, 300 tokens")


def test_a_tool_that_reports_no_cost_has_no_line_of_it(project: Project, capsys: Captured) -> None:
    main(["iterate", "run", "build", "-n", "1", "-v"])
    assert "Spent" not in capsys.readouterr().err


def test_of_some_calls_the_cost_may_be_unknown() -> None:
    spend = Spend(calls=3, usd=0.5, unknown=1)
    assert budget_text({"usd": 2, "calls": 9}, spend) == (
        "usd 0.5 (unknown for 1 call) of 2, calls 3 of 9"
    )
    assert budget_text({"usd": 2}, Spend()) == "usd 0 of 2"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_status_has_feedback_that_waits(
    project: Project, number: int, capsys: Captured
) -> None:
    left_behind(project, "interrupted")
    for each in range(number):
        main(["iterate", "feedback", "build", f"text {each}"])
    capsys.readouterr()
    main(["iterate", "status", "build"])
    messages = "1 message" if number == 1 else f"{number} messages"
    assert f"Feedback: {messages} for the next iteration\n" in capsys.readouterr().out
    main(["iterate", "status", "build", "--json"])
    assert json.loads(capsys.readouterr().out)["feedback"] == [f"text {n}" for n in range(number)]


def watching(project: Project, *argv: str) -> subprocess.Popen[str]:
    import sys

    return subprocess.Popen(
        [sys.executable, "-m", "pytest_reflex", "iterate", "status", *argv],
        cwd=project.folder, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("argv", [("build", "--watch", "0.1"), ("--watch", "build"), ("--watch",)])
def test_who_watches_sees_each_change_until_nobody_drives_it(
    project: Project, argv: tuple[str, ...]
) -> None:
    project.plan("ok", "hold")
    driver = project.start("run", "build", "-n", "9")
    wait_until(lambda: len(project.calls()) == 2)
    with watching(project, *argv) as watcher:
        assert watcher.stdout is not None
        assert "build" in watcher.stdout.readline()
        driver.send_signal(signal.SIGINT)
        driver.communicate()
        rest = watcher.stdout.read()
    assert watcher.returncode == 0
    assert "interrupted" in rest


@pytest.mark.long
def test_with_json_who_watches_gets_the_end_only(project: Project) -> None:
    project.plan("hold")
    driver = project.start("run", "build", "-n", "9")
    wait_until(lambda: len(project.calls()) == 1)
    with watching(project, "build", "--watch", "--json") as watcher:
        assert main(["iterate", "stop", "--now", "--wait", "60"]) == 0
        out, _ = watcher.communicate()
    driver.communicate()
    assert json.loads(out)["status"] == "interrupted"


@pytest.mark.parametrize("word", ["0", "nan", "0.05"])
def test_a_pause_that_is_none_is_refused(project: Project, word: str, capsys: Captured) -> None:
    assert main(["iterate", "status", "build", "--watch", word]) == 4
    assert f"--watch {word}: expected at least 0.1 seconds" in capsys.readouterr().err
