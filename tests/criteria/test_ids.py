"""How rules may be called (F39)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.criteria.diagnostics import fold
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import is_id
from tests.criteria.writing import load, problems, rule, rules

GOOD = [
    ("a.docs.title", Level.A),
    ("b.style.naming", Level.B),
    ("a.correctness.artifact-non-empty", Level.A),
    ("b.completeness.cross-refs", Level.B),
    ("a.x.007", Level.A),
    ("a.1.2", Level.A),
    ("a.no.on", Level.A),
]


@pytest.mark.parametrize(("rule_id", "level"), GOOD, ids=[rule_id for rule_id, _ in GOOD])
def test_an_id_says_its_level(tmp_path: Path, rule_id: str, level: Level) -> None:
    found = load(tmp_path, rules(rule(rule_id), rule("a.other.rule"))).rules[0]
    assert (found.id, found.level) == (rule_id, level)


@pytest.mark.parametrize(
    "rule_id", ["docs.title", "a.docs", "a.docs.title.long", "x-1.y.z", "c.d.e"]
)
def test_another_dotted_id_needs_a_phase(tmp_path: Path, rule_id: str) -> None:
    (problem,) = problems(tmp_path, rules(rule(rule_id)))
    assert problem.startswith(f"rules.yaml:2:5: rule {rule_id}: phase is missing")
    assert load(tmp_path, rules(rule(rule_id, phase="A"))).rules[0].level is Level.A


@pytest.mark.parametrize("rule_id", ["b.docs.title", "b.docs", "b.docs.title.long"])
def test_a_phase_that_contradicts_the_id_is_refused(tmp_path: Path, rule_id: str) -> None:
    (problem,) = problems(tmp_path, rules(rule(rule_id, phase="A")))
    assert problem.startswith(f"rules.yaml:6:12: rule {rule_id}: phase A contradicts the id")


BAD = [
    ("title", "'title' is not an id", "ids look like <a|b>.<category>.<name>"),
    ("no", "'no' is not an id", "ids look like"),
    ("'007'", "'007' is not an id", "ids look like"),
    ("007", "id must be a text, not the number 7", "put it in quotes"),
    ("1e10", "id must be a text, not the number 1e10", "put it in quotes"),
    ("true", "id must be a text, not the boolean true", "put it in quotes"),
    ("", "id must be a text, not nothing", ""),
    ("''", "'' is not an id", "ids look like"),
    ("[a.b.c]", "id must be a text, not a list", "brackets"),
    ("{a.b.c}", "id must be a text, not a mapping", "braces"),
    ("A.docs.title", "'A.docs.title' is not an id", "did you mean a.docs.title?"),
    ("a.docs.Title", "'a.docs.Title' is not an id", "did you mean a.docs.title?"),
    ("a.docs.the_title", "'a.docs.the_title' is not an id", "did you mean a.docs.the-title?"),
    ("a.docs.the title", "'a.docs.the title' is not an id", "did you mean a.docs.the-title?"),
    ("a.docs.-title", "'a.docs.-title' is not an id", "ids look like"),
    ("a.docs.title-", "'a.docs.title-' is not an id", "did you mean a.docs.title?"),
    ("a.docs.a--b", "'a.docs.a--b' is not an id", "did you mean a.docs.a-b?"),
    ("a..title", "'a..title' is not an id", "ids look like"),
    (".a.docs", "'.a.docs' is not an id", "did you mean a.docs?"),
    ("a.docs.title.", "'a.docs.title.' is not an id", "did you mean a.docs.title?"),
    ("a.docs::title", "holds U+003A (COLON)", "ids look like"),
    ("a.docs.x[1]", "holds U+005B (LEFT SQUARE BRACKET)", "ids look like"),
    ("a.docs/title", "holds U+002F (SOLIDUS)", "ids look like"),
    ("'a.docs.{id}'", "holds U+007B (LEFT CURLY BRACKET)", "ids look like"),
    ('"a.docs.ti\\0tle"', "holds U+0000", "ids look like"),
    ('"a.docs.ti\\ntle"', "holds U+000A", "ids look like"),
    ("a.docs.tïtle", "holds U+00EF (LATIN SMALL LETTER I WITH DIAERESIS)", "ids look like"),
    ("\u0430.docs.title", "holds U+0430 (CYRILLIC SMALL LETTER A)", "ids look like"),
    ("a.docs.title\u200b", "holds U+200B (ZERO WIDTH SPACE)", "ids look like"),
    ("a.docs.\uff54itle", "holds U+FF54 (FULLWIDTH LATIN SMALL LETTER T)", "ids look like"),
    ("a.docs.\u2460", "holds U+2460 (CIRCLED DIGIT ONE)", "ids look like"),
    ("a.docs.\U0001f600", "holds U+1F600 (GRINNING FACE)", "ids look like"),
    ("a.docs." + "x" * 200, "the id has 207 characters; 120 are allowed", ""),
]


@pytest.mark.parametrize(
    ("text", "message", "hint"), BAD, ids=[ascii(case[0])[:30] for case in BAD]
)
def test_b052_what_is_no_id_is_refused(tmp_path: Path, text: str, message: str, hint: str) -> None:
    found = problems(tmp_path, rules(rule(text)))
    assert len(found) == 1
    assert found[0].startswith("rules.yaml:2:9: ") or text == ""
    assert message in found[0]
    assert hint in found[0]
    assert "\n" not in found[0]


def test_a_rule_without_an_id_is_refused(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "rules:\n  - description: x\n    severity: fail\n")
    assert problem == "rules.yaml:2:5: a rule needs an id"


SAME = [
    ("a.docs.title", "is given twice, first in line 2"),
    ("A.docs.title", "reads like 'a.docs.title' in line 2"),
    ("a.docs.TITLE", "reads like 'a.docs.title' in line 2"),
    ("a.docs.title\u200b", "reads like 'a.docs.title' in line 2"),
    ("a.docs.\uff54itle", "reads like 'a.docs.title' in line 2"),
    ("a.docs.t\u0131tle", None),
]


@pytest.mark.parametrize(("second", "message"), SAME, ids=[ascii(second) for second, _ in SAME])
def test_ids_that_differ_in_looks_only_are_refused(
    tmp_path: Path, second: str, message: str | None
) -> None:
    found = problems(tmp_path, rules(rule("a.docs.title"), rule(second)))
    twice = [problem for problem in found if "in line 2" in problem]
    assert bool(twice) is bool(message)
    if message:
        assert twice[0].startswith("rules.yaml:6:9: ")
        assert message in twice[0]


def test_every_accepted_id_is_its_own_folded_form() -> None:
    assert all(is_id(rule_id) and fold(rule_id) == rule_id for rule_id, _ in GOOD)


def test_the_tables_have_the_size_that_was_promised() -> None:
    assert len(GOOD) + len(BAD) + len(SAME) >= 40
