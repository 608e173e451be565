"""The driver of docs/how-to/write-a-driver.md has what every driver has, without a line for it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.lease import RUN_DIR
from tests.docs.pages import ROOT, blocks_of
from tests.faults.driven import wait_until
from tests.process.zoo import gone_within, living_with

pytestmark = [pytest.mark.long, pytest.mark.variants]

PAGE = ROOT / "docs/how-to/write-a-driver.md"
CODE = next(b.text for b in blocks_of(PAGE.read_text("utf-8")) if b.title == "until_green.py")
TOOL = """\
cat > prompt.txt
echo x >> calls
if [ -e stubborn ]; then trap '' TERM INT; fi
while [ -e hold-tool ]; do touch held; sleep 0.05; done
sed -i '0,/TODO/{/TODO/d}' note.txt
echo '{"text": "done", "usd": 0.5}'
"""
CONFIG = """\
agent = "tool"
[agents.tool]
command = ["sh", "tool.sh"]
grace = 0.5
"""
PRICED = 'answer = "json:text"\ncost = "json:usd"\n'
COMMAND = "while [ -e hold-check ]; do touch held; sleep 0.05; done; ! grep TODO note.txt"
NEW = ("run", "demo", "--var", f"command={COMMAND}")


class Program:
    """A folder with the driver of the page, and a note with three things to do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in {
            "until_green.py": CODE,
            "tool.sh": TOOL,
            "pytest-reflex.toml": CONFIG + PRICED,
            "note.txt": "TODO\n" * 3,
        }.items():
            (folder / name).write_text(text)

    def start(self, *argv: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "until_green.py", *argv],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": os.devnull},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *argv: str) -> tuple[int, str, str]:
        process = self.start(*argv)
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in err
        return process.returncode, out, err

    def held(self, who: str, *more: str) -> subprocess.Popen[str]:
        """Return a run in which the tool or the check waits."""
        (self.folder / f"hold-{who}").touch()
        process = self.start(*NEW, *more)
        wait_until((self.folder / "held").exists, 30)
        return process

    def let_go(self) -> None:
        for path in self.folder.glob("h*ld*"):
            path.unlink()

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            (self.folder / ".pytest-reflex/runs/until-green/demo.json").read_text()
        )
        return found

    def calls(self) -> int:
        path = self.folder / "calls"
        return len(path.read_text().split()) if path.exists() else 0

    def everything_has_ended(self) -> bool:
        folder = self.folder / ".pytest-reflex/runs/until-green/demo"
        mark = f"{RUN_DIR}={folder}".encode()
        return gone_within(60, lambda: [*living_with(mark)])


def ended(process: subprocess.Popen[str]) -> int:
    """Wait for a process and return its exit status."""
    process.communicate(timeout=60)
    return process.returncode


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    found = Program(tmp_path)
    yield found
    found.let_go()


def test_the_example_is_short_and_has_nothing_of_its_own_for_what_the_frame_does() -> None:
    assert len(CODE.splitlines()) < 120
    words = {
        *("signal", "lock", "flock", "lease", "KeyboardInterrupt", "SIGINT", "SIGTERM", "kill"),
        *("limit", "limits", "budget", "max_iterations", "wall_time", "time", "timeout"),
        *("status", "event", "events", "resume", "open", "write_text", "json", "os", "threading"),
    }
    code = re.sub(r'""".*?"""|"[^"]*"', "", CODE, flags=re.DOTALL)
    assert not words & set(re.findall(r"\w+", code))


def test_a_run_goes_to_its_end(program: Program) -> None:
    status, out, _ = program.run(*NEW, "--json", "--events", "log.jsonl")
    assert status == 0
    logged = [json.loads(line) for line in (program.folder / "log.jsonl").read_text().splitlines()]
    events = [json.loads(line) for line in out.splitlines()]
    assert {(event["driver"], event["run"]) for event in events} == {("until-green", "demo")}
    assert [event["kind"] for event in events] == [
        "started", "step", *["acted", "step", "iteration"] * 3, "stopped"
    ]  # fmt: skip
    assert [event["kind"] for event in logged] == [event["kind"] for event in events]
    assert (program.calls(), program.state()["spend"]["usd"]) == (3, 1.5)
    assert "ended" in program.run("resume", "demo")[2]


@pytest.mark.parametrize("who", ["tool", "check"])
def test_a_run_that_is_killed_goes_on_with_the_step_at_work(program: Program, who: str) -> None:
    process = program.held(who)
    process.kill()
    process.communicate()
    assert (program.state()["status"], program.state()["iteration"]) == ("running", 0)
    assert program.everything_has_ended()
    program.let_go()
    calls = program.calls()
    _, out, _ = program.run("status", "demo")
    assert "interrupted" in out
    assert program.run("resume", "demo")[0] == 0
    assert program.calls() == calls + 3
    state = program.state()
    lost = int(who == "tool")  # the call that was under way was paid
    assert (state["status"], state["iteration"]) == ("completed", 3)
    assert (state["spend"]["calls"], state["spend"]["unknown_cost_calls"]) == (3 + lost, lost)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("who", ["tool", "check"])
def test_a_signal_ends_all_and_leaves_a_run_that_goes_on(
    program: Program, who: str, name: str
) -> None:
    process = program.held(who)
    number = signal.Signals[name]
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "go on with: resume demo" in err
    assert "Traceback" not in err
    assert program.everything_has_ended()
    state, paid = program.state(), int(who == "tool")  # an interrupted call was paid
    assert (state["status"], state["spend"]["calls"]) == ("interrupted", paid)
    assert state["spend"]["unknown_cost_calls"] == paid
    program.let_go()
    assert program.run("resume", "demo")[0] == 0
    state = program.state()
    assert (state["iteration"], state["spend"]["calls"]) == (3, 3 + paid)


def test_who_looks_while_it_runs_sees_it_and_who_drives_it_too_is_refused(
    program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    process = program.held("tool")
    shown = json.loads(program.run("status", "demo", "--json")[1])
    assert (shown["driven"], shown["status"], shown["data"]["exit"]) == (True, "running", 1)
    assert "running" in program.run("status", "demo")[1]
    for again in ((*NEW, "--fresh"), ("resume", "demo")):
        status, _, err = program.run(*again)
        assert (status, f"(pid {process.pid})" in err) == (11, True)
    monkeypatch.chdir(program.folder)
    assert main(["runs", "--driver", "until-green", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["name"], row["driven"], row["interrupted"]) == ("demo", True, False)
    watching = program.start("status", "demo", "--watch", "0.1")
    program.let_go()
    assert ended(process) == 0
    out, _ = watching.communicate(timeout=60)
    assert "(completed)" in out
    assert "Ended: success" in out


@pytest.mark.parametrize(
    ("limit", "reason", "status", "calls"),
    [
        (("-n", "1"), "iteration_limit", 6, 1),
        (("--budget", "calls=2"), "budget_exceeded", 8, 2),
        (("--budget", "0.9"), "budget_exceeded", 8, 2),
        (("--budget", "usd=0.5,calls=9"), "budget_exceeded", 8, 1),
    ],
)
def test_a_limit_ends_a_run_that_goes_on_under_another(
    program: Program, limit: tuple[str, ...], reason: str, status: int, calls: int
) -> None:
    assert program.run(*NEW, *limit)[0] == status
    assert (program.state()["reason"], program.calls()) == (reason, calls)
    assert program.run("resume", "demo")[0] == status
    assert program.calls() == calls
    more = ("-n", "9") if "-n" in limit else ("--budget", f"{limit[1].split('=')[0]}=+9")
    more = ("--budget", "usd=+9") if limit[1][0] in "0u" else more
    assert program.run("resume", "demo", *more)[0] == 0
    assert (program.state()["iteration"], program.calls()) == (3, 3)


def test_the_wall_time_ends_a_run_behind_the_step_at_work(program: Program) -> None:
    assert program.run(*NEW, "--wall-time", "0.001")[0] == 8
    assert program.state()["reason"] == "wall time"
    # On a busy machine the time is over before the first step begins.
    assert program.state()["data"]["exit"] in (1, None)
    assert program.run("resume", "demo", "--wall-time", "0")[0] == 0


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_request_to_stop_now_ends_the_tool_and_counts_nothing(
    program: Program, stubborn: bool
) -> None:
    if stubborn:
        (program.folder / "stubborn").touch()
    process = program.held("tool")
    status, out, err = program.run("stop", "demo", "--now", "--reason", "enough", "--wait", "60")
    assert (status, out) == (0, "demo has ended.\n"), err
    assert ended(process) == 2
    state = program.state()
    assert (state["reason"], state["detail"]) == ("user_stop", "enough")
    assert (state["iteration"], state["spend"]["calls"]) == (0, 1)
    assert program.everything_has_ended()
    assert not (program.folder / ".pytest-reflex/runs/until-green/demo.control.json").exists()
    status, _, err = program.run("stop", "demo")
    assert (status, "no process is running demo" in err) == (4, True)


def test_feedback_joins_the_next_prompt_once(program: Program) -> None:
    process = program.held("tool")
    assert program.run("feedback", "demo", "Keep the last line.", "--wait", "0")[0] == 0
    assert program.run("stop", "demo", "--wait", "0")[0] == 0
    program.let_go()
    assert ended(process) == 2
    assert program.run("resume", "demo", "-n", "2")[0] == 6
    assert "Keep the last line." in (program.folder / "prompt.txt").read_text()
    assert program.run("resume", "demo", "-n", "3")[0] == 0
    assert "Keep the last line." not in (program.folder / "prompt.txt").read_text()


def test_a_budget_that_cannot_be_held_is_told_at_the_start(program: Program) -> None:
    (program.folder / "pytest-reflex.toml").write_text(CONFIG)
    _, _, err = program.run(*NEW, "--budget", "usd=1", "-n", "1")
    assert "the budget in usd cannot be held; max_iterations, wall_time can" in err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "it has no 'driver'"),
        ("[1]", "it holds no JSON object"),
        ("x", "Expecting value"),
    ],
)
def test_a_state_that_cannot_be_read_is_told_and_kept_aside(
    program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    text: str, problem: str,
) -> None:  # fmt: skip
    path = program.folder / ".pytest-reflex/runs/until-green/demo.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    status, _, err = program.run("status", "demo")
    assert (status, problem in err) == (12, True)
    monkeypatch.chdir(program.folder)
    assert main(["runs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (row["status"], problem in row["problem"]) == ("damaged", True)
    status, _, err = program.run(*NEW)
    assert (status, "a copy is kept as demo.json.corrupt-" in err) == (0, True)


def test_a_run_that_can_go_on_is_not_begun_anew_unless_one_says_so(program: Program) -> None:
    assert program.run(*NEW, "-n", "1")[0] == 6
    status, _, err = program.run(*NEW)
    assert (status, "can go on" in err) == (4, True)
    assert program.run(*NEW, "--fresh")[0] == 0
    assert program.state()["iteration"] == 2


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (("run", "../x"), "'../x' is not a name of a run"),
        (("run", "demo"), "there is no command"),
        (("resume", "other"), "there is no run 'other' of until-green"),
        (("status", "other"), "there is no run 'other' of until-green"),
        ((*NEW, "--agent", "nobody"), "no agent named 'nobody'"),
        ((*NEW, "--budget", "days=3"), "days"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_line(
    program: Program, argv: tuple[str, ...], problem: str
) -> None:
    status, _, err = program.run(*argv)
    assert (status, problem in err, len(err.splitlines())) == (4, True, 1)
    assert not (program.folder / ".pytest-reflex").exists()


def test_a_program_drives_it_and_may_leave_at_any_time(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_reflex.drivers.common.running import resume, run

    monkeypatch.chdir(program.folder)
    namespace: dict[str, Any] = {"__name__": "until_green"}
    exec(CODE, namespace)
    driver = namespace["UntilGreen"]()
    events = run(driver, "demo", given={"command": COMMAND}, project=program.folder)
    next(event for event in events if event.kind.value == "iteration")
    events.close()
    assert (program.state()["status"], program.state()["iteration"]) == ("interrupted", 1)
    ended = list(resume(driver, "demo", project=program.folder))[-1]
    assert (ended.kind.value, ended.fields["reason"]) == ("stopped", "success")
    assert program.calls() == 3


def test_what_a_request_that_could_not_be_written_has_left_is_removed(program: Program) -> None:
    folder = program.folder / ".pytest-reflex/runs/until-green"
    folder.mkdir(parents=True)
    strays = [folder / f".demo{name}.json.0123456789ab.tmp" for name in ("", ".control")]
    for stray in strays:
        stray.touch()
    assert program.run(*NEW)[0] == 0
    assert [stray for stray in strays if stray.exists()] == []
    assert sorted(path.name for path in folder.iterdir()) == ["demo.json", "demo.lock"]


REFUSED = """\
cat > prompt.txt
echo x >> calls
echo '{"text": "I may not", "usd": 0.5, "refused": [{"name": "Write"}]}'
"""


def test_a_tool_that_was_not_allowed_to_work_is_not_paid_again_before_a_resume(
    program: Program,
) -> None:
    config = CONFIG + PRICED + 'denied = {"json:refused.*.name" = "/./"}\n'
    (program.folder / "pytest-reflex.toml").write_text(config)
    (program.folder / "tool.sh").write_text(REFUSED)
    status, out, err = program.run(*NEW)
    assert (status, program.calls()) == (9, 1)
    assert "tool was not allowed: Write (what it may do: edit_options in agents.tool)" in err + out
    assert (program.state()["reason"], program.state()["status"]) == ("denied", "stopped")
    (program.folder / "tool.sh").write_text(TOOL)
    assert program.run("resume", "demo")[0] == 0
