"""Judged rules with conditions: nobody is asked about what does not apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.judged.jurors import configured

RULES = """\
name: tone
rules:
  - {{id: a.text.there, description: There is text, severity: fail, check: {free}}}
  - {{id: a.tone.polite, description: Polite, severity: fail, check: {check}, when: {when}}}
"""
FREE = "{type: content, search: polite}"
CHECKS = {
    "a judged check": "{type: judged}",
    "prose": "It reads polite.",
    "a list": "[{type: judged}]",
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("A polite text.\n")
    configured(tmp_path, "counts")
    return tmp_path


def judged(project: Path, *flags: str, **rules: str) -> int:
    (project / "tone.yaml").write_text(RULES.format(**{"free": FREE, **rules}))
    return main(["evaluate", "a.md", "--criteria", "tone.yaml", "--no-cache", *flags])


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_judge_is_asked_only_where_the_rule_applies(project: Path, check: str) -> None:
    asked = project / "asked"
    assert judged(project, "--judge", "jury", check=check, when="{search: Dear}") == 0
    assert not asked.exists()
    assert judged(project, "--judge", "jury", check=check, when="{search: polite}") == 0
    assert asked.read_text() == "x"


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_whether_it_applies_takes_no_judge(project: Path, check: str) -> None:
    assert judged(project, check=check, when="{search: Dear}") == 0
    assert judged(project, check=check, when="{search: polite}") == 1


def test_a_free_rule_that_does_not_apply_blocks_nobody(project: Path) -> None:
    """The judge is asked: nothing has failed."""
    free = "{type: content, search: zebra}, when: {file: '*.json'}"
    assert judged(project, "--judge", "jury", free=free, check="{type: judged}", when="null") == 0
    assert (project / "asked").read_text() == "x"
