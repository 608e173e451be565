"""Files that extend other files: what is inherited, replaced, dropped, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from pytest_reflex.criteria.diagnostics import parse_variable
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Level, Severity
from tests.criteria.writing import load, problems, rule, rules, write

BASE = rules(
    rule("a.docs.title"),
    rule("b.docs.tone", severity="warn", weight=3, check="prose"),
    head="name: base\nversion: 7\nphases: {A: {threshold: 0.6}}\nvars: {n: 2, word: x}\n",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "base.yaml", BASE)
    return tmp_path


def test_rules_thresholds_and_variables_are_inherited(folder: Path) -> None:
    found = load(folder, rules(rule("a.own.rule"), head="extends: base.yaml\nvars: {n: 3}\n"))
    assert [each.id for each in found.rules] == ["a.docs.title", "b.docs.tone", "a.own.rule"]
    assert found.thresholds == {Level.A: Fraction(3, 5), Level.B: Fraction(9, 10)}
    assert found.vars == {"n": 3, "word": "x"}


def test_name_and_version_are_not_inherited(folder: Path) -> None:
    found = load(folder, "extends: base.yaml\n", name="my own.yaml")
    assert (found.name, found.version) == ("my-own", 1)


def test_a_rule_is_overridden_key_by_key(folder: Path) -> None:
    text = "extends: base.yaml\nrules: [{id: b.docs.tone, severity: fail}]\n"
    found = load(folder, text).rule("b.docs.tone")
    assert found is not None
    assert (found.severity, found.weight, found.prose) == (Severity.FAIL, 3, "prose")
    assert (found.description, found.place and found.place.line) == ("There is a title", 2)


def test_a_weight_that_nobody_gave_follows_the_new_severity(folder: Path) -> None:
    text = "extends: base.yaml\nrules: [{id: a.docs.title, severity: warn}]\n"
    found = load(folder, text).rule("a.docs.title")
    assert found is not None
    assert found.weight == 1


@pytest.mark.parametrize("check", ["other prose", "{type: content, search: y}"])
def test_a_check_replaces_the_inherited_one_whole(folder: Path, check: str) -> None:
    text = f"extends: base.yaml\nrules:\n  - id: a.docs.title\n    check: {check}\n"
    found = load(folder, text).rule("a.docs.title")
    assert found is not None
    assert bool(found.prose) is not bool(found.checks)


def test_an_inherited_rule_is_dropped(folder: Path) -> None:
    found = load(folder, "extends: base.yaml\ndrop: [b.docs.tone]\n")
    assert [each.id for each in found.rules] == ["a.docs.title"]


FAULTS = [
    ("drop: [a.docs.titel]\n", "2:8: drop: no inherited rule is called 'a.docs.titel' (did you me"),
    ("drop: [3]\n", "2:8: an item of drop must be a text, not the number 3"),
    (
        "drop: a.docs.title\nrules: [{id: a.docs.title, weight: 1}]\n",
        "3:9: drop and rules both name 'a.docs.title'",
    ),
    (
        "rules: [{id: a.docs.titel, weight: 1}]\n",
        "2:9: rule a.docs.titel: no inherited rule is called so, and description is missing (did",
    ),
    ("rules: [{id: a.docs.title, phase: B}]\n", "2:35: rule a.docs.title: phase B contradicts"),
    ("extend: base.yaml\n", "2:1: a template has no key 'extend' (did you mean extends?)"),
    ("rules: {}\n", "2:8: rules must be a list, not a mapping"),
    ("rules: [x]\n", "2:9: a rule must be a mapping, not the text 'x' (a rule starts with"),
    ("name: 'a b'\n", "2:7: the name 'a b' cannot be used"),
    ("name: a::b\n", "2:7: the name 'a::b' cannot be used"),
    ("name: 12\n", "2:7: name must be a text, not the number 12"),
    ("vars: [n]\n", "2:7: vars must be a mapping, not a list"),
    ("vars: {a-b: 1}\n", "2:8: 'a-b' cannot name a variable"),
    ("vars: {ab: 1, AB: 2}\n", "2:15: the variables 'ab' and 'AB' differ in case only"),
    ("commands: {lint: mdl}\n", "2:18: command lint must be a mapping with argv, not the text"),
    ("commands: {lint: {}}\n", "command lint needs argv, a list of texts"),
    ("commands: {lint: {argv: mdl}}\n", "2:25: command lint needs argv, a list of texts"),
    ("commands: {lint: {argv: [mdl, 1]}}\n", "2:31: an item of argv must be a text"),
    ("commands: {lint: {argv: ['{x}']}}\n", "command lint uses {x}, no argument of it (declare"),
    ("commands: {lint: {argv: [x], arg: []}}\n", "command lint has no key 'arg' (did you mean arg"),
    ("commands: {lint: {argv: [x], timeout: 0}}\n", "2:39: timeout must be above 0"),
    ("commands: {'a b': {argv: [x]}}\n", "2:12: 'a b' cannot name a command"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[text.strip() for text, _ in FAULTS])
def test_what_cannot_be_laid_over_is_refused(folder: Path, text: str, message: str) -> None:
    found = problems(folder, f"extends: base.yaml\n{text}")
    assert any(message in problem for problem in found), found


def test_commands_are_read_and_inherited(folder: Path) -> None:
    command = 'commands: {lint: {argv: ["mdl", "{file}"], args: [file], timeout: 5}}\n'
    write(folder, "mid.yaml", f"extends: base.yaml\n{command}")
    found = load(folder, "extends: mid.yaml\n")
    assert found.commands == {"lint": {"argv": ["mdl", "{file}"], "args": ["file"], "timeout": 5}}


def test_a_circle_is_refused_with_its_way(folder: Path) -> None:
    write(folder, "one.yaml", "extends: two.yaml\n")
    write(folder, "two.yaml", "extends: one.yaml\n")
    (problem,) = problems(folder, "extends: one.yaml\n")
    assert problem.startswith("two.yaml:1:10: these files extend one another without end: ")
    assert problem.count("->") == 3


def test_a_file_that_extends_itself_is_refused(folder: Path) -> None:
    (problem,) = problems(folder, "extends: rules.yaml\n")
    assert problem.startswith("rules.yaml:1:10: these files extend one another without end")


def test_a_very_long_chain_is_refused(folder: Path) -> None:
    for number in range(30):
        write(folder, f"{number}.yaml", f"extends: {number + 1}.yaml\n")
    (problem,) = problems(folder, "extends: 0.yaml\n")
    assert "without end" in problem


def test_a_fault_in_the_base_is_told_with_the_bases_place(folder: Path) -> None:
    write(folder, "bad.yaml", rules(rule(weight=-1)))
    found = problems(folder, rules(rule("a.own.rule", weight="x"), head="extends: bad.yaml\n"))
    assert [problem.split(":")[0] for problem in found] == ["rules.yaml", "bad.yaml"]


def test_a_base_that_cannot_be_parsed_is_told_alone(folder: Path) -> None:
    write(folder, "bad.yaml", "rules: [\n")
    (problem,) = problems(folder, rules(rule(weight=-1), head="extends: bad.yaml\n"))
    assert problem.startswith("bad.yaml:2:1: this is not valid YAML")


def test_b007_a_base_that_is_not_there_names_the_paths_tried(folder: Path) -> None:
    (problem,) = problems(folder, "extends: bsae.yaml\n")
    assert problem == (
        "rules.yaml:1:10: there are no criteria 'bsae.yaml'; tried bsae.yaml "
        "(did you mean base.yaml?)"
    )


def test_b042_the_same_rule_from_two_files_names_both_places(folder: Path) -> None:
    write(folder, "a.yaml", rules(rule("a.docs.title")))
    write(folder, "b.yaml", rules(rule("b.docs.x"), rule("a.docs.title")))
    (problem,) = problems(folder, "extends: [a.yaml, b.yaml]\n")
    assert problem == (
        f"rules.yaml: rule a.docs.title: the rule is given by two files: {folder}/a.yaml:2:5 and "
        f"{folder}/b.yaml:6:5 (rename or drop one of them)"
    ).replace(f"{folder}/", "")


def test_a_rule_that_two_bases_share_is_no_conflict(folder: Path) -> None:
    write(folder, "a.yaml", "extends: base.yaml\nrules: [{id: a.docs.title, weight: 5}]\n")
    write(folder, "b.yaml", "extends: base.yaml\n")
    for bases in ("[a.yaml, b.yaml]", "[b.yaml, a.yaml]"):
        found = load(folder, f"extends: {bases}\n").rule("a.docs.title")
        assert found is not None
        assert found.weight == 5


def test_a_rule_that_two_bases_changed_is_a_conflict(folder: Path) -> None:
    for name in ("a", "b"):
        text = "extends: base.yaml\nrules: [{id: a.docs.title, weight: 5}]\n"
        write(folder, f"{name}.yaml", text)
    (problem,) = problems(folder, "extends: [a.yaml, b.yaml]\n")
    assert "a.yaml:2:9 and b.yaml:2:9" in problem


def test_a_variable_is_put_where_a_check_names_it(folder: Path) -> None:
    check = "{type: content, search: {var: word}, min_count: {var: n}}"
    text = rules(rule("a.own.rule", check=check), head="extends: base.yaml\nvars: {n: 4}\n")
    found = load(folder, text, variables={"n": "5"}).rule("a.own.rule")
    assert found is not None
    assert found.checks[0].params == {"search": "x", "min_count": 5}


def test_a_variable_is_never_looked_for_in_text(folder: Path) -> None:
    check = "{type: content, search: '{var: word}', literal: true}"
    found = load(folder, rules(rule("a.own.rule", check=check), head="vars: {word: x}\n"))
    assert found.rules[0].checks[0].params["search"] == "{var: word}"


def test_an_unknown_variable_is_told_with_its_place(folder: Path) -> None:
    check = "{type: content, search: {var: wrod}}"
    (problem,) = problems(folder, rules(rule(check=check), head="extends: base.yaml\n"))
    assert problem == ("rules.yaml:6:42: there is no variable 'wrod' (did you mean word?)")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"m": "1"}, "the criteria have no variable 'm' (known: n, word)"),
        ({"wrod": "1"}, "the criteria have no variable 'wrod' (did you mean word?)"),
        ({"n": "many"}, "the variable n is declared as 2, so 'many' does not fit"),
        ({"n": ".nan"}, "the variable n: '.nan' is not a finite number"),
    ],
    ids=str,
)
def test_a_variable_from_outside_must_be_declared_and_fit(
    folder: Path, given: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(folder, "extends: base.yaml\n", variables=given)
    assert message in str(caught.value)


def test_a_variable_on_the_command_line_is_a_name_and_a_text() -> None:
    assert parse_variable("min_words=1=2") == ("min_words", "1=2")
    assert parse_variable("x=") == ("x", "")


@pytest.mark.parametrize("text", ["", "x", "=1", "a-b=1", "1a=2", "a b=1"])
def test_what_is_no_variable_on_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_variable(text)
    assert f"--var {text!r} is not of the form NAME=VALUE" in str(caught.value)


def test_a_variable_from_outside_is_of_the_kind_that_was_declared(folder: Path) -> None:
    given = {"n": "12", "word": "12"}
    assert load(folder, "extends: base.yaml\n", variables=given).vars == {"n": 12, "word": "12"}
