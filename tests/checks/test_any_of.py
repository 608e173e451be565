"""Alternatives: one that passes is enough, and what was not judged is not a pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.preview import preview
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import compile_checks, evaluate
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.enums import Level, Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Criteria
from tests.checks.building import rule, target

A = "{type: content, search: a}"
YES = {"type": "content", "search": "Title", "expected": "a title"}
NO = {"type": "content", "search": "nowhere", "expected": "nothing"}
BROKEN = {"type": "executable", "command": "no-such-program"}
UNMEASURED = {"type": "withheld", "command": "x", "reason": "not allowed"}


def any_of(folder: Path, *alternatives: dict[str, Any]) -> CheckResult:
    """Return what alternatives come to on a text."""
    (folder / "a.md").write_text("# Title\n")
    spec = CheckSpec(type="any_of", params={"any_of": list(alternatives)})
    return (
        evaluate(target(folder / "a.md", rule("a.x.y", spec)), built_in_registry())
        .results[0]
        .checks[0]
    )


OUTCOMES: list[tuple[list[dict[str, Any]], Outcome, str]] = [
    ([YES, NO], Outcome.PASS, "alternative 1 of 2 holds: a title: pattern found at line 1"),
    ([NO, YES], Outcome.PASS, "alternative 2 of 2 holds: a title: pattern found at line 1"),
    ([BROKEN, YES], Outcome.PASS, "alternative 2 of 2 holds"),
    (
        [NO, NO],
        Outcome.FAIL,
        "none of 2 alternatives holds: nothing: pattern not found",
    ),
    (
        [NO, BROKEN],
        Outcome.ERROR,
        "none of 2 alternatives holds: nothing: pattern not found; or: exit status 127",
    ),
    ([UNMEASURED, NO], Outcome.NOT_MEASURED, "none of 2 alternatives holds: not run: x"),
    ([UNMEASURED, BROKEN], Outcome.ERROR, "not run: x (not allowed); or: exit status 127"),
]


@pytest.mark.parametrize(
    ("checks", "outcome", "message"), OUTCOMES, ids=[o[2][:40] for o in OUTCOMES]
)
def test_one_that_passes_is_enough(
    tmp_path: Path, checks: list[dict[str, Any]], outcome: Outcome, message: str
) -> None:
    result = any_of(tmp_path, *checks)
    assert result.outcome is outcome
    assert message in result.message


def test_an_error_is_shown_beside_a_pass(tmp_path: Path) -> None:
    (note,) = any_of(tmp_path, BROKEN, YES).notes
    assert note.startswith("alternative 1: error: exit status 127")


def test_every_alternative_that_was_tried_is_told(tmp_path: Path) -> None:
    result = any_of(tmp_path, NO, BROKEN)
    assert [note.split(": ")[:2] for note in result.notes] == [
        ["alternative 1", "fail"],
        ["alternative 2", "error"],
    ]


def test_what_comes_after_a_pass_is_not_run(tmp_path: Path) -> None:
    any_of(tmp_path, YES, {"type": "executable", "command": "touch ran"})
    assert not (tmp_path / "ran").exists()


def test_what_is_expected_is_told_of_all(tmp_path: Path) -> None:
    assert any_of(tmp_path, NO, NO).expected == "nothing | or: nothing"


def test_a_command_that_changes_the_artifact_is_found_out(tmp_path: Path) -> None:
    changing = {"type": "executable", "command": 'echo x >> "$PYTEST_REFLEX_ARTIFACT"'}
    result = any_of(tmp_path, NO, changing)
    assert result.outcome is Outcome.ERROR
    assert "a.md changed while this check ran" in result.message


RULES = """\
name: mine
version: 1
phases: {A: {threshold: 0.8}}
vars: {word: Title}
rules:
  - id: a.x.y
    description: There is a title
    severity: fail
    check:
"""


def read(folder: Path, check: str) -> Criteria:
    (folder / "mine.yaml").write_text(
        RULES + "".join(f"      {line}\n" for line in check.split("\n"))
    )
    return load_criteria(folder / "mine.yaml", registry=built_in_registry())


def test_a_rule_lists_alternatives(tmp_path: Path) -> None:
    criteria = read(tmp_path, "any_of:\n  - {type: content, search: nowhere}\n"
                    "  - {type: content, search: {var: word}}")  # fmt: skip
    (spec,) = criteria.rules[0].checks
    assert spec.type == "any_of"
    (tmp_path / "a.md").write_text("# Title\n")
    found = evaluate(
        target(tmp_path / "a.md", *criteria.rules, variables=criteria.vars), built_in_registry()
    )
    assert found.passed


def test_alternatives_survive_the_wire(tmp_path: Path) -> None:
    criteria = read(
        tmp_path, "any_of: [{type: content, search: a}, {type: executable, command: c}]"
    )
    again = Criteria.from_json(criteria.to_json())
    (spec,) = again.rules[0].checks
    assert [each.type for each in spec.alternatives] == ["content", "executable"]
    assert spec.alternatives[1].params == {"command": "c"}


def test_alternatives_stand_beside_other_checks(tmp_path: Path) -> None:
    lines = f"- {A}\n- any_of:\n    - {A}\n    - {A}"
    checks = read(tmp_path, lines).rules[0].checks
    assert [check.type for check in checks] == ["content", "any_of"]


REFUSED = {
    "any_of: []": "10:15: rule a.x.y: any_of needs two checks at least, and has 0",
    f"any_of: [{A}]": "any_of needs two checks at least, and has 1",
    "any_of: [a, b]": "10:16: rule a.x.y: a check in any_of must be a mapping, not the text 'a'",
    f"any_of:\n  - {{type: content, serch: a}}\n  - {A}": "11:11: rule a.x.y: a check of type",
    f"any_of:\n  - {A}\n  - {{type: contnt}}": "12:18: rule a.x.y: unknown check type 'contnt'",
    f"any_of: [{A}, {{type: content, search: '('}}]": "search is not a valid pattern",
    f"{{search: b, any_of: [{A}, {A}]}}": (
        "10:8: rule a.x.y: 'search' cannot be combined with any_of"
    ),
    f"any_of:\n  - any_of: [{A}, {A}]\n  - {A}": "cannot have alternatives within alternatives",
}


@pytest.mark.parametrize(("check", "message"), REFUSED.items(), ids=REFUSED.values())
def test_mistakes_are_told_where_they_stand(tmp_path: Path, check: str, message: str) -> None:
    def compiled() -> None:
        compile_checks(read(tmp_path, check), Level.A, built_in_registry())

    with pytest.raises(CriteriaError) as caught:
        compiled()
    assert message in str(caught.value)


def test_what_will_run_is_told_of_each_alternative() -> None:
    tool = {"type": "findings", "command": ["ruff", "check"], "format": "sarif"}
    spec = CheckSpec(type="any_of", params={"any_of": [tool, YES]})
    of_rule = rule("a.x.y", spec)
    check = built_in_registry().compile(spec, {})
    first, second = preview(check, of_rule, Path("/"), None)["one_of"]
    assert (first["argv"], second["search"]) == (["ruff", "check"], "Title")
    assert check.description == (
        "one of these holds: `ruff check` reports as sarif at most 0 findings; or: "
        "/Title/ is somewhere in the artifact"
    )
