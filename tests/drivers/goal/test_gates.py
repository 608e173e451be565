"""Gates of the colleague shape: asked on a terminal, an exit code elsewhere."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from pytest_reflex.errors import ExitCode
from tests.cli.terminal import Terminal
from tests.drivers.goal.stage import ALPHA, DONE, SPEC, Stage, claim, work

pytestmark = pytest.mark.long

COLLEAGUE = ("--shape", "colleague")


def test_without_a_terminal_each_gate_is_an_exit_code(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [claim(DONE), work]
    assert stage.start(*COLLEAGUE) == ExitCode.WAITING
    out, err = capsys.readouterr()
    assert "G1: Decomposed into 2 steps:\n1. add alpha\n2. add beta\nProceed? [Y/n]" in err
    assert "Paused: a person is needed: G1 waits for an answer; pytest-reflex goal continue" in out
    assert not stage.prompts
    assert stage.goal("continue") == ExitCode.WAITING
    assert "G2: add alpha complete. Continue? [Y/n]" in capsys.readouterr().err
    assert stage.goal("continue") == ExitCode.WAITING
    out, err = capsys.readouterr()
    assert "G3: All criteria met. Confirm done? [Y/n]" in err
    assert "<loop-complete>" not in out
    assert stage.goal("continue") == ExitCode.OK
    assert "<loop-complete>" in capsys.readouterr().out
    assert len(stage.prompts) == 2


@pytest.mark.parametrize("when", ["start", "continue"])
def test_yes_answers_all(stage: Stage, when: str) -> None:
    stage.deeds = [claim(DONE), work]
    if when == "start":
        assert stage.start(*COLLEAGUE, "--yes") == ExitCode.OK
    else:
        assert stage.start(*COLLEAGUE) == ExitCode.WAITING
        assert stage.goal("continue", "--yes") == ExitCode.OK
    assert len(stage.prompts) == 2
    assert (stage.folder / ".loop/state.json").exists()


def test_a_tool_has_no_gates_and_a_colleague_has(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [work]
    spec = SPEC.replace("Constraints: at most 10 lines; no other file changes.\n", "")
    assert stage.start(spec=spec) == ExitCode.WAITING
    assert "Shape: Colleague (7/10)" in capsys.readouterr().err
    assert stage.goal("cancel") == ExitCode.OK
    assert stage.start("--shape", "tool", spec=spec) == ExitCode.OK


TOOL = """\
cat > /dev/null
echo alpha >> notes.txt; echo beta >> notes.txt; echo x > search.md
echo x >> asked
python3 - <<'EOF'
import json
state = json.load(open(".loop/state.json"))
for text in state["criteriaStatus"]:
    state["criteriaStatus"][text] = {"met": True, "verification": "observation",
                                     "evidence": "see search.md"}
state["exit_signal"] = True
json.dump(state, open(".loop/state.json", "w"))
EOF
echo done
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("some\n")
    (folder / "tool.sh").write_text(TOOL)
    config = 'agent = "tool"\n[agents.tool]\ncommand = ["sh", "tool.sh"]\n'
    (folder / "pytest-reflex.toml").write_text(config)
    (folder / "spec.md").write_text(SPEC)
    return folder


START = shlex.split("goal start spec.md --reversibility 2A --shape colleague")


def test_a_terminal_is_asked_in_the_words_of_the_seed(project: Path) -> None:
    with Terminal(START, project) as terminal:
        terminal.wait_for("Writing state to .loop/state.json. Delete after session? [Y/n]")
        terminal.send(b"y\n")
        for shown in ("G1: Decomposed into 2 steps:", "1. add alpha", "Proceed? [Y/n]"):
            terminal.wait_for(shown)
        terminal.send(b"\n")
        terminal.wait_for("G3: All criteria met. Confirm done? [Y/n]")
        assert (project / ".loop/state.json").exists()
        terminal.send(b"y\n")
        terminal.wait_for("SHIP")
        assert terminal.end() == ExitCode.OK
    assert not (project / ".loop/state.json").exists()


def test_who_says_no_is_not_asked_again_until_it_is_continued(project: Path) -> None:
    with Terminal(START, project) as terminal:
        terminal.wait_for("Delete after session?")
        terminal.send(b"n\n")
        terminal.wait_for("Proceed?")
        terminal.send(b"n\n")
        terminal.wait_for("G1 was answered with no")
        assert terminal.end() == ExitCode.WAITING
    assert not (project / "asked").exists()
    assert '"paused"' in (project / ".loop/state.json").read_text()
    with Terminal(["goal", "continue"], project) as terminal:
        terminal.wait_for("Proceed?")
        terminal.send(b"Proceed without confirmation.\n")
        terminal.wait_for("SHIP")
        assert terminal.end() == ExitCode.OK
        assert "G3" not in "\n".join(terminal.screen.display)
    assert (project / ".loop/state.json").exists()


def answer(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    """Have a terminal answer the gates, a line for each."""
    data = io.TextIOWrapper(io.BytesIO(said), "utf-8", "strict")
    data.isatty = lambda: True  # type: ignore[method-assign]
    data._CHUNK_SIZE = 1  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "stdin", data)


def test_an_answer_that_is_no_text_is_no_yes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, b"\n\xff\xfe\n")
    assert stage.start(*COLLEAGUE) == ExitCode.WAITING
    assert "G1 was answered with no" in capsys.readouterr().out
    assert not stage.prompts


def test_a_tool_is_asked_nothing_on_a_terminal(project: Path) -> None:
    with Terminal([*START[:-1], "tool"], project) as terminal:
        terminal.wait_for("SHIP")
        assert terminal.end() == ExitCode.OK
    assert (project / ".loop/state.json").exists()


def test_done_that_a_person_does_not_confirm_is_worked_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.deeds = [work]
    stage.start(*COLLEAGUE)
    stage.goal("continue")
    assert stage.standing.at == "G3"
    assert stage.met()[ALPHA]
    assert stage.state()["status"] == "paused"
    answer(monkeypatch, b"n\ny\n")
    capsys.readouterr()
    assert stage.goal("continue") == ExitCode.WAITING
    assert "G3 was answered with no" in capsys.readouterr().out
    assert stage.state()["exit_signal"] is False
    assert len(stage.prompts) == 1
    assert stage.goal("continue") == ExitCode.OK
    assert len(stage.prompts) == 2
