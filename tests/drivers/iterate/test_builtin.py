"""The built-in procedures are worth using: whole, short, for any tool, and safe to repeat."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pytest_reflex.agents.presets import preset_names
from pytest_reflex.drivers.iterate import builtin
from pytest_reflex.drivers.iterate.builtin import built_in_names
from pytest_reflex.drivers.iterate.decide import Promise, parse_promise
from pytest_reflex.drivers.iterate.procedures import find_procedure, tokens_of
from pytest_reflex.drivers.iterate.prompt import compose
from pytest_reflex.settings import load
from pytest_reflex.settings.procedure_tables import NAME, PROCEDURE_KEYS, procedures

FOLDER = Path(builtin.__file__).parent
EACH = pytest.mark.parametrize("name", built_in_names())


def prompt(name: str, project: Path) -> str:
    return compose(find_procedure(name, load(project), project), number=1, total=5)


def test_about_a_dozen_are_there() -> None:
    assert {"build", "plan", "audit", "publish"} < set(built_in_names())
    assert len(built_in_names()) >= 12


@EACH
def test_its_table_is_one_that_a_person_could_write(name: str) -> None:
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    assert set(table) <= set(PROCEDURE_KEYS)
    assert procedures({name: table})
    assert NAME.fullmatch(name)
    assert 20 < len(table["description"]) <= 80


@EACH
def test_it_says_nothing_of_bounds_so_that_the_settings_hold(name: str, tmp_path: Path) -> None:
    found = find_procedure(name, load(tmp_path), tmp_path)
    assert (found.max_iterations, found.failure_threshold, found.agent, found.gates) == (
        None,
        None,
        "",
        None,
    )


@EACH
def test_it_is_short_and_every_place_is_filled(name: str, tmp_path: Path) -> None:
    text = prompt(name, tmp_path)
    assert 300 < tokens_of(text) < 1_200
    assert not re.search(r"[{}]", text)


@EACH
def test_it_offers_the_signal_and_gives_none_when_repeated(name: str, tmp_path: Path) -> None:
    text = prompt(name, tmp_path)
    assert find_procedure(name, load(tmp_path), tmp_path).success
    assert text.count(Promise.SUCCESS) == text.count(Promise.FAILURE) == 1
    assert parse_promise(text) is None
    assert Promise.SUCCESS not in [line.strip() for line in text.splitlines()]


@EACH
def test_it_is_written_for_no_tool_in_particular(name: str, tmp_path: Path) -> None:
    text = prompt(name, tmp_path).lower().replace("claude.md", "")
    tools = {tool.partition("-")[0] for tool in preset_names()}
    assert not [tool for tool in tools if re.search(rf"\b{tool}\b", text)]


def test_no_shared_fragment_is_left_over() -> None:
    used = {
        path
        for name in built_in_names()
        for path in re.findall(
            r'^path = "(.*)"$', (FOLDER / f"{name}.toml").read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert used == {path.name for path in FOLDER.glob("*.md")}
