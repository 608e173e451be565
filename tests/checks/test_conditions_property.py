"""Any conditions over any small artifact: the outcome is what plain Python says, by each route."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.criteria.suite import make_target
from pytest_reflex.model.results import Evaluation
from pytest_reflex.session.fork import evaluate_by_pytest

pytestmark = pytest.mark.long

KEYS = ("a", "b", "c")
NAMES = ("x.json", "y.json", "*.json", "*.md")
DATA = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(["one", "two"]))
CONDITION: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from(KEYS).map(lambda key: {"path": key}),
    st.sampled_from(["one", "two", "three"]).map(lambda word: {"search": word}),
    st.sampled_from(NAMES).map(lambda name: {"file": name}),
)
WHEN = st.lists(
    st.one_of(CONDITION, CONDITION.map(lambda one: {"not": one})), min_size=1, max_size=3
)
RULES = st.lists(st.tuples(st.sampled_from(["fail", "warn", "info"]), WHEN), min_size=1, max_size=4)
ALWAYS = {"id": "a.x.always", "description": "d", "severity": "fail"}


def holds(condition: dict[str, Any], data: dict[str, str]) -> bool:
    """Say it by other means: the artifact is `x.json`."""
    if "not" in condition:
        return not holds(condition["not"], data)
    if "path" in condition:
        return condition["path"] in data
    if "search" in condition:
        return condition["search"] in data.values()
    return condition["file"] in ("x.json", "*.json")


def judged(folder: Path, data: dict[str, str], rules: Any, *, route: Any = evaluate) -> Evaluation:
    written = [
        {
            **ALWAYS,
            "id": f"a.x.r{number}",
            "severity": severity,
            "when": when,
            "check": {"type": "content", "search": "one"},
        }
        for number, (severity, when) in enumerate(rules)
    ]
    always = {**ALWAYS, "check": {"type": "content", "search": "."}}
    path = folder / "rules.yaml"
    path.write_text(json.dumps({"rules": [*written, always]}))
    (folder / "x.json").write_text(json.dumps(data))
    registry = built_in_registry()
    criteria = load_criteria(path, registry=registry)
    target = make_target(criteria, folder / "x.json", root=folder)
    found: Evaluation = route(target, registry)
    return found


def outcomes(found: Evaluation) -> list[str]:
    return [row.outcome.value for row in found.results]


def expected(data: dict[str, str], rules: Any) -> list[str]:
    word = "pass" if "one" in data.values() else "fail"
    return [
        word if all(holds(one, data) for one in when) else "not_applicable" for _, when in rules
    ]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=DATA, rules=RULES)
def test_what_applies_is_what_plain_python_says(
    tmp_path: Path, data: dict[str, str], rules: Any
) -> None:
    found = judged(tmp_path, data, rules)
    assert outcomes(found) == [*expected(data, rules), "pass"]
    # Without the rules that do not apply the verdict is the same.
    kept = [one for one, word in zip(rules, expected(data, rules), strict=True) if word[0] in "pf"]
    less = judged(tmp_path, data, kept)
    assert (less.score, less.passed) == (found.score, found.passed)


@pytest.mark.variants
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=DATA, rules=RULES)
def test_a_session_in_a_fork_says_the_same(
    tmp_path: Path, data: dict[str, str], rules: Any
) -> None:
    core = judged(tmp_path, data, rules)
    fork = judged(tmp_path, data, rules, route=evaluate_by_pytest)
    assert [(row.outcome, row.message) for row in fork.results] == [
        (row.outcome, row.message) for row in core.results
    ]
    assert (fork.score, fork.passed, fork.unsound) == (core.score, core.passed, core.unsound)
