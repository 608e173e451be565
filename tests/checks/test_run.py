"""The core: a target is prepared, run and judged."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.run import evaluate, prepare, run_one
from pytest_reflex.errors import ArtifactError, CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext, CompiledCheck, RunCheck
from tests.checks.building import content, executable, registry, rule, target


class Python:
    """A kind of check whose parameter is the function that judges."""

    name = "python"

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        return ()

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        judge: RunCheck = spec.params["judge"]
        return CompiledCheck(spec, judge)


def python(judge: Any, expected: str = "") -> CheckSpec:
    return CheckSpec(type="python", params={"judge": judge}, expected=expected)


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    path = tmp_path / "a.md"
    path.write_text("# Title\n")
    return path


def test_results_come_in_the_order_of_the_rules(artifact: Path) -> None:
    rules = [rule(f"a.x.r{n}", executable("exit 0"), content(search="T")) for n in range(5)]
    evaluation = evaluate(target(artifact, *rules), registry())
    assert [row.rule for row in evaluation.results] == rules
    assert [len(row.checks) for row in evaluation.results] == [2] * 5
    assert evaluation.passed
    assert evaluation.artifact_sha256 == Artifact(path=artifact, name="", data=b"# Title\n").sha256


def test_commands_overlap(artifact: Path) -> None:
    # Each waits for the other: one after the other they would never end.
    meet = "touch {0}; until test -e {1}; do sleep 0.02; done"
    one = rule("a.x.one", executable(meet.format("one", "two"), timeout=20))
    two = rule("a.x.two", executable(meet.format("two", "one"), timeout=20))
    assert evaluate(target(artifact, one, two), registry(), workers=2).passed


def test_rule_without_checks_is_not_measured(artifact: Path) -> None:
    evaluation = evaluate(target(artifact, rule("a.x.prose")), registry())
    assert evaluation.results[0].outcome is Outcome.NOT_MEASURED
    assert not evaluation.passed


def test_expected_and_duration_are_filled_in(artifact: Path) -> None:
    spec = CheckSpec(type="content", params={"search": "T"}, expected="a title")
    result = run_one(prepare(target(artifact, rule("a.x.y", spec)), registry()), "a.x.y", 0)
    assert result.expected == "a title"
    assert result.duration > 0


def test_exception_in_a_check_is_an_error_that_names_it(artifact: Path) -> None:
    def judge(artifact: Artifact, context: CheckContext) -> CheckResult:
        raise KeyError("missing\x1b")

    prepared = prepare(target(artifact, rule("a.x.y", python(judge))), registry(Python()))
    result = run_one(prepared, "a.x.y", 0)
    assert result.outcome is Outcome.ERROR
    assert result.message == "the check itself failed: KeyError: 'missing\\x1b'"


def test_check_that_returns_something_else_is_an_error(artifact: Path) -> None:
    rules = rule("a.x.y", python(lambda artifact, context: True))
    result = run_one(prepare(target(artifact, rules), registry(Python())), "a.x.y", 0)
    assert result.outcome is Outcome.ERROR
    assert result.message == "the check returned True, not a CheckResult"


def test_interrupt_is_not_swallowed(artifact: Path) -> None:
    def judge(artifact: Artifact, context: CheckContext) -> CheckResult:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(target(artifact, rule("a.x.y", python(judge))), registry(Python()))


def test_all_checks_that_cannot_be_compiled_are_told_at_once(artifact: Path) -> None:
    rules = (
        rule("a.x.one", content(search="(")),
        rule("a.x.two", CheckSpec(type="contnt", params={})),
    )
    with pytest.raises(CriteriaError) as caught:
        prepare(target(artifact, *rules), registry())
    first, second = map(str, caught.value.problems)
    assert first.startswith("rules.yaml:3:5: rule a.x.one: search is not a valid pattern")
    assert second.startswith("rule a.x.two: unknown check type 'contnt' (did you mean content?)")


def test_missing_artifact_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"gone\.md does not exist"):
        evaluate(target(tmp_path / "gone.md", rule("a.x.y", content(search="T"))), registry())


def test_variables_reach_checks_and_commands(artifact: Path) -> None:
    variables = {"least": 2, "name": "{x} $y", "flag": True, "names": ["a", "ü"]}
    command = (
        'test "$PYTEST_REFLEX_VAR_LEAST" = 2 && test "$PYTEST_REFLEX_VAR_NAME" = "{x} \\$y" && '
        'test "$PYTEST_REFLEX_VAR_FLAG" = true && test "$PYTEST_REFLEX_VAR_NAMES" = \'["a", "ü"]\''
    )
    enough = rule("a.x.one", content(search="t", ignore_case=True, min_count={"var": "least"}))
    told = rule("a.x.two", executable(command))
    evaluation = evaluate(target(artifact, enough, told, variables=variables), registry())
    assert [row.outcome for row in evaluation.results] == [Outcome.PASS, Outcome.PASS]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"a": 1, "A": 2}, "two variables differ only in case: 'A'"),
        ({"a": "x\0"}, "the variable 'a' holds a NUL byte"),
    ],
)
def test_variables_that_commands_could_not_see_are_refused(
    artifact: Path, variables: dict[str, Any], message: str
) -> None:
    with pytest.raises(CriteriaError, match=message):
        prepare(target(artifact, rule("a.x.y"), variables=variables), registry())


@pytest.mark.parametrize(
    "command",
    ["echo more >> a.md", "rm a.md", "rm a.md; mkdir a.md", "printf '# Titel\\n' > a.md"],
    ids=["appended", "removed", "replaced", "same size"],
)
def test_check_that_changes_the_artifact_is_an_error(artifact: Path, command: str) -> None:
    before, after = rule("a.x.one", content(search="T")), rule("a.x.two", executable(command))
    evaluation = evaluate(target(artifact, before, after), registry())
    assert [row.outcome for row in evaluation.results] == [Outcome.PASS, Outcome.ERROR]
    assert evaluation.results[1].message == f"{artifact} changed while this check ran"
    assert evaluation.unsound == f"{artifact} changed during the evaluation"
    assert not evaluation.passed


def test_check_that_writes_the_same_bytes_changes_nothing(artifact: Path) -> None:
    rules = rule("a.x.one", executable("cp a.md b && cat b > a.md"))
    assert evaluate(target(artifact, rules), registry()).passed


def test_check_that_changes_the_criteria_is_an_error(artifact: Path) -> None:
    source = artifact.with_name("rules.yaml")
    source.write_text("rules: []")
    order = target(artifact, rule("a.x.y", executable("echo >> rules.yaml")), source=str(source))
    evaluation = evaluate(order, registry())
    assert evaluation.results[0].message == f"{source} changed while this check ran"
    assert not evaluation.passed


def test_change_from_outside_makes_the_evaluation_unsound(artifact: Path) -> None:
    def judge(found: Artifact, context: CheckContext) -> CheckResult:
        artifact.write_text("other")
        return CheckResult(outcome=Outcome.PASS)

    evaluation = evaluate(target(artifact, rule("a.x.y", python(judge))), registry(Python()))
    assert evaluation.results[0].outcome is Outcome.PASS
    assert evaluation.unsound
    assert not evaluation.passed


def test_folder_is_watched_too(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("x")
    new = target(docs, rule("a.x.y", executable("touch docs/new")))
    assert evaluate(new, registry()).results[0].outcome is Outcome.ERROR
    same = target(
        docs,
        rule(
            "a.x.y",
            executable("mkdir docs/__pycache__; touch docs/__pycache__/a.pyc docs/.git docs/new"),
        ),
    )
    assert evaluate(same, registry()).passed


UNREAD = {
    "a link out": ("ln -s /etc/hosts docs/x.md", True),
    "a linked folder": ("ln -s /etc docs/x", True),
    "a pipe": ("mkfifo docs/x.md", True),
    "a large file": ("truncate -s 60M docs/x.md", True),
    "a link that was there is gone": ("rm docs/link.md", True),
    "a cache": ("mkdir docs/.mypy_cache && ln -s /etc docs/.pytest_cache", False),
    "a link that leads nowhere": ("ln -s nowhere docs/x.md", False),
}


@pytest.mark.parametrize(("command", "changed"), UNREAD.values(), ids=UNREAD)
def test_a_check_adds_nothing_to_a_folder_that_would_have_to_be_read(
    command: str, changed: bool, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("yes\n")
    (docs / "link.md").symlink_to("/etc/hosts")
    os.utime(docs / "a.md", (1, 1))
    evaluation = evaluate(target(docs, rule("a.x.one", executable(command))), registry())
    told = "docs changed while this check ran" if changed else ""
    assert evaluation.results[0].message.endswith(told)
    assert evaluation.passed is not changed
    assert bool(evaluation.unsound) is changed


def test_cancelled_commands_could_not_judge(artifact: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    rules = rule("a.x.y", executable("sleep 60", retries=3))
    result = run_one(prepare(target(artifact, rules), registry(), cancel=cancel), "a.x.y", 0)
    assert result.outcome is Outcome.ERROR
    assert result.message == "it was stopped because the session ended"


def test_b032_zero_bytes_are_judged(artifact: Path) -> None:
    artifact.write_bytes(b"")
    rules = rule("a.x.y", executable('test ! -s "$PYTEST_REFLEX_ARTIFACT"'))
    assert evaluate(target(artifact, rules), registry()).passed
