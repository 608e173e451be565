"""The page of checks has every key of every check, and none that is not there."""

from __future__ import annotations

import re

import pytest

from pytest_reflex.checks import content, executable, findings
from pytest_reflex.checks.registry import built_in
from pytest_reflex.checks.reported.forms import FORMS
from pytest_reflex.checks.structure import KINDS, kind_of
from tests.docs.test_reference import first_cells, page, section

PAGE = page("checks")
# The program makes these itself; criteria cannot use them.
OWN = {"session", "withheld"}


def part(key: str) -> str:
    """Return what stands under a heading of level 3 within structure."""
    found = re.split(rf"\n### {key}(?:, .*)?\n", section(PAGE, "structure"))
    return found[1].split("\n### ")[0]


def first_table(text: str) -> str:
    """Return the rows of the first table, without its head."""
    return re.split(r"\n\|[-|]+\|\n", text, maxsplit=2)[1].split("\n\n")[0]


def test_every_type_has_a_section() -> None:
    titles = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    assert set(built_in().names) - OWN <= set(titles)


@pytest.mark.parametrize("name", ["content", "executable", "findings"])
def test_the_options_of_a_type_are_listed(name: str) -> None:
    keys = {"content": content, "executable": executable, "findings": findings}[name].KINDS
    listed = first_cells(first_table(section(PAGE, name)))
    assert sorted(listed) == sorted(keys)


@pytest.mark.parametrize("key", KINDS)
def test_the_options_of_a_kind_of_structure_are_listed(key: str) -> None:
    kind = kind_of(key)
    words = kind.value.words if kind.value else ""
    aspects = re.findall(r"\w+", words.removeprefix("one of ")) if "one of " in words else []
    assert set(first_cells(part(key))) - {key} == {*aspects, *kind.inside, *kind.beside}


def test_the_forms_of_reports_are_listed() -> None:
    table = section(PAGE, "findings").split("| format |")[1]
    assert set(first_cells(table)) == set(FORMS)


def test_the_kinds_of_structure_are_named_in_a_sentence() -> None:
    said = section(PAGE, "structure").split(".")[0]
    assert set(re.findall(r"`(\w+)`", said)) == set(KINDS)
