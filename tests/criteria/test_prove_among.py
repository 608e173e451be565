"""A rule for files of a folder is tried on one bad file among good ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main

RULE = """\
name: pages
rules:
  - id: a.docs.pages
    description: Pages are as they should be
    severity: fail
    check: {check}
    samples: {{good: [{good}], bad: [{bad}]}}
"""
NONE = [
    ("{type: content, search: TODO, negate: true, files: '*.md'}", "text", "TODO"),
    ("{type: content, search: TODO, max_count: 0, files: '**/*.md'}", "text", "TODO"),
    ("{type: structure, count: {images: 0}, files: './*.md'}", "text", "'![a](b)'"),
    ("{type: structure, prose: {placeholders: false}, files: 'docs/*.md'}", "text", "TODO"),
    ("{type: structure, path: a.b, exists: false, files: '{a,b}.*'}", "'a: 1'", "'a: {b: 1}'"),
    ("{type: structure, configuration: secrets, files: '*.yaml'}", "'a: 1'", "'password: abc12'"),
]


def proved(tmp_path: Path, capsys: pytest.CaptureFixture[str], **rule: str) -> dict[str, Any]:
    (tmp_path / "pages.yaml").write_text(RULE.format(**rule))
    main(["criteria", "prove", str(tmp_path / "pages.yaml"), "--json"])
    (found,) = json.loads(capsys.readouterr().out)["rules"]
    return dict(found)


@pytest.mark.parametrize(("check", "good", "bad"), NONE)
def test_bad_file_among_good_ones_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], check: str, good: str, bad: str
) -> None:
    found = proved(tmp_path, capsys, check=check, good=good, bad=bad)
    assert (found["proof"], found["among_good"]) == ("proved", "fail")


@pytest.mark.parametrize("more", ["", ", each: false"])
def test_that_one_good_file_is_enough_is_told_where_nobody_has_said_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    check = f"{{type: content, search: License, files: '*.md'{more}}}"
    found = proved(tmp_path, capsys, check=check, good="License", bad="text")
    assert (found["proof"], found["among_good"]) == ("proved", "pass")
    assert main(["criteria", "prove", str(tmp_path / "pages.yaml"), "--strict"]) == 0
    told = capsys.readouterr().out
    assert ("of a folder one good file is enough" in told) is (not more)


def test_each_asks_for_all_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = "{type: content, search: License, files: '*.md', each: true}"
    found = proved(tmp_path, capsys, check=check, good="License", bad="text")
    assert found["among_good"] == "fail"


def test_rule_without_files_is_not_tried_on_several(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = proved(tmp_path, capsys, check="{type: content, search: a}", good="a", bad="b")
    assert found["among_good"] is None
