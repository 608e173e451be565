"""One rule: from shorthand to the full rule, and what is refused on the way."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.rules import CheckSpec, Fix, Rule
from tests.criteria.writing import load, problems, rule, rules

FULL = """\
rules:
  - id: b.docs.title
    description: There is a title
    severity: warn
    weight: 0.5
    phase: B
    hint: begin with a heading
    why: readers look for it
    check:
      type: content
      search: '^# '
      expected: a heading of level 1
      rule_id: b.docs.title
    fix:
      - append: {text: "# Title"}
      - replace: {search: x, with: y}
        safe: false
    samples:
      good: ["# T"]
      bad: "T"
"""


def test_every_key_of_a_rule_is_read(tmp_path: Path) -> None:
    found = load(tmp_path, FULL).rules[0]
    path = str(tmp_path / "rules.yaml")
    assert found == Rule(
        id="b.docs.title",
        description="There is a title",
        severity=Severity.WARN,
        weight=Fraction(1, 2),
        level=Level.B,
        checks=(
            CheckSpec(
                type="content",
                params={"search": "^# "},
                expected="a heading of level 1",
                place=Place(path, 10, 7),
            ),
        ),
        fixes=(
            Fix(kind="append", params={"text": "# Title"}),
            Fix(kind="replace", params={"search": "x", "with": "y"}, safe=False),
        ),
        hint="begin with a heading",
        why="readers look for it",
        samples={"good": [Sample.of_text("# T")], "bad": [Sample.of_text("T")]},
        place=Place(path, 2, 5),
    )


def test_every_field_of_a_rule_is_filled(tmp_path: Path) -> None:
    found = load(tmp_path, rules()).rules[0]
    assert all(hasattr(found, field.name) for field in dataclasses.fields(Rule))
    assert all(hasattr(found.checks[0], field.name) for field in dataclasses.fields(CheckSpec))
    assert dataclasses.replace(found) == found


def test_a_rule_that_was_read_is_frozen(tmp_path: Path) -> None:
    found = load(tmp_path, rules()).rules[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.weight = Fraction(0)  # type: ignore[misc]


def test_a_check_may_be_prose(tmp_path: Path) -> None:
    found = load(tmp_path, rules(rule(check="The title says what it is about"))).rules[0]
    assert (found.prose, found.checks) == ("The title says what it is about", ())


def test_a_check_may_be_left_out(tmp_path: Path) -> None:
    found = load(tmp_path, rules(rule(check=None))).rules[0]
    assert (found.prose, found.checks) == ("", ())


def test_several_checks_keep_their_order_and_places(tmp_path: Path) -> None:
    text = rules(
        rule(check="\n      - {type: content, search: a}\n      - {type: content, search: b}")
    )
    checks = load(tmp_path, text).rules[0].checks
    assert [check.params["search"] for check in checks] == ["a", "b"]
    assert [(check.place.line, check.place.column) for check in checks if check.place] == [
        (6, 9),
        (7, 9),
    ]


def test_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    text = "GET /courses/{id} %s $HOME ${x} {{ y }} \\d{2} {0!r}"
    text_in_file = rules(
        rule(description=f"'{text}'", check=f"{{type: content, search: '{text}'}}")
    )
    found = load(tmp_path, text_in_file).rules[0]
    assert found.description == text
    assert found.checks[0].params["search"] == text


def test_b030_a_block_scalar_keeps_its_newline_for_the_check_to_drop(tmp_path: Path) -> None:
    check = "\n      type: content\n      literal: true\n      search: |\n        two words"
    found = load(tmp_path, rules(rule(check=check))).rules[0]
    assert found.checks[0].params["search"] == "two words\n"


@pytest.mark.parametrize(("word", "severity"), [("error", "fail"), ("warning", "warn")])
def test_the_severities_of_linters_are_read_as_those_of_rules(
    tmp_path: Path, word: str, severity: str
) -> None:
    found, usual = (
        load(tmp_path, rules(rule(severity=one, weight=None))).rules[0] for one in (word, severity)
    )
    assert found.severity.value == severity
    assert found.weight == usual.weight


FAULTS = [
    ({"weigth": 1}, "6:5: rule a.docs.title: a rule has no key 'weigth' (did you mean weight?)"),
    ({"tags": "[x]"}, "6:5: rule a.docs.title: a rule has no key 'tags' (known: id, desc"),
    (
        {"severity": "fial"},
        (
            "4:15: rule a.docs.title: severity must be one of fail, warn, info, error, warning, "
            "not the text 'fial' (did you mean fail?)"
        ),
    ),
    (
        {"severity": "True"},
        "severity must be one of fail, warn, info, error, warning, not the boolean true",
    ),
    ({"severity": "Error"}, "not the text 'Error' (did you mean fail?)"),
    ({"severity": None}, "2:5: rule a.docs.title: severity is missing (fail, warn or info)"),
    ({"description": None}, "2:5: rule a.docs.title: description is missing"),
    ({"description": "' '"}, "3:18: rule a.docs.title: description is empty"),
    ({"description": ""}, "3:17: rule a.docs.title: description must be a text, not nothing"),
    ({"description": "# title"}, "an unquoted # starts a comment: put the text in quotes"),
    ({"description": "12"}, "description must be a text, not the number 12 (put it in quotes)"),
    ({"description": "{id}"}, "unquoted braces are a mapping in YAML: put the text in quotes"),
    ({"description": '"a\\0b"'}, "description holds the control character U+0000"),
    ({"phase": "A, B"}, "phase must be one of A, B, not the text 'A, B'"),
    ({"phase": "a"}, "phase must be one of A, B, not the text 'a'"),
    ({"hint": "[x]"}, "hint must be a text, not a list"),
    ({"why": "1.0"}, "why must be a text, not the number 1.0"),
    ({"check": "''"}, "5:12: rule a.docs.title: check is empty"),
    ({"check": "12"}, "check must be a text, not the number 12"),
    ({"check": "[]"}, "5:12: rule a.docs.title: check is an empty list"),
    ({"check": "[prose]"}, "5:13: rule a.docs.title: a check in a list must be a mapping, not"),
    ({"check": None, "checks": "prose"}, "checks must be a list of mappings, not the text 'prose'"),
    ({"checks": "[{type: content, search: x}]"}, "6:5: rule a.docs.title: check and checks both"),
    ({"samples": "{god: [x]}"}, "samples has no key 'god' (did you mean good?)"),
    ({"samples": "{good: [1]}"}, "6:22: rule a.docs.title: an item of good must be a text"),
    ({"samples": "[x]"}, "samples must be a mapping, not a list"),
]


@pytest.mark.parametrize(("keys", "message"), FAULTS, ids=[str(keys) for keys, _ in FAULTS])
def test_what_is_wrong_with_a_rule_is_said_with_its_place(
    tmp_path: Path, keys: dict[str, str], message: str
) -> None:
    (problem,) = problems(tmp_path, rules(rule(**keys)))
    assert message in problem


CHECKS = [
    ("{search: x}", "5:12: rule a.docs.title: the check has no type (one of content, exec"),
    ("{type: contnt}", "5:19: rule a.docs.title: unknown check type 'contnt' (did you mean conten"),
    ("{type: 3}", "type must be a text, not the number 3"),
    ("{type: content}", "5:12: rule a.docs.title: "),
    ("{type: content, search: x, serach: y}", "5:39: rule a.docs.title: 'serach' is not a key"),
    ("{type: content, search: 017}", "5:36: rule a.docs.title: search must be"),
    ("{type: content, search: {id}}", "unquoted braces are a mapping in YAML"),
    ("{type: content, search: [a]}", "unquoted brackets are a list in YAML"),
    ('{type: content, search: "\\bx"}', "in double quotes \\b means that character: use single"),
    ("{type: content, search: x, expected: 3}", "expected must be a text, not the number 3"),
    (
        "{type: content, search: x, rule_id: a.b.c}",
        "the check belongs to this rule, but nam",
    ),
    ("{type: content, search: x, min_count: 1.5}", "5:50: rule a.docs.title: min_count must be"),
]


@pytest.mark.parametrize(("check", "message"), CHECKS, ids=[check for check, _ in CHECKS])
def test_what_is_wrong_with_a_check_is_said_with_its_place(
    tmp_path: Path, check: str, message: str
) -> None:
    (problem,) = problems(tmp_path, rules(rule(check=check)))
    assert message in problem


FIXES = [
    ("x", "6:10: rule a.docs.title: fix must be a mapping, or a list of them, not the text 'x'"),
    ("[x]", "6:11: rule a.docs.title: fix must be a mapping, or a list of them"),
    ("{apend: {text: x}}", "6:11: rule a.docs.title: unknown kind of fix 'apend' (did you mean ap"),
    ("{append: {txt: x}}", "6:20: rule a.docs.title: append has no parameter 'txt'"),
    ("{append: {text: 1}}", "6:26: rule a.docs.title: append: text must be text, not 1"),
    ("{append: x}", "6:11: rule a.docs.title: append needs a mapping"),
    ("{append: {text: x}, replace: {}}", "a fix needs exactly one kind, not append, replace"),
    ("{safe: true}", "a fix needs exactly one kind, not none"),
    ("{append: {text: x}, safe: 1}", "safe must be true or false, not the number 1"),
]


@pytest.mark.parametrize(("fix", "message"), FIXES, ids=[fix for fix, _ in FIXES])
def test_what_is_wrong_with_a_fix_is_said_with_its_place(
    tmp_path: Path, fix: str, message: str
) -> None:
    found = problems(tmp_path, rules(rule(fix=fix)))
    assert any(message in problem for problem in found), found


def test_all_problems_are_told_at_once_in_order(tmp_path: Path) -> None:
    text = rules(rule(weight=-1), rule("a.docs.other", severity="bad", weigth=1), rule("X"))
    found = problems(tmp_path, text, name="many.yaml")
    places = [tuple(map(int, problem.split(":")[1:3])) for problem in found]
    assert len(found) == 4
    assert places == sorted(places)


def test_the_list_of_problems_is_bounded(tmp_path: Path) -> None:
    found = problems(tmp_path, rules(*(rule(f"X{number}") for number in range(300))))
    assert len(found) == 101
    assert found[-1] == "rules.yaml: there are more problems (fix these first)"


def test_b037_a_key_given_twice_names_both_lines(tmp_path: Path) -> None:
    text = rules("  - id: a.docs.title\n    weight: 2\n    weight: 0\n    severity: fail\n")
    assert problems(tmp_path, text)[1] == (
        "rules.yaml:4:5: 'weight' is given twice, first in line 3 (remove one of the two)"
    )


def test_b035_words_that_other_readers_take_for_booleans_are_texts(tmp_path: Path) -> None:
    found = load(tmp_path, rules(rule("a.no.on", description="no", check="off"))).rules[0]
    assert (found.id, found.description, found.prose) == ("a.no.on", "no", "off")
