"""Installed and not used: next to nothing is loaded, and nothing is changed."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.long

LOOK = """
import json, sys
def pytest_unconfigure():
    names = sorted(sys.modules)
    own = [name for name in names if name.split(".")[0] == "pytest_reflex"]
    print("LOADED", json.dumps([own, [name.split(".")[0] for name in names]]))
"""
HEAVY = {"ruamel", "_ruamel_yaml", "jsonschema", "tabulate", "markdown_it", "click", "rich", "re2"}


def loaded(project: pytest.Pytester, *arguments: str) -> tuple[list[str], set[str]]:
    project.makeconftest(LOOK)
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "-s", *arguments)
    line = next(line for line in result.outlines if line.startswith("LOADED "))
    own, names = json.loads(line.removeprefix("LOADED "))
    return own, set(names)


def test_an_ordinary_session_loads_four_small_modules(project: pytest.Pytester) -> None:
    (project.path / "mini.reflex.yaml").unlink()
    project.makepyfile("def test_it(): pass")
    own, names = loaded(project)
    assert own == [
        "pytest_reflex",
        "pytest_reflex.hookspecs",
        "pytest_reflex.plugin",
        "pytest_reflex.session",
        "pytest_reflex.session.options",
    ]
    assert not names & HEAVY


def test_a_passing_suite_loads_no_table_schema_or_console_library(
    project: pytest.Pytester,
) -> None:
    own, names = loaded(project)
    assert "pytest_reflex.session.controller" in own
    assert not names & {"jsonschema", "tabulate", "click", "rich", "markdown_it"}


def test_the_entry_point_can_be_switched_off(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    project.makepyfile("def test_it(): pass")
    result = project.runpytest_subprocess("-p", "no:pytest_reflex", "-p", "no:randomly")
    result.assert_outcomes(passed=1)
    on = project.runpytest_subprocess("-p", "no:randomly")
    on.assert_outcomes(passed=5)


def test_the_options_are_one_group_of_few(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess("--help", plugins=[])
    assert "--reflex" not in result.stdout.str()
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "--help")
    flags = [line for line in result.outlines if line.startswith("  --reflex-")]
    assert 8 <= len(flags) <= 23


def test_the_marks_are_declared(project: pytest.Pytester) -> None:
    result = project.runpytest_subprocess("-p", "pytest_reflex.plugin", "--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.reflex_rule(id*", "@pytest.mark.reflex_warn: *"])
