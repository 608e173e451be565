"""Suite files and options: which artifacts are judged under what, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.criteria.suite import load_suite, make_target
from pytest_reflex.errors import CriteriaError, UsageError
from pytest_reflex.model.enums import Level
from pytest_reflex.model.targets import Target
from tests.criteria.writing import REGISTRY, load, rule, rules, write

MINE = rules(rule("a.x.one"), rule("b.x.two"), head="name: mine\nversion: 4\nvars: {n: 1}\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "mine.yaml", MINE)
    for name in ("README.md", "docs/b.md", "docs/a.md", "docs/deep/c.md", "docs/.hidden.md"):
        write(tmp_path, name, "# T\n")
    return tmp_path


def suite(folder: Path, text: str, **options: Any) -> tuple[Target, ...]:
    path = write(folder, "my.reflex.yaml", text)
    return load_suite(path, registry=REGISTRY, root=folder, **options)


def faults(folder: Path, text: str, **options: Any) -> list[str]:
    with pytest.raises(CriteriaError) as caught:
        suite(folder, text, **options)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def test_a_suite_gives_a_target_for_each_artifact(folder: Path) -> None:
    (target,) = suite(folder, "criteria: mine.yaml\nartifacts: [README.md]\n")
    assert (target.label, target.artifact) == ("README.md", folder / "README.md")
    assert (target.root, target.level, target.threshold) == (folder, Level.B, None)
    assert (target.criteria.name, target.criteria.version) == ("mine", 4)


PATTERNS = [
    ("README.md", ["README.md"]),
    ("'docs/*.md'", ["docs/a.md", "docs/b.md"]),
    ("'docs/**/*.md'", ["docs/a.md", "docs/b.md", "docs/deep/c.md"]),
    ("'**/*.md'", ["README.md", "docs/a.md", "docs/b.md", "docs/deep/c.md"]),
    ("['docs/b.md', 'docs/*.md', README.md]", ["README.md", "docs/a.md", "docs/b.md"]),
    ("docs", ["docs"]),
    ("'d*/'", ["docs"]),
    ("docs/.hidden.md", ["docs/.hidden.md"]),
    ("'*.yaml'", ["mine.yaml"]),
    ("./docs/../README.md", ["README.md"]),
]


@pytest.mark.parametrize(("artifacts", "labels"), PATTERNS, ids=[text for text, _ in PATTERNS])
def test_artifacts_are_found_and_sorted(folder: Path, artifacts: str, labels: list[str]) -> None:
    found = suite(folder, f"criteria: mine.yaml\nartifacts: {artifacts}\n")
    assert [target.label for target in found] == labels
    assert all(target.artifact.exists() for target in found)


def test_artifacts_may_lie_elsewhere(folder: Path) -> None:
    write(folder, "pyproject.toml", "")
    path = write(folder, "suites/far.reflex.yaml", "criteria: ../mine.yaml\nartifacts: ../*.md\n")
    absolute = write(folder, "abs.reflex.yaml", f"criteria: mine.yaml\nartifacts: {folder}/R*\n")
    (far,) = load_suite(path, registry=REGISTRY, root=folder)
    (near,) = load_suite(absolute, registry=REGISTRY, root=folder)
    assert (far.label, near.label) == ("../README.md", "README.md")


def test_a_name_with_wildcard_characters_is_found_as_it_is(folder: Path) -> None:
    write(folder, "a[1].md", "x")
    (target,) = suite(folder, "criteria: mine.yaml\nartifacts: 'a[1].md'\n")
    assert target.label == "a[1].md"


def test_b007_a_pattern_that_matches_nothing_is_refused(folder: Path) -> None:
    found = faults(folder, "criteria: mine.yaml\nartifacts: [README.md, 'dosc/*.md', x.md]\n")
    where = f"matches no artifact in {folder} (patterns start at the suite's folder)"
    assert found == [
        f"my.reflex.yaml:2:24: 'dosc/*.md' {where}",
        f"my.reflex.yaml:2:37: 'x.md' {where}",
    ]


def test_own_rules_need_no_other_criteria(folder: Path) -> None:
    text = rules(rule("a.x.own"), head="artifacts: README.md\n")
    (target,) = suite(folder, text)
    assert (target.criteria.name, target.criteria.version) == ("my", 1)
    assert target.level is Level.A


def test_criteria_may_be_given_in_the_suite(folder: Path) -> None:
    head = (
        "criteria: {name: own, version: 3, phases: {A: {threshold: 0.5}}}\nartifacts: README.md\n"
    )
    (target,) = suite(folder, rules(rule("a.x.own"), head=head))
    assert (target.criteria.name, target.criteria.version) == ("own", 3)
    assert target.bar == Fraction(1, 2)


def test_a_suite_overrides_drops_and_sets(folder: Path) -> None:
    text = (
        "criteria: mine.yaml\nartifacts: README.md\nphase: A\nphases: {A: {threshold: 1}}\n"
        "vars: {n: 2}\ndrop: [b.x.two]\nrules: [{id: a.x.one, weight: 9}]\n"
    )
    (target,) = suite(folder, text)
    assert (target.level, target.bar, target.criteria.vars) == (Level.A, 1, {"n": 2})
    assert [(each.id, each.weight) for each in target.rules] == [("a.x.one", 9)]


def test_a_suite_may_name_a_stock_template_and_variables_come_from_outside(folder: Path) -> None:
    text = "criteria: base\nartifacts: README.md\nvars: {n: 2}\n"
    (target,) = suite(folder, text, variables={"n": "3"})
    assert (target.criteria.name, target.criteria.vars["n"]) == ("base", 3)


FAULTS = [
    ("criteria: mine.yaml\n", "1:1: a suite needs artifacts (artifacts: [README.md])"),
    ("name: x\n", "1:1: a suite needs artifacts"),
    ("artifacts: []\n", "1:12: artifacts names nothing"),
    ("artifacts: 3\n", "1:12: artifacts must be a list, not the number 3"),
    ("artifacts: [3]\n", "1:13: an item of artifacts must be a text, not the number 3"),
    ("artifacts: ['']\n", "1:13: '' matches no artifact"),
    ('artifacts: ["a\\0b"]\n', "1:13: an item of artifacts holds the control character U+0000"),
    ("artifacts: README.md\n", "there are no rules"),
    ("artifact: README.md\ncriteria: mine.yaml\n", "1:1: a suite has no key 'artifact' (did you"),
    ("artifacts: README.md\nextends: mine.yaml\n", "2:1: a suite has no key 'extends'"),
    ("artifacts: README.md\ncriteria: mien.yaml\n", "2:11: there are no criteria 'mien.yaml'"),
    ("artifacts: README.md\ncriteria: 3\n", "2:11: criteria must be a list, not the number 3"),
    ("artifacts: README.md\ncriteria: {nam: x}\n", "2:12: criteria has no key 'nam' (did you mean"),
    ("artifacts: README.md\ncriteria: mine.yaml\nphase: C\n", "3:8: phase must be one of A, B"),
    (
        "artifacts: README.md\ncriteria: mine.yaml\nphase: {A: {threshold: 1}}\n",
        "3:8: phase of a suite must be A or B (thresholds belong under phases)",
    ),
    (
        "artifacts: README.md\ncriteria: mine.yaml\nphases: {A: {threshold: 2}}\n",
        "3:25: threshold must lie between 0 and 1",
    ),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[text for text, _ in FAULTS])
def test_what_is_wrong_with_a_suite_is_said_with_its_place(
    folder: Path, text: str, message: str
) -> None:
    found = faults(folder, text)
    assert any(message in problem for problem in found), found


def test_rules_of_b_only_cannot_be_judged_at_a(folder: Path) -> None:
    text = rules(rule("b.x.own"), head="artifacts: README.md\nphase: A\n")
    with pytest.raises(CriteriaError, match="the criteria have no rules in phase A"):
        suite(folder, text)


def test_the_threshold_of_a_target_may_be_given(folder: Path) -> None:
    criteria = load(folder, MINE)
    target = make_target(
        criteria, folder / "README.md", level=Level.A, threshold=Fraction(1, 3), root=folder
    )
    assert (target.level, target.bar) == (Level.A, Fraction(1, 3))


@pytest.mark.parametrize(("ids", "level"), [(["a.x.y"], "A"), (["b.x.y"], "B")])
def test_the_level_of_a_target_is_b_where_there_are_rules_of_b(
    folder: Path, ids: list[str], level: str
) -> None:
    criteria = load(folder, rules(*map(rule, ids)))
    assert make_target(criteria, folder / "README.md", root=folder).level == level


OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("a.x.y", {"artifact": "nope.md"}, "there is no artifact 'nope.md'"),
    ("b.x.y", {"level": Level.A}, "rules has no rules in phase A"),
]


@pytest.mark.parametrize(("rule_id", "options", "message"), OPTIONS, ids=[o[2] for o in OPTIONS])
def test_a_target_that_cannot_be_judged_is_refused(
    folder: Path, rule_id: str, options: dict[str, Any], message: str
) -> None:
    criteria = load(folder, rules(rule(rule_id)))
    artifact = Path(options.pop("artifact", folder / "README.md"))
    with pytest.raises(UsageError) as caught:
        make_target(criteria, artifact, root=folder, **options)
    assert message in str(caught.value)


def test_a_threshold_that_nothing_can_miss_is_refused(folder: Path) -> None:
    criteria = load(folder, rules(rule(severity="warn")))
    with pytest.raises(UsageError, match="the threshold of phase A is 0"):
        make_target(criteria, folder / "README.md", threshold=Fraction(0), root=folder)
