"""A pattern that is none is an error of the file for every verb, at the place of the value."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.criteria.writing import problems, rule, rules, write

VERBS = {
    "show": ("criteria", "show", "page.yaml"),
    "explain": ("criteria", "explain", "page.yaml", "a.docs.title"),
    "normalize": ("criteria", "normalize", "page.yaml"),
    "test": ("criteria", "test", "page.yaml"),
    "prove": ("criteria", "prove", "page.yaml"),
    "compile": ("criteria", "compile", "page.yaml"),
    "lint": ("criteria", "lint", "page.yaml"),
    "evaluate": ("evaluate", "a.md", "--criteria", "page.yaml"),
}
PLACES = {
    "search": (
        "{type: content, search: '('}",
        "5:36: rule a.docs.title: search is not a valid pattern",
    ),
    "output": (
        "{type: executable, command: x, expect_output: '('}",
        "5:58: rule a.docs.title: expect_output is not a valid pattern",
    ),
    "matches": (
        "{type: structure, path: a, matches: '('}",
        "5:48: rule a.docs.title: matches is not a valid pattern",
    ),
    "a variable": (
        "{type: content, search: {var: word}}",
        "6:36: rule a.docs.title: search is not a valid pattern",
    ),
    "an alternative": (
        "{any_of: [{type: content, search: a}, {type: content, search: '('}]}",
        "5:74: rule a.docs.title: search is not a valid pattern",
    ),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_broken_pattern_is_an_error_for_every_verb(
    verb: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.md", "# A\n")
    write(tmp_path, "page.yaml", rules(rule(check="{type: content, search: '('}")))
    assert main([*verb]) == 4
    told = capsys.readouterr()
    assert "page.yaml:5:36:" in told.out + told.err
    assert "search is not a valid pattern" in told.out + told.err


@pytest.mark.parametrize(("check", "told"), PLACES.values(), ids=PLACES)
def test_a_broken_pattern_is_told_at_its_value(tmp_path: Path, check: str, told: str) -> None:
    head = "vars: {word: '('}\n" if "var:" in check else ""
    (found,) = problems(tmp_path, rules(rule(check=check), head=head))
    assert found.startswith(f"rules.yaml:{told}")


def test_a_literal_text_is_no_pattern(tmp_path: Path) -> None:
    (found,) = problems(
        tmp_path,
        rules(
            rule(check="{type: content, search: '(', literal: true}"),
            rule("a.docs.b", check="{type: content, search: '('}"),
        ),
    )
    assert "rule a.docs.b: search is not a valid pattern" in found
