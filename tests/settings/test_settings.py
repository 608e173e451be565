"""Options come from a flag, the environment, the workspace or the default, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.errors import UsageError
from pytest_reflex.settings import SETTINGS, load, positive, whole

KEY = "loop.max_iterations"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    return tmp_path


def write(project: Path, text: str, name: str = "pytest-reflex.toml") -> Path:
    path = project / name
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_defaults_hold(project: Path) -> None:
    settings = load(project)
    assert (settings[KEY], settings.sources[KEY], settings["agent"]) == (4, "default", "offline")


def test_the_workspace_file_is_read(project: Path) -> None:
    path = write(project, "[loop]\nmax_iterations = 7\n")
    settings = load(project)
    assert (settings[KEY], settings.sources[KEY]) == (7, str(path))


def test_pyproject_has_the_same_keys_in_its_table(project: Path) -> None:
    write(project, "[tool.pytest-reflex.loop]\nmax_iterations = 7\n", "pyproject.toml")
    assert load(project)[KEY] == 7


def test_a_pyproject_without_the_table_says_nothing(project: Path) -> None:
    write(project, "[tool.other]\nx = 1\n", "pyproject.toml")
    assert load(project).file is None


def test_the_environment_wins_over_the_workspace(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "[loop]\nmax_iterations = 7\n")
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_MAX_ITERATIONS", "8")
    settings = load(project)
    assert (settings[KEY], settings.sources[KEY]) == (8, "environment")


def test_a_flag_wins_over_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_MAX_ITERATIONS", "8")
    assert load(project, {KEY: "9", "agent": None})[KEY] == 9


def test_what_children_are_given_is_never_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_REFLEX_ARTIFACT", "x")
    monkeypatch.setenv("PYTEST_REFLEX_RUN_DIR", "y")
    assert set(load(project).sources.values()) == {"default"}


BAD = {
    "a typo gets the nearest key": (
        "[loop]\nmax_iteration = 1",
        "did you mean loop.max_iterations",
    ),
    "zero iterations": ("[loop]\nmax_iterations = 0", "whole number >= 1"),
    "a bool is no number": ("[loop]\nmax_iterations = true", "whole number >= 1"),
    "an unknown choice": ('[loop]\nproduce = "never"', '"always" or "first"'),
    "a budget of an unknown kind": ("[loop]\nbudget = {euros = 5}", "'euros'"),
    "a negative budget": ("[loop]\nbudget = {usd = -1}", "positive number for 'usd'"),
    "an infinite budget": ("[loop]\nbudget = {usd = inf}", "positive number for 'usd'"),
    "an agent for no step": ('[loop]\nagents = {think = "x"}', "'think'"),
    "an empty agent": ('agent = ""', "non-empty string"),
    "plugins that are no list": ("plugins = 3", "list of names"),
    "an agent that is no table": ('[agents]\nwriter = "x"', "expected a table for 'writer'"),
    "a nul in a path": ('[loop]\nroot = "a\\u0000"', "non-empty string"),
    "broken TOML": ("[loop", "pytest-reflex.toml"),
    "TOML nested too deep": ("a = " + "[" * 100_000, "pytest-reflex.toml"),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD.keys())
def test_a_wrong_value_names_file_and_remedy(project: Path, text: str, expected: str) -> None:
    write(project, text)
    with pytest.raises(UsageError) as caught:
        load(project)
    assert expected in str(caught.value)
    assert "pytest-reflex.toml" in str(caught.value)


@pytest.mark.parametrize("value", ["5", "[1]", '"x"'])
def test_a_pyproject_table_that_is_none_is_named(project: Path, value: str) -> None:
    write(project, f"[tool]\npytest-reflex = {value}\n", "pyproject.toml")
    with pytest.raises(UsageError, match=r"pyproject.toml: tool.pytest-reflex: expected a table"):
        load(project)


def test_a_wrong_variable_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_REFLEX_LOOP_PRODUCE", "sometimes")
    with pytest.raises(UsageError, match="PYTEST_REFLEX_LOOP_PRODUCE = 'sometimes'"):
        load(project)


NUMBERS = {"08": 8, "010": 10, " 3 ": 3, "4": 4}


@pytest.mark.parametrize("text", NUMBERS)
def test_b075_a_cap_is_read_as_decimal(text: str) -> None:
    assert positive(text) == NUMBERS[text]


@pytest.mark.parametrize("text", ["0x5", "1e3", "-1", "3.0", "٣", "", "0"])
def test_b075_an_unreadable_cap_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        positive(text)


def test_zero_is_a_whole_number() -> None:
    assert whole("0") == 0
