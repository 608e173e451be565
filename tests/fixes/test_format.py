"""Fixes of the kind `format`, with functions in place of programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_reflex.fixes import FixError, apply, fix_text, problems
from pytest_reflex.model.rules import Fix
from tests.verdict.sets import criteria as criteria_of
from tests.verdict.sets import rule as rule_of


def fix(*, safe: bool = True, **params: Any) -> Fix:
    return Fix(kind="format", params={"command": "tidy", **params}, safe=safe)


def tidy(params: Any, text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


def test_what_the_formatter_makes_is_the_text() -> None:
    assert apply(fix(), "a  \nb\t\n", tidy) == "a\nb\n"


def test_byte_order_mark_stays_and_is_not_given_to_the_formatter() -> None:
    seen = []

    def watching(params: Any, text: str) -> str:
        seen.append(text)
        return tidy(params, text)

    assert apply(fix(), "\ufeffa \n", watching) == "\ufeffa\n"
    assert seen == ["a \n", "a\n"]


def test_formatter_that_changes_its_own_result_is_refused() -> None:
    with pytest.raises(FixError, match="tidy changes its own result, without an end"):
        apply(fix(), "a\n", lambda params, text: text + "more\n")


def test_formatter_with_nothing_to_do_is_run_once() -> None:
    runs: list[str] = []

    def formatted(params: object, text: str) -> str:
        runs.append(text)
        return text

    apply(fix(), "a\n", formatted)
    assert runs == ["a\n"]


def test_without_somebody_who_runs_programs_it_is_skipped_with_the_reason() -> None:
    rule = replace(rule_of("a.x.tidy"), fixes=(fix(),))
    mended = fix_text(criteria_of(rule), ["a.x.tidy"], "a  \n")
    assert mended.text == "a  \n"
    assert mended.skipped == {"a.x.tidy": "format: tidy was not run: no program is run here"}


def test_unsafe_formatter_is_not_run_unasked() -> None:
    rule = replace(rule_of("a.x.tidy"), fixes=(fix(safe=False),))
    assert fix_text(criteria_of(rule), ["a.x.tidy"], "a  \n", tidy).text == "a  \n"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"command": 1}, "format: command must be text, not 1"),
        ({"args": []}, "format: args must be a mapping, not []"),
        ({"args": {"width": 3}}, "format: the argument width must be text, not 3"),
        ({"args": {"width": "-x"}}, "the argument width must not begin with a hyphen"),
        ({"output": "stderr"}, "format: output must be file or stdout, not 'stderr'"),
        ({"argv": ["x"]}, "format has no parameter 'argv'"),
    ],
    ids=str,
)
def test_malformed_parameters_are_explained(params: dict[str, Any], message: str) -> None:
    (problem,) = problems(fix(**params))
    assert message in problem.message


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("kind", ["format", "append"])
def test_whether_it_is_safe_comes_back_from_the_wire(kind: str, safe: bool) -> None:
    one = Fix(kind=kind, params={"x": "y"}, safe=safe)
    assert Fix.from_json(one.to_json()) == one
    assert ("safe" in one.to_json()) is (safe is (kind == "format"))
