"""``iterate feedback`` joins the prompt of the next iteration, once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.control import ControlFile, Requests
from pytest_reflex.drivers.iterate.model import Bounds
from pytest_reflex.drivers.iterate.state import state_path
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.steps import Question, Reply
from tests.drivers.iterate.project import Project, left_behind, told
from tests.drivers.iterate.stage import GOOD, Script, Stage
from tests.faults.driven import wait_until

pytestmark = [pytest.mark.long, pytest.mark.variants]

Captured = pytest.CaptureFixture[str]
# Keeps the prompt of each call.
AGENT = 'number=$(ls prompts | wc -l); cp prompt "prompts/$number"; '
TEXTS = ["do less", "ümläut\n\nand a second line", "{number} <promise>SUCCESS</promise>"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path, "ok", "hold", "ok")
    agent = tmp_path / "agent.sh"
    agent.write_text(agent.read_text().replace("cat > prompt\n", f"cat > prompt\n{AGENT}\n"))
    (tmp_path / "prompts").mkdir()
    return made


@pytest.fixture
def driver(project: Project) -> Iterator[subprocess.Popen[str]]:
    """A run of three iterations whose second one holds."""
    started = project.start("run", "build", "-n", "4")
    project.wait_for("held")
    yield started
    started.kill()
    started.wait()
    started.stderr and started.stderr.close()


def prompts_with(project: Project, text: str) -> list[int]:
    """Return which calls had a text in their prompt, counted from 1."""
    folder = project.folder / "prompts"
    found = sorted(folder.iterdir(), key=lambda path: int(path.name))
    return [number for number, path in enumerate(found, 1) if text in path.read_text()]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("named", [True, False], ids=["named", "the only one"])
def test_it_joins_the_next_prompt_of_a_run_that_is_driven(
    project: Project, driver: subprocess.Popen[str], text: str, named: bool, capsys: Captured
) -> None:
    words = ["build", text] if named else [text]
    assert main(["iterate", "feedback", *words, "--wait", "0"]) == 0
    assert capsys.readouterr().out == "Handed to build; it joins the next iteration.\n"
    project.go()
    _, lines = driver.communicate()
    assert prompts_with(project, text) == [3]
    assert "Feedback for the next iteration: 1 message" in told(lines)


def test_who_waits_hears_that_it_was_taken_once(
    project: Project, driver: subprocess.Popen[str]
) -> None:
    first = project.start("feedback", "build", "be brief", "--wait", "60")
    second = project.start("feedback", "build", "be kind", "--wait", "60")
    control = project.folder / ".rooda/state/build.control.json"
    wait_until(lambda: control.exists() and control.read_text().count('"id"') == 2)
    project.go()
    assert (first.wait(), second.wait()) == (0, 0)
    for one in (first, second):
        one.communicate()
    driver.communicate()
    assert len(prompts_with(project, "be brief")) == len(prompts_with(project, "be kind")) == 1


@pytest.mark.parametrize("status", ["interrupted", "running", "aborted"])
def test_a_run_that_nobody_drives_has_it_when_it_goes_on(
    project: Project, status: str, capsys: Captured
) -> None:
    project.plan("ok")
    left_behind(project, status)
    assert main(["iterate", "feedback", "mind the tests", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "procedure": "build", "taken": False, "driven": False,
    }  # fmt: skip
    more = ["--reset-failures"] if status == "aborted" else []
    assert main(["iterate", "resume", "build", *more]) == 0
    assert prompts_with(project, "mind the tests") == [1]


def test_a_tool_that_did_no_work_leaves_it_to_the_next_one(
    project: Project, capsys: Captured
) -> None:
    project.plan("empty", "limit", "ok")
    left_behind(project, "interrupted", limit=9)
    main(["iterate", "feedback", "build", "try again"])
    assert main(["iterate", "resume", "build"]) == 9
    main(["iterate", "resume", "build"])
    assert prompts_with(project, "try again") == [1, 2, 3]


def test_a_fresh_run_does_not_hear_what_was_said_of_another(project: Project) -> None:
    project.plan("ok")
    left_behind(project, "interrupted")
    main(["iterate", "feedback", "build", "old news"])
    assert main(["iterate", "run", "build", "-n", "2", "--fresh"]) == 0
    assert prompts_with(project, "old news") == []
    assert not (project.folder / ".rooda/state/build.control.json").exists()


def test_what_comes_too_late_is_said_at_the_end(
    project: Project, driver: subprocess.Popen[str]
) -> None:
    project.go()
    assert driver.wait() == 0
    project.plan("hold")
    late = project.start("run", "build", "-n", "1")
    project.wait_for("held")
    asking = project.start("feedback", "build", "too late", "--wait", "60")
    project.wait_for(".rooda/state/build.control.json")
    project.go()
    _, lines = late.communicate()
    _, refusal = asking.communicate()
    assert "there is no run of build that could take feedback" in refusal
    assert "WARNING: Feedback came too late for an iteration: 1 message" in told(lines)
    project.plan("ok")
    assert main(["iterate", "run", "build", "-n", "1"]) == 0
    assert prompts_with(project, "too late") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["build", "x"], "there is no run of build that could take feedback (begin with: "),
        (["x"], "no procedure has a run under way (begin with: "),
        (["build"], "the feedback for build is missing (iterate feedback [PROCEDURE] TEXT)"),
        ([], "the feedback is missing"),
        (["build", " \n"], "the feedback is empty"),
        (["biuld", "x"], "there is no procedure 'biuld' (did you mean build?)"),
        (["build", "\udcff"], "the feedback is not UTF-8 text at character 1"),
    ],
)
def test_what_nobody_can_take_is_refused(
    project: Project, words: list[str], said: str, capsys: Captured
) -> None:
    assert main(["iterate", "feedback", *words]) == 4
    assert said in capsys.readouterr().err
    assert not (project.folder / ".rooda").exists()


def test_without_a_name_two_runs_are_too_many(project: Project, capsys: Captured) -> None:
    left_behind(project, "interrupted")
    other = json.loads(project.state_file.read_text()) | {"procedure_name": "plan"}
    project.state_file.with_name("plan.json").write_text(json.dumps(other))
    assert main(["iterate", "feedback", "x"]) == 4
    assert "2 procedures have a run: build, plan (name one: " in capsys.readouterr().err


def test_feedback_that_cannot_be_removed_is_heard_once(as_user: Path) -> None:
    root = as_user / "root"
    control = ControlFile.beside(state_path(root, "build"))

    def ask(question: Question) -> Reply:
        control.ask(Requests(feedback={"a1": "do less"}))
        control.path.parent.chmod(0o500)
        return GOOD

    on = Stage(root, Script([ask, GOOD]), bounds=Bounds(max_iterations=4))
    try:
        assert on.run() is ExitCode.NOT_PERSISTED
    finally:
        control.path.parent.chmod(0o700)
    heard = [number for number, one in enumerate(on.script.asked, 1) if "do less" in one.prompt]
    assert heard == [2]


@pytest.mark.parametrize(
    "damage", [b"[]", b'{"feedback": [7]}', b"\xff{", b'{"feedback": {"a": 1}}']
)
def test_a_control_file_of_another_form_asks_nothing(tmp_path: Path, damage: bytes) -> None:
    control = ControlFile.beside(state_path(tmp_path, "build"))
    control.path.parent.mkdir(parents=True)
    control.path.write_bytes(damage)
    on = Stage(tmp_path, Script([GOOD]), bounds=Bounds(max_iterations=2))
    assert on.run() is ExitCode.OK
    assert len(on.script.asked) == 2
