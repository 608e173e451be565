"""`when` of rules: how it is read, inherited, shown, linted, tried and proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_reflex.checks.judged import add_judged_checks
from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.prove import Proof, Prover
from pytest_reflex.criteria.author.samples import try_samples
from pytest_reflex.criteria.author.schema import file_schema
from pytest_reflex.criteria.linting.lint import lint
from pytest_reflex.model.rules import Criteria
from tests.criteria.lint_cases import whole
from tests.criteria.writing import REGISTRY, load, problems, rule, rules, value, write

CRITERIA = Draft202012Validator(file_schema("criteria", REGISTRY))

READ: dict[str, tuple[str, Any]] = {
    "a path": ("{path: a.b}", [{"path": "a.b"}]),
    "a path with more": (
        "{path: a, equals: 1, block: yaml}",
        [{"path": "a", "equals": 1, "block": "yaml"}],
    ),
    "a pattern": (
        "{search: x, ignore_case: true}",
        [{"search": "x", "ignore_case": True}],
    ),
    "a glob": ("{file: '*.md'}", [{"file": "*.md"}]),
    "several globs": ("{file: ['*.md', 'docs/*']}", [{"file": ["*.md", "docs/*"]}]),
    "an opposite": ("{not: {search: x}}", [{"not": {"search": "x"}}]),
    "several": (
        "[{file: '*.md'}, {not: {path: b}}]",
        [{"file": "*.md"}, {"not": {"path": "b"}}],
    ),
    "nothing": ("null", []),
}


@pytest.mark.parametrize(("text", "wire"), READ.values(), ids=READ)
def test_conditions_are_read_and_go_round(tmp_path: Path, text: str, wire: Any) -> None:
    criteria = load(tmp_path, rules(rule(when=text)))
    assert [one.to_json() for one in criteria.rules[0].when] == wire
    again = Criteria.from_json(json.loads(json.dumps(criteria.to_json())))
    assert again.to_json() == criteria.to_json()
    assert [one.to_json() for one in again.rules[0].when] == wire
    assert list(CRITERIA.iter_errors(_written(text))) == []


def _written(when: str) -> dict[str, Any]:
    own = {
        "id": "a.docs.title",
        "description": "d",
        "severity": "fail",
        "when": value(f"k: {when}"),
    }
    return {"rules": [own]}


# what is written: line and column, and what is said of it
FAULTS: dict[str, tuple[str, str]] = {
    "no mapping": ("x", "6:11: rule a.docs.title: a condition under when must be a mapping"),
    "no mapping in a list": ("[{file: x}, 3]", "6:23: rule a.docs.title: a condition under when"),
    "no condition": ("[]", "when is an empty list (when: null takes an inherited one away)"),
    "an empty one": ("{}", "a condition has none of path, search, file (when: {path: a.b}"),
    "a slip": (
        "{serach: x}",
        "6:12: rule a.docs.title: a condition has none of path, search, file",
    ),
    "a slip for a path": ("{paht: x}", "did you mean path?"),
    "another check": ("{command: [x]}", "a condition has none of path, search, file"),
    "two of them": ("{search: x, path: y}", "has one of path, search, file, not both path and"),
    "an unknown key": ("{search: x, negat: true}", "6:23: rule a.docs.title: 'negat' is not a key"),
    "an unknown key of a path": ("{path: a, exist: false}", "did you mean exists?"),
    "a key of another kind": ("{file: x, literal: true}", "'literal' is not a key"),
    "no pattern": ("{search: '('}", "6:20: rule a.docs.title: search is not a valid pattern"),
    "no path": ("{path: 'a..'}", "6:18: rule a.docs.title: path: column 3 of 'a..'"),
    "no glob": ("{file: 3}", "file must be a non-empty string, or a list of them, not 3"),
    "no switch": ("{path: a, exists: no}", "exists must be true or false, not 'no' (write false)"),
    "a type": ("{type: content, search: x}", "a condition has no key 'type'"),
    "words for people": ("{search: x, expected: y}", "a condition has no key 'expected'"),
    "an opposite of nothing": ("{not: x}", "not takes exactly one condition, not the text 'x'"),
    "an opposite beside another": (
        "{not: {search: x}, path: y}",
        "not takes exactly one condition, not other keys",
    ),
    "an opposite of an opposite": ("{not: {not: {search: x}}}", "not cannot be nested in not"),
    "no such variable": ("{search: {var: q}}", "there is no variable 'q'"),
    "what always holds": ("{search: x, min_count: 0}", "min_count 0 holds for every text"),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_at_its_place(tmp_path: Path, text: str, told: str) -> None:
    (found,) = problems(tmp_path, rules(rule(when=text)))
    assert found.startswith("rules.yaml:6:")
    assert told in found


UNSAYABLE = ("no pattern", "no path", "no such variable", "what always holds", "two of them")


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in UNSAYABLE])
def test_the_schema_refuses_it_too(name: str) -> None:
    assert not CRITERIA.is_valid(_written(FAULTS[name][0]))


def test_a_variable_stands_for_a_value(tmp_path: Path) -> None:
    text = rules(rule(when="{search: {var: word}}"), head="vars: {word: draft}\n")
    assert load(tmp_path, text).rules[0].when[0].check.params == {"search": "draft"}


OVER: dict[str, tuple[str, list[Any]]] = {
    "what says nothing of it": ("severity: warn", [{"search": "x"}]),
    "another condition": ("when: {file: '*.md'}", [{"file": "*.md"}]),
    "nothing": ("when: null", []),
}


@pytest.mark.parametrize(("line", "wire"), OVER.values(), ids=OVER)
def test_an_extending_file_lays_its_own_over_it(tmp_path: Path, line: str, wire: list[Any]) -> None:
    write(tmp_path, "base.yaml", rules(rule(when="{search: x}")))
    text = f"extends: base.yaml\nrules: [{{id: a.docs.title, {line}}}]\n"
    assert [one.to_json() for one in load(tmp_path, text).rules[0].when] == wire


def test_a_rule_without_a_check_is_asked_about_only_where_it_applies(tmp_path: Path) -> None:
    """It has a check by which that is known, whether anybody judges or not."""
    plain, conditional = rule(check="prose"), rule("a.own", phase="A", check="p", when="{file: x}")
    given = load(tmp_path, rules(plain, conditional))
    assert add_judged_checks(given, REGISTRY) is given
    criteria = add_judged_checks(given, REGISTRY, conditional=True)
    assert [[spec.type for spec in one.checks] for one in criteria.rules] == [[], ["judged"]]


SHOWN = {
    "show": (["criteria", "show", "rules.yaml"], "a.docs.title"),
    "explain": (["criteria", "explain", "rules.yaml", "a.docs.title"], "ONLY WHEN   not search x"),
    "compile": (["criteria", "compile", "rules.yaml"], "ONLY WHEN   not search x"),
}


@pytest.mark.parametrize(("command", "told"), SHOWN.values(), ids=SHOWN)
def test_it_is_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "rules.yaml", rules(rule(when="{not: {search: x}}")))
    assert main(command) == 0
    assert told in capsys.readouterr().out


LINTED: dict[str, tuple[str, str, str]] = {
    "every pattern": ("{search: 'x*'}", "always-applies", "'search x*' holds for every artifact"),
    "no pattern": ("{search: 'a$b'}", "never-applies", "holds for no artifact"),
    "not every pattern": ("{not: {search: 'x*'}}", "never-applies", "holds for no artifact"),
    "every name": ("{file: '*'}", "always-applies", "'file *' holds for every artifact"),
    "a name outside": ("{file: '../*.md'}", "never-applies", "holds for no artifact"),
    "not a name outside": ("{not: {file: '../a'}}", "always-applies", "holds for every artifact"),
    "two opposites": (
        "[{search: a}, {not: {search: a}}]",
        "never-applies",
        "is the opposite of another condition",
    ),
    "what the check asks for": ("{search: '^# '}", "decided-check", "it can never fail"),
    "what it forbids": ("{not: {search: '^# '}}", "decided-check", "it can never pass"),
}


@pytest.mark.parametrize(("when", "code", "told"), LINTED.values(), ids=LINTED)
def test_a_condition_that_decides_nothing_is_odd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, code: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "page.yaml", rules(whole(when=when)))
    (remark,) = lint("page.yaml", REGISTRY)
    assert (remark.code, told in remark.problem.message) == (code, True), remark.problem.message


@pytest.mark.parametrize(
    "when", ["{search: draft}", "{file: '*.md'}", "[{file: '*.md'}, {not: {search: draft}}]"]
)
def test_nothing_is_said_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "page.yaml", rules(whole(when=when)))
    assert lint("page.yaml", REGISTRY) == []


CHECK = "{type: content, search: 'port: [0-9]+'}"
TRIED: dict[str, tuple[list[str], list[str], str]] = {
    "all apply": (["server\nport: 1"], ["server\n"], "validated reported"),
    "a bad one does not": (
        ["server\nport: 1"],
        ["# T"],
        "validated",
    ),
    "a good one does not": (["port: 1"], ["server\n"], "reported"),
    "none does": (["port: 1"], ["# T"], ""),
}


@pytest.mark.parametrize("name", TRIED)
def test_a_sample_to_which_the_rule_does_not_apply_shows_nothing(tmp_path: Path, name: str) -> None:
    good, bad, fine = TRIED[name]
    samples = json.dumps({"good": good, "bad": bad})
    text = rules(rule(check=CHECK, when="{search: server}", samples=samples))
    criteria = load(tmp_path, text)
    (tried,) = try_samples(criteria, criteria.rules, REGISTRY, tmp_path)
    found = [one.verdict for one in tried.samples]
    assert [one for one in found if one != "not applicable"] == fine.split()
    assert tried.verdict == ("not applicable" if len(fine.split()) < 2 else "validated")


def test_samples_that_show_nothing_fail_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    samples = json.dumps({"good": ["server\nport: 1"], "bad": ["# T"]})
    text = rules(rule(check=CHECK, when="{search: server}", samples=samples))
    write(tmp_path, "rules.yaml", text)
    assert main(["criteria", "test", "rules.yaml"]) == 1
    assert "bad sample 1 is not applicable" in capsys.readouterr().out


PROVED: dict[str, tuple[str, list[str], list[str], Proof]] = {
    "by a mutant": ("{search: server}", ["server\nport: 1"], [], Proof.PROVED),
    "by a bad sample": ("{search: server}", [], ["server\n"], Proof.PROVED),
    "not by a bad sample that it is not about": ("{search: server}", [], ["# T"], Proof.UNPROVEN),
    "not where it holds for nothing": ("{search: host}", ["port: 1"], ["x"], Proof.UNPROVEN),
    "not where the condition is the check": (
        "{search: 'port: [0-9]+'}",
        ["port: 1"],
        ["# T"],
        Proof.VACUOUS,
    ),
}


@pytest.mark.parametrize(("when", "good", "bad", "proof"), PROVED.values(), ids=PROVED)
def test_a_rule_is_proved_on_what_it_applies_to(
    tmp_path: Path, when: str, good: list[str], bad: list[str], proof: Proof
) -> None:
    samples = json.dumps({"good": good, "bad": bad})
    criteria = load(tmp_path, rules(rule(check=CHECK, when=when, samples=samples)))
    prover = Prover(criteria=criteria, registry=REGISTRY, root=tmp_path)
    (found,) = prover.prove(criteria.rules)
    assert found.proof is proof
    if proof is Proof.UNPROVEN:
        assert found.message == "its conditions hold for nothing that it was tried on"
