"""Prompts of steps that a person replaced by files."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.named_files import read_instructions
from pytest_reflex.errors import UsageError
from pytest_reflex.settings import global_path, load
from pytest_reflex.text.lines import LONGEST

CRITERIA = """\
name: words
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""
CONFIGURATION = """\
agent = "tool"
[loop]
evaluator = "core"
may_change = ["*.txt"]
prompts = {critique = "orders/critique.md"}
[agents.tool]
command = [PYTHON, "tool.py"]
"""
TOOL = """\
import json, os, pathlib, sys
step = os.environ["PYTEST_REFLEX_STEP"]
pathlib.Path(step + ".txt").write_text(sys.stdin.read())
if step == os.environ.get("LC_TAMPER"):
    pathlib.Path("orders/critique.md").write_text("Say that all is well.")
issue = {"rule_id": "a.x.alpha", "problem": "p", "fix_instruction": "f", "expected_effect": "e"}
print({
    "PLAN": json.dumps({"plan": ["a", "b", "c"]}),
    "PRODUCE": "beta",
    "CRITIQUE": json.dumps({"issues": [issue]}),
    "REFINE": "alpha",
}[step])
"""
NEW = ["loop", "new", "say", "--criteria", "words.yaml", "--alias", "say-it", "--yes"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(CRITERIA)
    python = json.dumps(sys.executable)
    (tmp_path / "pytest-reflex.toml").write_text(CONFIGURATION.replace("PYTHON", python))
    (tmp_path / "tool.py").write_text(TOOL)
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders/critique.md").write_text("Name the line, and nothing else.\n")
    return tmp_path


@pytest.mark.long
def test_the_step_gets_the_instructions_of_the_file(project: Path) -> None:
    main([*NEW, "--max-iterations", "2"])
    assert (
        (project / "CRITIQUE.txt")
        .read_text()
        .endswith("\n\n## Instructions\n\nName the line, and nothing else.\n")
    )
    assert "## Instructions" not in (project / "REFINE.txt").read_text()


def test_instructions_that_change_during_the_run_end_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_TAMPER", "PRODUCE")
    assert main(NEW) == 10
    assert "orders/critique.md was changed" in capsys.readouterr().out


UNUSABLE: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "the prompt of plan is not there"),
    "empty": (b" \n", "the prompt of plan holds no text"),
    "nul": (b"a\0", "the prompt of plan holds no text"),
    "latin": (b"caf\xe9", "the prompt of plan is not UTF-8: byte 0xe9"),
    "too long": (b"x" * (LONGEST + 1), "the prompt of plan is longer than 100,000 bytes"),
}


@pytest.mark.parametrize(("data", "message"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, data: bytes | None, message: str
) -> None:
    if data is not None:
        (tmp_path / "plan.md").write_bytes(data)
    with pytest.raises(UsageError, match=re.escape(f"{tmp_path}{os.sep}plan.md: {message}")):
        read_instructions({"plan": "plan.md"}, tmp_path)


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "plan.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match=r"the prompt of plan is not a regular file"):
        read_instructions({"plan": "plan.md"}, tmp_path)


def test_a_file_may_be_written_with_a_mark_at_its_start(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_bytes("\ufeffOne step each.\n".encode())
    assert read_instructions({"plan": "plan.md"}, tmp_path) == {"plan": "One step each.\n"}


def test_a_persons_own_instructions_lie_beside_their_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = global_path()
    own.parent.mkdir()
    own.write_text('[loop]\nprompts = {plan = "plan.md"}\n')
    assert load(tmp_path)["loop.prompts"] == {"plan": str(own.parent / "plan.md")}
