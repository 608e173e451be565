"""The page of checks says what the code says: its tables are written from the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_reflex.checks.findings import parameters
from pytest_reflex.checks.findings.json_report import KNOWN
from pytest_reflex.checks.options import ParameterType
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.structure.check import KINDS, kind_of
from pytest_reflex.criteria.author.schema import file_schema
from tests.docs.check_tables import TYPES, named, tables, written
from tests.docs.test_reference import page, section

PAGE = page("checks")


def every_option() -> Iterator[tuple[str, ParameterType]]:
    for name, kinds in TYPES.items():
        yield from ((f"{name}.{key}", kind) for key, kind in kinds.items())
    for key in KINDS:
        shape = kind_of(key)
        own = {key: shape.value} if shape.value else {}
        rows = {**own, **shape.inside, **shape.beside}
        yield from ((f"structure.{key}.{option}", kind) for option, kind in rows.items())


OPTIONS = dict(every_option())


def described(schema: Any) -> Iterator[str]:
    """Yield every description in a JSON Schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for value in schema.values():
            yield from described(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from described(value)


SAID = set(described(file_schema("criteria", built_in_registry())))


def test_the_page_is_what_the_code_makes_of_it() -> None:
    assert written(PAGE) == PAGE, "run: python -m tests.docs.write docs/reference/checks.md"


def test_the_page_has_every_table_once() -> None:
    assert sorted(named(PAGE)) == sorted(tables())


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="astrology"):
        written("<!-- table: astrology -->\n\n| a |\n")


def test_an_old_table_is_replaced_and_the_words_around_it_stay() -> None:
    text = "before\n\n<!-- table: folders -->\n\n| old |\n|---|\n\nafter | all\n"
    assert written(text) == text.replace("| old |\n|---|\n", tables()["folders"])


def test_every_type_has_a_section() -> None:
    titles = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    assert set(built_in_registry().for_authors) <= set(titles)


def test_the_kinds_of_structure_are_named_in_a_sentence() -> None:
    said = section(PAGE, "structure").split(".")[0]
    assert set(re.findall(r"`(\w+)`", said)) == set(KINDS)


@pytest.mark.parametrize("kind", OPTIONS.values(), ids=OPTIONS)
def test_an_option_says_what_it_means_on_one_line(kind: ParameterType) -> None:
    assert kind.help
    assert "\n" not in kind.help + kind.default
    assert all(kind.choices.values())


@pytest.mark.parametrize("kind", OPTIONS.values(), ids=OPTIONS)
def test_an_editor_shows_the_words_of_the_page(kind: ParameterType) -> None:
    assert [said for said in SAID if said.partition("; default: ")[0] == kind.help]
    assert set(kind.choices.values()) <= SAID


def test_the_forms_of_reports_are_those_that_are_read() -> None:
    assert set(parameters.FORMS) == {*parameters._READERS, *KNOWN, *parameters.OPEN}
