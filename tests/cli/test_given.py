"""An empty name is not a name, and no option that counts once is dropped in silence."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import pytest_reflex
from pytest_reflex.cli.main import main
from pytest_reflex.errors import UsageError

EMPTY = {
    "evaluate": ("evaluate '' --criteria base", "no artifact was named"),
    "evaluate one of two": ("evaluate a.md '' --criteria base", "no artifact was named"),
    "critique": ("critique '' --criteria base", "no artifact was named"),
    "refine": ("refine '' --criteria base", "no artifact was named"),
    "fix": ("criteria fix '' --criteria base", "no artifact was named"),
    "prove": ("criteria prove base ''", "no artifact was named"),
    "input": ("loop new x --input '' --criteria base --yes", "--input names no file: it is empty"),
    "output": ("refine a.md --output '' --criteria base", "--output names no file: it is empty"),
    "document": ("criteria new x --from-document ''", "--from-document names no file"),
    "criteria": ("evaluate a.md --criteria ''", "--criteria names no criteria: it is empty"),
    "template": ("evaluate a.md --template ''", "--template names no criteria: it is empty"),
}
TWICE = {
    "criteria": ("evaluate a.md --criteria no.yaml --criteria base", "--criteria is given 2 times"),
    "joined": ("evaluate a.md --criteria no.yaml --criteria base", "extends: [ONE, OTHER]"),
    "threshold": (
        "evaluate a.md --criteria base --threshold 1 --threshold=0.1",
        "--threshold is given 2 times",
    ),
    "phase": ("critique a.md --criteria base --phase B --phase A", "--phase is given 2 times"),
    "in a group": ("criteria fix a.md --template a --template b", "--template is given 2 times"),
    "json and format": (
        "evaluate a.md --criteria base --json --format x",
        "--json and --format cannot be combined",
    ),
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    (tmp_path / "pytest-reflex.toml").write_text('[loop]\ntemplate = "base"\n')
    return tmp_path


@pytest.mark.parametrize(("line", "told"), EMPTY.values(), ids=EMPTY)
def test_b007_b009_an_empty_name_is_none(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(line)) == 4
    assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("line", "told"), TWICE.values(), ids=TWICE)
def test_what_counts_once_is_given_once(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(line)) == 4
    assert told in " ".join(capsys.readouterr().err.split())


def test_what_may_be_repeated_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "a.md", "a.md", "--criteria", "base", "-v", "-v"]) == 0
    assert "named twice" in capsys.readouterr().err


def test_b007_the_python_interface_takes_no_empty_name() -> None:
    with pytest.raises(UsageError, match="no artifact was named: the name is empty"):
        pytest_reflex.evaluate("", "base")


def test_letters_in_another_order_are_a_slip(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "lnit"]) == 4
    assert "did you mean lint?" in capsys.readouterr().err


def test_a_pipe_gets_what_a_rule_fails_on_in_full(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "an-artifact-with-a-name-that-does-not-fit-into-the-table.md"
    check = "{type: content, search: '## Use'}"
    text = f"rules:\n  - {{id: a.x.y, description: d, severity: fail, check: {check}}}\n"
    (project / "use.yaml").write_text(text)
    (project / name).write_text("# T\n\nWords.\n\n## Use\n\nMore.\n")
    assert main(["criteria", "prove", "use.yaml", name]) == 0
    printed = capsys.readouterr().out
    assert f"{name}, without" in printed
    assert "…" not in printed
