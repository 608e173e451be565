"""What a person sees while a loop is at work, on a terminal of their own."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.cli.display import LiveView, can_be_live
from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.view import LoopView
from pytest_reflex.reports.lines import Line
from tests.cli.terminal import Terminal

pytestmark = pytest.mark.long

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
  - {id: b.x.beta, description: says beta, severity: fail, check: {type: content, search: beta}}
"""
# Waits at a step for as long as a file of its name is there; its answers cost money.
WRITER = """\
import json, os, sys, time
prompt = sys.stdin.read()
step = os.environ["PYTEST_REFLEX_STEP"]
while os.path.exists("hold-" + step):
    time.sleep(0.02)
whole = "# Words\\nalpha\\n\\x1b[2J\\x1b]0;owned\\x07beta\\n"
answers = {
    "PLAN": json.dumps({"plan": ["one", "two", "three"]}),
    "PRODUCE": whole if "Previous artifact" in prompt else "# Words\\n",
    "REFINE": whole,
}
answers["CRITIQUE"] = json.dumps({"issues": [{"rule_id": "a.x.alpha", "problem": "\\x1b[31mred",
    "fix_instruction": "say it", "expected_effect": "it passes"}]})
print(json.dumps({"answer": answers[step], "cost": 0.25}))
"""
SETTINGS = """\
[loop]
may_change = ["hold-*"]
[agents.writer]
command = ["python", "writer.py"]
answer = "json:answer"
cost = "json:cost"
"""
NEW = [
    *("loop", "new", "say words", "--criteria", "words.yaml", "--agent", "writer", "--yes"),
    *("--alias", "words", "--evaluator", "core"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "words.yaml").write_text(CRITERIA)
    (tmp_path / "writer.py").write_text(WRITER)
    settings = SETTINGS.replace('"python"', f'"{sys.executable}"')
    (tmp_path / "pytest-reflex.toml").write_text(settings)
    return tmp_path


def hold(project: Path, step: str) -> Path:
    path = project / f"hold-{step}"
    path.touch()
    return path


def test_what_runs_is_drawn_below_and_what_is_told_scrolls_above(project: Path) -> None:
    held = hold(project, "REFINE")
    with Terminal(NEW, project, rows=24) as terminal:
        shown = terminal.wait_for("REFINE 0:0").split("Critique:\n")[1].splitlines()
        assert shown[0].startswith("  - a.x.alpha: \\x1b[31mred")
        assert [line[2:14] for line in shown[-5:]] == [
            *("REFINE 0:00 ", "iteration 1/", "score A ▁ 0.", "spend 3 call", "Ctrl-C inter"),
        ]
        assert "phase A · run 0:0" in shown[-4]
        assert shown[-3] == "  score A ▁ 0.000 needs 0.8"
        assert shown[-2].endswith(", $0.7500")
        held.unlink()
        assert terminal.end() == 0
        told = terminal.everything
    assert told.count("── Iteration 1/4 | Phase A | Score: 0.000 | FAIL ──") == 1
    assert told.count("── Iteration 2/4 | Phase B | Score: 1.000 | PASS ──") == 1
    assert "Gate: passed\n\n# Words\nalpha\n" in told
    assert "Ctrl-C interrupts" not in told
    assert not re.search(rb"\x1b\]0;owned|\x1b\[31mred|\x1b\[2J", terminal.raw)  # T06


def test_ctrl_c_leaves_a_clean_screen_with_a_cursor(project: Path) -> None:
    hold(project, "PLAN")
    with Terminal(NEW, project) as terminal:
        terminal.wait_for("PLAN 0:0")
        terminal.interrupt()
        assert terminal.end() == 130
        assert "Ctrl-C interrupts" not in terminal.shown
        assert terminal.shown.endswith("  pytest-reflex loop resume words")
        assert terminal.screen.cursor.x == 0
        assert b"\x1b[?25l" not in terminal.raw


def test_nothing_is_drawn_from_the_background(project: Path) -> None:
    shell = ("sh", "-c", 'set -m; "$@" & wait', "sh", sys.executable, "-m", "pytest_reflex")
    with Terminal(NEW, project, program=shell) as terminal:
        assert terminal.end() == 0
        assert "Gate: passed" in terminal.everything
        assert b"\x1b[2K" not in terminal.raw


@pytest.fixture
def paper() -> Iterator[Paper]:
    with Paper() as paper:
        yield paper


class Paper:
    """A terminal that this process writes to itself."""

    def __enter__(self) -> Self:
        self._ours, theirs = pty.openpty()
        self.stream = open(theirs, "w", encoding="utf-8")
        self.resize(60, 12)
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        os.close(self._ours)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = pyte.Screen(columns, rows)

    def read(self) -> bytes:
        """Return what was written since it was read last."""
        data = b""
        while select.select([self._ours], [], [], 0)[0]:
            data += os.read(self._ours, 65536)
        return data

    def shown(self) -> list[str]:
        """Return the lines of the screen after everything that was written since it was resized."""
        pyte.ByteStream(self.screen).feed(self.read())
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip().split("\n")


LINES: list[Line] = [[("one ", "strong"), ("\x1b[31mtwo", "")], [("日本語 " * 9, "good")]]


@pytest.fixture
def view(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> LiveView:
    monkeypatch.setattr(sys, "stderr", paper.stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    return LiveView(lambda: LINES)


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (60, ["one \\x1b[31mtwo", "日本語 " * 8 + "日…"]),
        (12, ["one \\x1b[3…", "日本語 日 …"]),
        (2, ["…", "…"]),
        (1, ["…", "…"]),
    ],
)
def test_f32_lines_are_cut_to_the_width(
    columns: int, lines: list[str], view: LiveView, paper: Paper
) -> None:
    paper.resize(columns, 12)
    with view.open():
        view.draw()
        view.say("told")
        told = ["told"[i : i + columns] for i in range(0, 4, columns)]
        assert paper.shown() == [*told, *lines]
    assert paper.shown() == told


@given(st.text(max_size=80), st.text(max_size=20))
@settings(deadline=None, max_examples=40)
def test_t06_no_text_in_a_line_acts_on_the_terminal(text: str, name: str) -> None:
    with Paper() as paper, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", paper.stream)
        with LiveView(lambda: [[(text, "good"), (name, "")]]).open():
            raw = re.sub(rb"\x1b\[(?:2K|1A|[0-9;]*m)|\r", b"", paper.read())
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", raw.decode())


def test_a_draw_in_the_middle_of_another_is_left_out(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", paper.stream)
    drawn: list[int] = []

    def lines() -> list[Line]:
        drawn.append(1)
        one.draw()
        return [[("x", "")]]

    one = LiveView(lines)
    with one.open():
        one.say("told")
        assert paper.shown() == ["told", "x"]
    assert len(drawn) == 2


def test_columns_of_the_environment_only_narrow(
    view: LiveView, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for told, line in {"200": "one \\x1b[31mtwo", "6": "one \\x1b[3…"[:4] + "…"}.items():
        monkeypatch.setenv("COLUMNS", told)
        with view.open():
            assert paper.shown()[0] == line


def test_a_terminal_that_changes_its_size_is_followed(view: LiveView, paper: Paper) -> None:
    with view.open():
        paper.shown()
        paper.resize(8, 2)
        view.draw()
        assert paper.shown() == ["one \\x…"]


def test_a_view_that_cannot_be_made_is_left_out(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", paper.stream)
    view = LiveView(lambda: [[("x", "")]] * (1 // 0))
    with view.open():
        view.say("told")
        assert paper.shown() == ["told"]


PLAIN = {
    "a terminal": ({}, True),
    "NO_COLOR": ({"NO_COLOR": "1"}, False),
    "a dumb terminal": ({"TERM": "dumb"}, False),
    "no TERM": ({"TERM": ""}, False),
}


@pytest.mark.usefixtures("view")
@pytest.mark.parametrize(("environment", "live"), PLAIN.values(), ids=PLAIN.keys())
def test_it_is_live_where_lines_can_be_drawn(
    environment: dict[str, str], live: bool, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", paper.stream)  # pytest has put back its own
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert can_be_live() is live


@pytest.mark.usefixtures("view")
def test_it_is_not_live_without_rich_or_in_another_encoding(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", paper.stream)
    paper.stream.reconfigure(encoding="latin-1")
    assert not can_be_live()
    paper.stream.reconfigure(encoding="utf-8")
    assert can_be_live()
    monkeypatch.setitem(sys.modules, "rich", None)
    assert not can_be_live()


@pytest.mark.usefixtures("view")
@pytest.mark.parametrize("flag", ["--quiet", "--json"])
def test_nothing_is_drawn_beside_an_answer_for_programs(
    flag: str, project: Path, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "stderr", paper.stream)
    assert main([*NEW, "--agent", "offline", "--max-iterations", "1", flag]) == 6
    assert "Ctrl-C" not in "\n".join(paper.shown())


def test_a_pipe_is_told_what_takes_long_and_gets_no_control_characters(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(LoopView, "beat", 0.05)
    (project / "writer.py").write_text(WRITER.replace("prompt =", "time.sleep(0.15); prompt ="))
    assert main(NEW) == 0
    told = capfd.readouterr().err
    assert "\n\nPLAN ... (agent writer)\nstill at work: PLAN 0:00 (agent writer)\n" in told
    assert "PREPARE ..." not in told  # the rules bring their checks
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", told)
