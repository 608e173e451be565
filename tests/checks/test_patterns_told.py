"""A message about a pattern says in words what is wanted; the pattern is a field of its own."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.reports.terminal import evaluation_text
from tests.checks.building import rule, target

WORDS = "It says what it is for."
LED = "It says what it is for"

Case = tuple[str, str, dict[str, Any], str, str]


def structure(**params: Any) -> dict[str, Any]:
    return {"type": "structure", **params}


def content(**params: Any) -> dict[str, Any]:
    return {"type": "content", **params}


# name and text of the artifact, the check, what follows its words, and the pattern
CASES: dict[str, Case] = {
    "absent": ("a.md", "x\n", content(search="^q+$"), "pattern not found", "^q+$"),
    "a short word": ("a.md", "x\n", content(search="usage"), "pattern not found", "usage"),
    "forbidden": (
        *("a.md", "q\n", content(search="^q+$", negate=True)),
        *("pattern found at line 1; it must not be there", "^q+$"),
    ),
    "too often": (
        *("a.md", "q\nq\n", content(search="^q", max_count=1)),
        *("pattern found 2 times, first at line 1; at most 1 are wanted", "^q"),
    ),
    "too seldom": (
        *("a.md", "q\n", content(search="^q", min_count=2)),
        *("pattern found at line 1; at least 2 are wanted", "^q"),
    ),
    "in a section": (
        *("a.md", "# A\n\nx\n", content(search="^q", section="A")),
        *("pattern not found in section 'A'", "^q"),
    ),
    "a heading": (
        *("a.md", "# A\n", structure(headings={"required": ["/^q/"]})),
        *("missing section (pattern not found)", "^q"),
    ),
    "a value": (
        *("a.yaml", "n: x\n", structure(path="n", matches="^q")),
        *('n is "x": pattern not found', "^q"),
    ),
    "values of a list": (
        *("a.yaml", "n: [x, y]\n", structure(path="n.*", matches="^q", across=True)),
        *('n[0] is "x": pattern not found (and 1 more)', "^q"),
    ),
    "a schema": (
        "a.yaml",
        "n: x\n",
        structure(json_schema={"properties": {"n": {"pattern": "^q"}}}),
        *("n: pattern not found in 'x'", "^q"),
    ),
    "a name": (
        *("a.md", "x\n", structure(names={"matches": "^q"})),
        *("a.md: pattern not found", "^q"),
    ),
    "an output": (
        *("a.md", "x\n", {"type": "executable", "command": "echo x", "expect_output": "^q"}),
        *("pattern not found in the output", "^q"),
    ),
    "no output": (
        *("a.md", "x\n", {"type": "executable", "command": "true", "expect_output": "^q"}),
        *("pattern not found in the output, which is empty", "^q"),
    ),
    "one of several": (
        *(
            "a.md",
            "x\n",
            {"type": "any_of", "any_of": [content(search="^q"), content(search="w$")]},
        ),
        *("none of 2 alternatives holds: pattern not found", "^q; or: w$"),
    ),
}
CODE: dict[str, Case] = {
    "absent code": (
        *("a.py", "x = 1\n", structure(code={"language": "python", "pattern": "q($A)"})),
        *("pattern not found", "q($A)"),
    ),
    "forbidden code": (
        "a.py",
        "q(1)\n",
        structure(code={"language": "python", "pattern": "q($A)", "negate": True}),
        *("pattern found; it must not be there", "q($A)"),
    ),
    "code too often": (
        "a.py",
        "q(1)\nq(2)\n",
        structure(code={"language": "python", "pattern": "q($A)", "max_count": 1}),
        *("pattern found 2 times; at most 1 are wanted", "q($A)"),
    ),
}
if find_spec("ast_grep_py"):
    CASES |= CODE


def judge(folder: Path, case: Case, expected: str = "") -> tuple[Evaluation, CheckResult]:
    name, text, params, *_ = case
    (folder / name).write_text(text)
    params = dict(params)
    spec = CheckSpec(type=params.pop("type"), params=params, expected=expected)
    described = replace(rule("a.x.y", spec), description=WORDS)
    evaluation = evaluate(target(folder / name, described), built_in_registry())
    return evaluation, evaluation.results[0].checks[0]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_description_comes_first(tmp_path: Path, case: Case) -> None:
    _, result = judge(tmp_path, case)
    assert result.outcome is Outcome.FAIL
    assert result.message == f"{LED}: {case[-2]}"
    assert result.findings[0].message.startswith(LED)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_expected_comes_first_where_a_check_says_it(tmp_path: Path, case: Case) -> None:
    _, result = judge(tmp_path, case, expected="a purpose")
    assert result.message.startswith(("a purpose: ", "missing section: a purpose"))
    assert LED not in result.message


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_pattern_is_in_the_document_and_with_v(tmp_path: Path, case: Case) -> None:
    evaluation, result = judge(tmp_path, case)
    pattern = case[-1]
    assert result.pattern == pattern
    assert pattern in (row := evaluation.results[0].to_json())["pattern"]
    assert row["checks"][0]["findings"][0]["pattern"] == pattern
    assert CheckResult.from_json(result.to_json()) == replace(
        result, duration=round(result.duration, 6)
    )
    assert pattern not in evaluation_text(evaluation, width=100)
    shown = evaluation_text(evaluation, width=100, verbose=True)
    assert f"            pattern: {pattern}\n" in shown


def test_nothing_is_said_twice(tmp_path: Path) -> None:
    evaluation, _ = judge(tmp_path, CASES["absent"])
    assert evaluation_text(evaluation).count(LED) == 1


def test_a_text_is_quoted_and_its_expectation_is_told_below(tmp_path: Path) -> None:
    case = ("a.md", "x\n", content(search="(c) 2026", literal=True), "", "")
    evaluation, result = judge(tmp_path, case)
    assert (result.message, result.pattern) == ("'(c) 2026' not found", "")
    assert f"expected: {WORDS}" in evaluation_text(evaluation)


def test_alternatives_say_what_each_of_them_is_for(tmp_path: Path) -> None:
    alternatives = [content(search="^q", expected="a q"), content(search="^w", expected="a w")]
    case = ("a.md", "x\n", {"type": "any_of", "any_of": alternatives}, "", "")
    _, result = judge(tmp_path, case)
    assert result.message == (
        "none of 2 alternatives holds: a q: pattern not found; or: a w: pattern not found"
    )


def test_checks_that_say_the_same_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x\n")
    specs = [CheckSpec(type="content", params={"search": one}) for one in ("^q", "^w")]
    described = replace(rule("a.x.y", *specs), description=WORDS)
    evaluation = evaluate(target(tmp_path / "a.md", described), built_in_registry())
    assert evaluation_text(evaluation).count("pattern not found") == 1
    verbose = evaluation_text(evaluation, verbose=True)
    assert "pattern: ^q\n" in verbose
    assert "pattern: ^w\n" in verbose


def test_a_check_that_passed_does_not_repeat_its_rule(tmp_path: Path) -> None:
    evaluation, result = judge(tmp_path, ("a.md", "q\n", content(search="^q"), "", ""))
    assert (result.outcome, result.message) == (Outcome.PASS, "pattern found at line 1")
    assert "pattern: ^q\n" in evaluation_text(evaluation, verbose=True)


def test_a_rule_knows_the_pattern_of_the_check_that_decided(tmp_path: Path) -> None:
    evaluation, _ = judge(tmp_path, CASES["absent"])
    row: RuleResult = evaluation.results[0]
    assert row.to_json()["details"] == f"{LED}: pattern not found"
