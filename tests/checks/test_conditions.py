"""Conditions of rules: which hold, which do not, and which nobody can decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.composite import only_when, words
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.model.artifact import Artifact, Reason, SkippedFile
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Condition
from pytest_reflex.model.targets import CheckContext
from tests.checks.building import document, folder

REGISTRY = built_in_registry()
HELD = CheckResult(outcome=Outcome.PASS, message="the check was made")
FOLDER = folder(pyproject_toml="version = 1\n", docs__a_md="# A\ndraft\n", docs__b_json="{}\n")


def decide(
    artifact: Artifact | str, *conditions: dict[str, Any], name: str = "a.md"
) -> CheckResult:
    """Return what becomes of a check that passes under some conditions."""
    found = artifact if isinstance(artifact, Artifact) else document(artifact, name)
    when = [Condition.from_json(one) for one in conditions]
    run = only_when(when, lambda artifact, context: HELD, {}, REGISTRY)
    return run(found, CheckContext(root=Path("/nowhere")))


# conditions that hold, and artifacts for which they do
HOLDS: dict[str, tuple[Any, ...]] = {
    "a path in JSON": ('{"a": {"b": 1}}', "a.json", {"path": "a.b"}),
    "a path in YAML": ("a: {b: 1}\n", "a.yaml", {"path": "a.b", "equals": 1}),
    "a path in TOML": ("[a]\nb = 1\n", "a.toml", {"path": "a.b", "value_type": "integer"}),
    "a path in a fenced block": ('```json\n{"a": 1}\n```\n', "a.md", {"path": "a"}),
    "no such path": ("a: 1\n", "a.yaml", {"path": "b", "exists": False}),
    "a path that some have": ("a: [{b: 1}, {}]\n", "a.yaml", {"path": "a.*.b", "some": True}),
    "a pattern": ("# A\nversion 12\n", "a.md", {"search": r"version \d+"}),
    "a text whatever its case": ("DRAFT", "a.md", {"search": "draft", "ignore_case": True}),
    "a text as it stands": ("a.b", "a.md", {"search": "a.b", "literal": True}),
    "a pattern under a heading": ("# A\n## U\nx\n", "a.md", {"search": "x", "section": "U"}),
    "a pattern nowhere": ("# A\n", "a.md", {"search": "draft", "negate": True}),
    "a name": ("x", "docs/a.md", {"file": "*.md"}),
    "a name in a folder": ("x", "docs/a.md", {"file": "docs/*.md"}),
    "one of two names": ("x", "a.yml", {"file": ["*.yaml", "*.yml"]}),
    "an alternative in a name": ("x", "a.yml", {"file": "*.{yaml,yml}"}),
    "a name below the root": ("x", "/nowhere/docs/a.md", {"file": "docs/*.md"}),
    "another name": ("x", "a.md", {"not": {"file": "*.json"}}),
    "no pattern": ("x", "a.md", {"not": {"search": "draft"}}),
    "no path": ("a: 1\n", "a.yaml", {"not": {"path": "b"}}),
    "a file in a folder": (FOLDER, "", {"file": "docs/*.json"}),
    "a file at any depth": (FOLDER, "", {"file": "a.md"}),
    "a text in one of the files": (FOLDER, "", {"search": "draft", "files": "*.md"}),
    "a path in one of the files": (FOLDER, "", {"path": "version", "files": "*.toml"}),
}


@pytest.mark.parametrize(("artifact", "name", "condition"), HOLDS.values(), ids=HOLDS)
def test_a_condition_that_holds(
    artifact: Artifact | str, name: str, condition: dict[str, Any]
) -> None:
    assert decide(artifact, condition, name=name) is HELD


@pytest.mark.parametrize(("artifact", "name", "condition"), HOLDS.values(), ids=HOLDS)
def test_its_opposite_does_not_hold(
    artifact: Artifact | str, name: str, condition: dict[str, Any]
) -> None:
    opposite = condition.get("not", {"not": condition})
    assert decide(artifact, opposite, name=name).outcome is Outcome.NOT_APPLICABLE


# conditions that do not hold, and what is said
FAILS: dict[str, tuple[Any, ...]] = {
    "a path": ("a: 1\n", "a.yaml", {"path": "b.c"}, "b.c is not there"),
    "a value": ("a: 1\n", "a.yaml", {"path": "a", "equals": 2}, "a is 1, not 2"),
    "a path where there is no data": (
        "# A\n",
        "a.md",
        {"path": "a"},
        "there is no JSON, YAML or TOML in it",
    ),
    "a pattern": ("# A\n", "a.md", {"search": "draft"}, "condition not met: pattern not found"),
    "a heading": ("# A\n", "a.md", {"search": "x", "section": "U"}, "there is no section 'U'"),
    "a name": ("x", "docs/a.md", {"file": ["*.txt", "*.rst"]}, "docs/a.md does not match"),
    "a name of a folder's": (FOLDER, "", {"file": "*.py"}, "no file of docs matches *.py"),
    "what must not be there": (
        "draft",
        "a.md",
        {"not": {"search": "draft"}},
        "condition not met: pattern found at line 1",
    ),
    "the second of two": (
        "draft",
        "a.md",
        {"file": "*.md"},
        {"search": "x"},
        "condition not met: pattern not found",
    ),
}


@pytest.mark.parametrize("case", FAILS.values(), ids=FAILS)
def test_a_condition_that_does_not_hold_says_what_was_found(case: tuple[Any, ...]) -> None:
    artifact, name, *conditions, told = case
    found = decide(artifact, *conditions, name=name)
    assert (found.outcome, told in found.message) == (Outcome.NOT_APPLICABLE, True), found.message
    if "pattern" in told:
        wire = conditions[-1].get("not", conditions[-1])
        assert found.pattern == wire["search"]


UNREAD = Artifact(
    path=Path("/nowhere"),
    name="docs",
    files=(document("x", "a.md"),),
    left_out=(SkippedFile(path="b.md", reason=Reason.UNREADABLE, detail="permission denied"),),
)
HIDDEN = Artifact(
    path=Path("/nowhere"),
    name="docs",
    files=(document("x", "a.md"),),
    left_out=(
        SkippedFile(
            path="sub", reason=Reason.UNREADABLE, detail="permission denied", is_folder=True
        ),
    ),
)
# conditions that nobody can decide
UNKNOWN: dict[str, tuple[Any, ...]] = {
    "broken JSON": ('{"a": ', "a.json", {"path": "a"}, "not valid JSON"),
    "broken YAML": ("a: [", "a.yaml", {"path": "b"}, "not valid YAML"),
    "broken TOML": ("a = ", "a.toml", {"not": {"path": "b"}}, "not valid TOML"),
    "one broken block of two": (
        '```json\n{"a": 1}\n```\n```json\n{"b": \n```\n',
        "a.md",
        {"path": "b"},
        "not valid JSON",
    ),
    "no text": (document(b"\xff\xfe", "a.md"), "", {"search": "x"}, "is not UTF-8 text"),
    "no text, for a path": (document(b"\0", "a.json"), "", {"path": "x"}, "is binary"),
    "a folder of which nothing is said": (FOLDER, "", {"search": "x"}, "neither `files` nor"),
    "a search that runs away": (
        "a" * 64 + "!",
        "a.md",
        {"search": r"(?P<x>a|aa)+(?P=x)$"},
        "",
    ),
    "a file that was not read": (UNREAD, "", {"search": "y", "files": "*.md"}, "not checked: b.md"),
    "its opposite": (UNREAD, "", {"not": {"search": "y", "files": "*"}}, "not checked: b.md"),
    "a folder that was not read": (HIDDEN, "", {"file": "*.txt"}, "not checked: sub"),
    "broken data in a folder": (
        folder(a_json="{}", b_json="{"),
        "",
        {"path": "x", "files": "*.json"},
        "b.json: not valid JSON",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("case", UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_decided_is_an_error(case: tuple[Any, ...]) -> None:
    artifact, name, condition, told = case
    found = decide(artifact, condition, name=name)
    assert (found.outcome, told in found.message) == (Outcome.ERROR, True), found.message
    assert found.message.startswith("its condition (")


def test_the_first_condition_that_does_not_hold_ends_it() -> None:
    """So a name can keep the next one from data that it is not about."""
    found = decide("{", {"file": "*.md"}, {"path": "a"}, name="a.json")
    assert (found.outcome, found.message) == (
        Outcome.NOT_APPLICABLE,
        "a.json does not match *.md",
    )


@pytest.mark.parametrize(
    ("wire", "told"),
    [
        ({"path": "a.b"}, "path a.b"),
        ({"not": {"search": "x", "ignore_case": True}}, "not search x, ignore_case true"),
        ({"file": ["*.md", "*.rst"]}, 'file ["*.md", "*.rst"]'),
    ],
)
def test_a_condition_in_words_and_on_the_wire(wire: dict[str, Any], told: str) -> None:
    condition = Condition.from_json(wire)
    assert (words(condition), condition.to_json()) == (told, wire)
