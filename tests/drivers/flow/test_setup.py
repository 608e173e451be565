"""`flow setup` writes a flow that can be run at once, and keeps what is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import schema
from pytest_reflex.drivers.flow.setup import templates
from tests.cli.terminal import Terminal
from tests.drivers.flow.projects import read

pytestmark = pytest.mark.variants

FLOW = ".ai-loop/flow.yaml"
AGENT = """\
import pathlib, re, sys
prompt = sys.stdin.read()
folder = pathlib.Path(re.findall(r"(\\S+)/controller-output\\.md", prompt)[-1])
if "/actuator-output.md" in prompt:
    pathlib.Path("done.txt").write_text("done")
else:
    met = "\\nstatus: pass\\n" in (folder / "sensor-tests-output.md").read_text()
    text = f"---\\ntarget-met: {str(met).lower()}\\n---\\n## Action Plan\\n\\nWrite done.txt\\n"
    (folder / "controller-output.md").write_text(text)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def setup(*arguments: str) -> int:
    return main(["flow", "setup", *arguments])


@pytest.mark.parametrize("name", templates())
def test_each_template_is_a_flow_that_can_be_run(project: Path, name: str) -> None:
    assert setup("--from", name, "--command", "make test", "-n", "7") == 0
    root = read(project)
    assert root.max_iterations == 7
    assert {one.command for node in root.walk() for one in node.sensors} == {"make test"}
    assert main(["flow", "check"]) == 0


def test_red_to_green_has_two_levels(project: Path) -> None:
    assert setup("--from", "red-to-green", "--inner-iterations", "9") == 0
    root = read(project)
    assert root.paths() == ("deliver", "deliver/turn-green")
    assert root.child is not None
    assert root.child.max_iterations == 9


@pytest.mark.parametrize(
    "command",
    ["a: b # c", 'it\'s "quoted"', "- x", "$HOME ${x} $$", "a\\b", "true", "\tgrep 'ü' | x", "1"],
)
def test_any_command_stands_in_the_flow_as_it_was_given(project: Path, command: str) -> None:
    assert setup("--command", command) == 0
    assert read(project).sensors[0].command == command


def test_the_schema_lies_beside_the_flow_which_names_it(project: Path) -> None:
    assert setup() == 0
    assert (
        (project / FLOW)
        .read_text()
        .startswith("# yaml-language-server: $schema=flow.schema.json\n")
    )
    assert json.loads((project / ".ai-loop/flow.schema.json").read_text()) == schema("flow")


def test_every_file_is_named_and_a_second_setup_keeps_them_all(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setup() == 0
    wrote = capsys.readouterr().out.splitlines()
    names = sorted(
        path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()
    )
    assert sorted(wrote) == [f"wrote {name}" for name in names]
    before = {name: (project / name).read_bytes() for name in names}
    assert setup("--command", "another", "--from", "single-loop") == 0
    told = capsys.readouterr().out.splitlines()
    assert all(line.startswith("kept  ") for line in told)
    assert before == {name: (project / name).read_bytes() for name in names}


def test_a_file_of_one_s_own_is_kept_and_the_others_are_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = project / ".claude/agents/flow-change.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\nname: mine\n---\nMy own.\n")
    assert setup() == 0
    told = capsys.readouterr().out
    assert "kept  .claude/agents/flow-change.md" in told
    assert f"wrote {FLOW}" in told
    assert own.read_text() == "---\nname: mine\n---\nMy own.\n"


def test_beside_a_flow_of_one_s_own_no_agent_file_is_written_that_it_does_not_name(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setup("--from", "single-loop") == 0
    (project / ".claude/agents/flow-diagnose.md").unlink()
    capsys.readouterr()
    assert setup("--from", "red-to-green") == 0
    told = capsys.readouterr().out
    assert "wrote .claude/agents/flow-diagnose.md" in told
    assert "flow-plan" not in told
    assert not (project / ".claude/agents/flow-plan.md").exists()


def test_a_flow_that_is_kept_and_wrong_is_reported(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".ai-loop").mkdir()
    (project / FLOW).write_text("version: 2\nflow: {}\n")
    assert setup() == 4
    found = capsys.readouterr()
    assert f"kept  {FLOW}" in found.out
    assert f"{FLOW}:1:10" in found.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "red-to-gren"), "there is no flow 'red-to-gren' (did you mean red-to-green?)"),
        (("--command", " "), "the command is empty"),
        (("-n", "0"), "0 is not in the range"),
        (("--inner-iterations", "many"), "'many' is not a valid integer"),
    ],
    ids=["flow", "command", "none", "word"],
)
def test_a_wrong_option_is_refused_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert setup(*arguments) == 4
    assert message in capsys.readouterr().err
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("folder", [".ai-loop", ".claude"])
def test_nothing_is_written_through_a_link(
    project: Path, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    (project / folder).symlink_to(elsewhere, target_is_directory=True)
    assert setup() != 0
    assert folder in capsys.readouterr().err
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_is_a_file_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".ai-loop").write_text("mine")
    assert setup() != 0
    assert len(capsys.readouterr().err.strip().splitlines()) <= 2
    assert (project / ".ai-loop").read_text() == "mine"


@pytest.mark.long
def test_a_terminal_is_asked_for_what_no_option_says(tmp_path: Path) -> None:
    with Terminal(["flow", "setup", "-n", "2"], tmp_path) as terminal:
        for question, answer in (
            ("Flow to start from", "\n"),
            ("Command that measures", "make check\n"),
            ("Those of the inner loop", "4\n"),
        ):
            terminal.wait_for(question)
            terminal.send(answer.encode())
        assert terminal.end() == 0
    root = read(tmp_path)
    assert root.child is not None
    assert (root.max_iterations, root.child.max_iterations) == (2, 4)
    assert root.sensors[0].command == "make check"


@pytest.mark.long
@pytest.mark.parametrize("name", templates())
def test_what_was_set_up_runs_without_a_commit_in_between(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    for variable in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{variable}_NAME", "a")
        monkeypatch.setenv(f"{variable}_EMAIL", "a@b")
    (project / "agent.py").write_text(AGENT)
    command = json.dumps([sys.executable, "agent.py"])
    (project / "pytest-reflex.toml").write_text(
        f'agent = "script"\n[agents.script]\ncommand = {command}\n'
    )
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
        subprocess.run(["git", *arguments], check=True, env={**os.environ})
    assert setup("--from", name, "--command", "test -f done.txt") == 0
    assert main(["flow", "run", "Write done.txt"]) == 0
    assert "Stopped: target-met" in capsys.readouterr().out
    assert (project / "done.txt").read_text() == "done"


@pytest.mark.parametrize("verb", [("check",), ("run", "Do it")], ids=["check", "run"])
def test_without_a_flow_setup_is_named_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]
) -> None:
    assert main(["flow", *verb]) == 4
    assert "there is no .ai-loop/flow.yaml (pytest-reflex flow setup" in capsys.readouterr().err
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing"])
def test_what_is_no_file_is_kept_and_reported(
    project: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path = project / FLOW
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nothing")
    assert setup() == 4
    found = capsys.readouterr()
    assert f"kept  {FLOW}" in found.out
    assert ".claude" not in found.out
    assert found.err.startswith("pytest-reflex: ")
    assert "Traceback" not in found.err


@pytest.mark.parametrize(
    ("table", "is_told"),
    [("", True), ('agent = "claude"', False), ('[flow.agents]\nactuator = "claude"', False)],
    ids=["none", "of all", "of a role"],
)
def test_it_is_told_that_an_agent_is_needed_where_none_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], table: str, is_told: bool
) -> None:
    (project / "pytest-reflex.toml").write_text(table)
    assert setup() == 0
    found = capsys.readouterr().err
    assert ("one that may edit files" in found) == is_told
    assert "Next: pytest-reflex flow run" in found
