"""The reference pages tell the truth: their examples compile, and they name all there is."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_reflex.checks import content, executable
from pytest_reflex.checks.code import check as code
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.structure.check import COMMON, KINDS, kind_of
from pytest_reflex.checks.structure.configuration import ASPECTS as CONFIGURATION
from pytest_reflex.checks.structure.markdown.model import blocks
from pytest_reflex.checks.structure.openapi import ASPECTS
from pytest_reflex.model.rules import ALTERNATIVES, CheckSpec
from pytest_reflex.text.data import read_data
from tests.templates.test_stock import PARENTS, RULES, TEMPLATES, THRESHOLDS

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
CHECKS = (FOLDER / "checks.md").read_text("utf-8")
PAGE = (FOLDER / "templates.md").read_text("utf-8")
REGISTRY = built_in_registry()
EXAMPLES = [
    check
    for block in blocks(CHECKS)
    if block.language == "yaml" and block.text.startswith("- ")
    for check in read_data(block.text, "yaml")[0].value
]
"""What stands in lists of checks; a page of rules has its own tests."""


@pytest.mark.parametrize("check", EXAMPLES, ids=str)
def test_example_of_the_reference_compiles(
    check: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "service.json").write_text('{"type": "object"}')
    monkeypatch.chdir(tmp_path)
    spec = CheckSpec.from_json({"type": ALTERNATIVES, **check})
    check_type = REGISTRY.get(spec.type)
    assert list(check_type.problems(spec)) == []
    assert callable(check_type.compile(spec, {}))


STRUCTURE = {key for kind in map(kind_of, KINDS) for key in (kind.key, *kind.inside, *kind.beside)}


@pytest.mark.parametrize(
    "word",
    sorted(
        {
            *content.KINDS,
            *executable.KINDS,
            *STRUCTURE,
            *code.KINDS,
            *code.ASPECTS,
            *COMMON,
            *ASPECTS,
            *CONFIGURATION,
        }
    ),
)
def test_option_is_described(word: str) -> None:
    assert re.search(rf"^\|[^|]*`{word}`", CHECKS, re.MULTILINE) or f"### {word}\n" in CHECKS


@pytest.mark.parametrize("name", RULES)
def test_template_is_described_as_it_is(name: str) -> None:
    part = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `([ab]\.[\w.-]+)` \| (\w+) \|", part, re.MULTILINE))
    parent = {} if name == "base" else RULES[PARENTS.get(name, "base")]
    inherited = {rule: severity for rule, severity in parent.items() if rule in RULES[name]}
    assert rows | inherited == RULES[name]
    a, b = (float(Fraction(text)) for text in THRESHOLDS[name].split())
    assert f"Thresholds: {a:g} at A, {b:g} at B." in part


@pytest.mark.parametrize("name", [name for name in RULES if name != "guide"])
def test_page_says_what_no_rule_of_a_template_sees(name: str) -> None:
    part = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    table = part.split("| rule | it does not see | false alarms known so far |\n")[1]
    rows = re.findall(r"^\| `([ab]\.[\w.-]+)` \| [^|]{9,} \| [^|]{9,} \|$", table, re.MULTILINE)
    inherited = set() if name == "base" else RULES[PARENTS.get(name, "base")].keys()
    assert RULES[name].keys() - inherited <= set(rows) <= RULES[name].keys()


@pytest.mark.parametrize("name", RULES)
def test_variables_of_a_template_are_described(name: str) -> None:
    part = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", part, re.MULTILINE))
    if name in PARENTS and not rows:
        assert TEMPLATES[name].vars == TEMPLATES[PARENTS[name]].vars
        return
    inherited = TEMPLATES[PARENTS[name]].vars if name in PARENTS else {}
    assert rows.keys() | inherited.keys() == TEMPLATES[name].vars.keys()
    own = {key: v for key, v in TEMPLATES[name].vars.items() if inherited.get(key) != v}
    numbers = {key: str(v) for key, v in own.items() if isinstance(v, int)}
    assert numbers.items() <= rows.items()
