"""The stock templates: their rules, thresholds and words, and every sample by its own checks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.criteria.author.samples import judge_sample
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.fixes.registry import apply_all
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Level, Outcome
from pytest_reflex.model.rules import Criteria, Rule

REGISTRY = built_in_registry()
TEMPLATES: dict[str, Criteria] = {
    name: load_criteria(name, registry=REGISTRY)
    for name in (
        *("base", "api-spec", "code", "configuration"),
        *("documentation", "guide", "reference", "changelog", "adr"),
    )
}
RULES = {
    "base": {"a.correctness.artifact-non-empty": "fail"},
    "api-spec": {
        "a.correctness.artifact-non-empty": "fail",
        "a.correctness.endpoints": "fail",
        "a.correctness.schemas": "fail",
        "a.completeness.examples": "fail",
        "a.completeness.errors": "warn",
        "b.style.naming": "warn",
        "b.completeness.pagination": "warn",
        "b.completeness.auth": "fail",
        "b.quality.descriptions": "warn",
    },
    "code": {
        "a.correctness.artifact-non-empty": "fail",
        "a.correctness.compiles": "fail",
        "a.correctness.logic": "fail",
        "a.completeness.functions": "fail",
        "a.completeness.types": "warn",
        "b.quality.error-handling": "warn",
        "b.quality.logging": "warn",
        "b.style.conventions": "warn",
        "b.security.input-validation": "fail",
    },
    "configuration": {
        "a.correctness.artifact-non-empty": "fail",
        "a.correctness.syntax": "fail",
        "a.correctness.required": "fail",
        "a.completeness.env-vars": "warn",
        "a.security.no-secrets": "fail",
        "b.quality.defaults": "warn",
        "b.completeness.comments": "warn",
        "b.quality.portability": "warn",
        "b.security.permissions": "warn",
    },
    "documentation": {
        "a.correctness.artifact-non-empty": "fail",
        "a.correctness.accuracy": "fail",
        "a.completeness.sections": "fail",
        "a.completeness.examples": "warn",
        "a.quality.clarity": "warn",
        "b.quality.structure": "warn",
        "b.completeness.cross-refs": "warn",
        "b.style.consistency": "warn",
        "b.quality.audience": "warn",
    },
}
PARENTS = {"guide": "documentation", "reference": "guide", "adr": "guide"}
"""What a template extends, where that is not base."""
RULES["guide"] = {
    rule: severity
    for rule, severity in RULES["documentation"].items()
    if rule != "a.completeness.sections"
}
RULES["reference"] = {
    **RULES["guide"],
    "a.completeness.entries": "fail",
    "a.completeness.filled": "warn",
    "a.correctness.tables": "warn",
    "b.quality.unique": "warn",
}
RULES["changelog"] = {
    "a.correctness.artifact-non-empty": "fail",
    "a.completeness.releases": "fail",
    "a.correctness.versions": "fail",
    "a.correctness.dates": "warn",
    "a.completeness.changes": "warn",
    "b.quality.grouping": "warn",
    "b.correctness.links": "warn",
    "b.quality.placeholders": "warn",
}
RULES["adr"] = {
    "a.correctness.artifact-non-empty": "fail",
    "a.correctness.accuracy": "fail",
    "a.quality.clarity": "warn",
    "b.quality.structure": "warn",
    "b.style.consistency": "warn",
    "a.completeness.decision": "fail",
    "a.completeness.context": "warn",
    "a.completeness.status": "warn",
    "a.completeness.consequences": "warn",
    "b.completeness.date": "warn",
}
THRESHOLDS = {
    "base": "4/5 9/10",
    "api-spec": "4/5 9/10",
    "code": "4/5 9/10",
    "configuration": "4/5 9/10",
    "documentation": "3/4 17/20",
    **dict.fromkeys(("guide", "reference", "changelog", "adr"), "3/4 17/20"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_has_the_rules_of_its_kind(name: str) -> None:
    criteria = TEMPLATES[name]
    assert {rule.id: rule.severity.value for rule in criteria.rules} == RULES[name]
    assert " ".join(str(criteria.thresholds[level]) for level in Level) == THRESHOLDS[name]


EVERY_RULE: dict[str, Rule] = {}
for name, criteria in TEMPLATES.items():
    known = [(rule.id, rule.checks, rule.samples) for rule in EVERY_RULE.values()]
    EVERY_RULE |= {
        f"{name}: {rule.id}": rule
        for rule in criteria.rules
        if (rule.id, rule.checks, rule.samples) not in known
    }


@pytest.mark.parametrize("rule", EVERY_RULE.values(), ids=EVERY_RULE)
def test_rule_is_explained_and_needs_no_agent(rule: Rule) -> None:
    assert rule.checks
    checks = [one for check in rule.checks for one in check.alternatives or (check,)]
    assert all(check.expected for check in checks)
    assert min(len(text) for text in (rule.description, rule.why, rule.hint)) > 20
    assert rule.samples["good"]
    assert rule.samples["bad"]


def samples(kind: str) -> list[object]:
    return [
        pytest.param(rule, sample, id=f"{label} {number}")
        for label, rule in EVERY_RULE.items()
        for number, sample in enumerate(rule.samples[kind])
    ]


def outcomes(rule: Rule, sample: Sample | str) -> set[Outcome]:
    criteria = Criteria(name="one", version=1, thresholds={}, rules=(rule,))
    given = Sample.of_text(sample) if isinstance(sample, str) else sample
    with tempfile.TemporaryDirectory() as folder:
        results = judge_sample(criteria, rule, given, REGISTRY, Path(folder), Path(folder))
    return {result.outcome for result in results}


@pytest.mark.long
@pytest.mark.parametrize(("rule", "sample"), samples("good"))
def test_good_sample_passes_its_rule(rule: Rule, sample: Sample) -> None:
    assert outcomes(rule, sample) == {Outcome.PASS}


@pytest.mark.long
@pytest.mark.parametrize(("rule", "sample"), samples("bad"))
def test_bad_sample_fails_its_rule(rule: Rule, sample: Sample) -> None:
    found = outcomes(rule, sample)
    assert Outcome.FAIL in found
    assert found <= {Outcome.PASS, Outcome.FAIL}


def test_variables_change_what_documentation_asks_for() -> None:
    criteria = load_criteria("documentation", registry=REGISTRY, variables={"opening_words": 3})
    rule = criteria.rule("b.quality.audience")
    assert rule
    assert outcomes(rule, "# T\n\nOne two three.\n") == {Outcome.PASS}


def test_b032_an_artifact_that_is_a_zero_is_not_empty() -> None:
    assert outcomes(TEMPLATES["base"].rules[0], "0") == {Outcome.PASS}


def test_fix_of_documentation_makes_its_rule_pass() -> None:
    rule = TEMPLATES["documentation"].rule("b.style.consistency")
    assert rule
    text = "# T\n\n- a\n\n```\nmake\n```\n"
    assert Outcome.FAIL in outcomes(rule, text)
    mended, applied = apply_all(rule.fixes, text)
    assert outcomes(rule, mended) == {Outcome.PASS}
    assert [one.changed for one in applied] == [True]
