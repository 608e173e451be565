"""Files that are about to be committed are judged by criteria."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pytest_reflex.cli.main import main
from tests.hook.desk import Desk

HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
WORDS = """\
name: words
version: 1
rules:
  - {id: a.x.alpha, description: says alpha, severity: fail, check: {type: content, search: alpha}}
"""


@pytest.fixture
def project(desk: Desk) -> Path:
    (desk.project / "words.yaml").write_text(WORDS)
    (desk.project / "good.md").write_text("alpha\n")
    (desk.project / "bad.md").write_text("beta\n")
    (desk.project / "worse.md").write_text("gamma\n")
    return desk.project


@pytest.mark.parametrize(
    ("files", "status", "shown"),
    [
        ([], 0, []),
        (["good.md"], 0, []),
        (["good.md", "good.md"], 0, []),
        (["bad.md"], 1, ["bad.md"]),
        (["good.md", "bad.md", "worse.md"], 1, ["bad.md", "worse.md"]),
        (["none.md"], 4, []),
    ],
    ids=str,
)
def test_only_files_that_do_not_pass_are_shown(
    desk: Desk, project: Path, files: list[str], status: int, shown: list[str]
) -> None:
    """By the entry that pre-commit starts, with what it adds: the arguments, then the files."""
    (hook,) = YAML(typ="safe").load(HOOKS)
    program, *verb = shlex.split(hook["entry"])
    assert (program, verb) == ("pytest-reflex", ["hook", "pre-commit"])
    desk.monkeypatch.chdir(project)
    assert main([*verb, "--criteria", "words.yaml", *files]) == status
    out = desk.capsys.readouterr().out
    assert [name for name in ("good.md", "bad.md", "worse.md") if name in out] == shown
    assert ("a.x.alpha" in out) is bool(shown)


def test_criteria_that_are_none_are_refused(desk: Desk, project: Path) -> None:
    assert desk.run("pre-commit", "--criteria", "none.yaml", "good.md")[0] == 4
    assert "none.yaml" in desk.told
    assert desk.run("pre-commit", "good.md")[0] == 4
