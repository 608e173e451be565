"""Procedures and gates are joined by field over the tiers, and each field knows its tier."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import UsageError
from pytest_reflex.settings import SETTINGS, Tier, global_path, load
from pytest_reflex.settings.procedure_tables import (
    GATE_KEYS,
    PROCEDURE_KEYS,
    gates,
    procedures,
)
from pytest_reflex.settings.resolve import Origin, _take
from pytest_reflex.settings.table import BY_KEY

BUILD = "iterate.procedures.build"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    return tmp_path


@pytest.fixture
def personal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    folder = global_path().parent
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, text: str) -> Path:
    path = folder / "pytest-reflex.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_field_of_the_workspace_keeps_the_others_of_a_person(
    project: Path, personal: Path
) -> None:
    own = write(personal, f'[{BUILD}]\nagent = "mine"\nmax_iterations = 9\n')
    theirs = write(project, f"[{BUILD}]\nmax_iterations = 2\n")
    found = load(project)
    assert found["iterate.procedures"] == {"build": {"agent": "mine", "max_iterations": 2}}
    assert found.origins[f"{BUILD}.agent"] == Origin(Tier.GLOBAL, own)
    assert found.origins[f"{BUILD}.max_iterations"] == Origin(Tier.WORKSPACE, theirs)


def test_a_gate_is_a_command_or_criteria_never_both(project: Path, personal: Path) -> None:
    write(personal, '[iterate.gates.docs]\ncommand = "make"\ntimeout = 9\n')
    write(project, '[iterate.gates.docs]\ncriteria = "documentation"\n')
    found = load(project)
    assert found["iterate.gates"]["docs"] == {"criteria": "documentation", "timeout": 9.0}
    assert "iterate.gates.docs.command" not in found.origins
    assert found.origins["iterate.gates.docs.timeout"].tier is Tier.GLOBAL


def test_paths_of_a_persons_own_file_start_in_its_folder(project: Path, personal: Path) -> None:
    (personal / "own.yaml").write_text("name: own\n")
    write(
        personal,
        f'[{BUILD}]\nact = [{{path = "act.md"}}, {{content = "x"}}]\n'
        '[iterate.gates]\na = {criteria = "own.yaml"}\nb = {criteria = "documentation"}\n',
    )
    found = load(project)
    assert found["iterate.procedures"]["build"]["act"] == [
        {"path": str(personal / "act.md")},
        {"content": "x"},
    ]
    gates = {name: gate["criteria"] for name, gate in found["iterate.gates"].items()}
    assert gates == {"a": str(personal / "own.yaml"), "b": "documentation"}


@pytest.mark.parametrize(
    ("variable", "value", "key", "expected"),
    [
        ("MAX_ITERATIONS", "08", "max_iterations", 8),
        ("MAX_ITERATIONS", " 3 ", "max_iterations", 3),
        ("MAX_ITERATIONS", "0", "max_iterations", 0),
        ("STOP_UNCHANGED", "true", "stop_unchanged", True),
        ("LOG_FORMAT", "json", "log_format", "json"),
    ],
)
def test_the_environment_gives_single_values(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    key: str,
    expected: Any,
) -> None:
    monkeypatch.setenv(f"PYTEST_REFLEX_ITERATE_{variable}", value)
    found = load(project)
    assert found[f"iterate.{key}"] == expected
    assert found.origins[f"iterate.{key}"].tier is Tier.ENVIRONMENT


@pytest.mark.parametrize("text", ["0x5", "1e3", "-1", "3.0", "٣", ""])
def test_b075_an_unreadable_limit_is_never_no_limit(
    project: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    name = "PYTEST_REFLEX_ITERATE_MAX_ITERATIONS"
    monkeypatch.setenv(name, text)
    with pytest.raises(UsageError, match=re.escape(f"{name} = {text!r}: expected a whole number")):
        load(project)


BAD = {
    "more iterations than a state can hold": (
        "[iterate]\nmax_iterations = 1000000000001",
        "iterate.max_iterations = 1000000000001: expected a whole number from 0 to 1000000000000",
    ),
    "more failures than that of a procedure can be": (
        f"[{BUILD}]\nfailure_threshold = 1000000000001",
        "failure_threshold = 1000000000001: expected a whole number from 1 to 1000000000000",
    ),
    "a threshold of failures below 1": (
        "[iterate]\nfailure_threshold = 0",
        "iterate.failure_threshold = 0: expected a whole number >= 1",
    ),
    "that of a procedure": (
        f"[{BUILD}]\nfailure_threshold = 0",
        f"{BUILD}.failure_threshold = 0: expected a whole number >= 1",
    ),
    "rounds below 0": (
        f"[{BUILD}]\nmax_iterations = -1",
        f"{BUILD}.max_iterations = -1: expected a whole number >= 0",
    ),
    "b064 a gate that is required in quotes": (
        '[iterate.gates.tests]\nrequired = "yes"',
        "iterate.gates.tests.required = 'yes': expected true or false, without quotes",
    ),
    "b064 a success in quotes": (
        f'[{BUILD}]\nsuccess = "yes"',
        f"{BUILD}.success = 'yes': expected true or false, without quotes",
    ),
    "a name that is a path": (
        '[iterate.procedures."../x"]\nagent = "a"',
        '1:1: iterate.procedures."../x": expected a name of lower-case letters',
    ),
    "a name in two lines": (
        '[iterate.procedures."a\\nb"]\nact = [{content = "x"}]',
        '1:1: iterate.procedures."a\\nb": expected a name of lower-case letters',
    ),
    "a phase that is text": (
        f'[{BUILD}]\nact = "do it"',
        f"{BUILD}.act = 'do it': expected a list of fragments, each with content, path or built_in",
    ),
    "a phase without fragments": (f"[{BUILD}]\nact = []", f"{BUILD}.act = []: expected a list of"),
    "a fragment with both": (
        f'[{BUILD}]\nact = [{{content = "a"}}, {{content = "a", path = "b"}}]',
        f"{BUILD}.act.1: expected a table with one of content",
    ),
    "a fragment without any": (
        f"[{BUILD}]\nact = [{{}}]",
        f"{BUILD}.act.0 = {{}}: expected a table",
    ),
    "parameters for what is built in": (
        f'[{BUILD}]\nact = [{{built_in = "plan", parameters = {{a = "b"}}}}]',
        "expected no parameters for what is built in",
    ),
    "a fragment with a typo": (
        f'[{BUILD}]\nact = [{{content = "a", parameter = {{}}}}]',
        "expected the keys content, path, built_in, parameters, not 'parameter'",
    ),
    "an empty fragment": (
        f'[{BUILD}]\nact = [{{content = " "}}]',
        f"{BUILD}.act.0: expected a non-empty string",
    ),
    "a parameter that is not text": (
        f'[{BUILD}]\nact = [{{content = "{{a}}", parameters = {{a = 1}}}}]',
        "expected text for the parameter 'a'",
    ),
    "a parameter that cannot be named": (
        f'[{BUILD}]\nact = [{{content = "{{a}}", parameters = {{"a b" = "c"}}}}]',
        "expected parameters named like {name}, not 'a b'",
    ),
    "parameters that are a list": (
        f'[{BUILD}]\nact = [{{content = "{{a}}", parameters = [1]}}]',
        "expected a table of parameters",
    ),
    "an empty command": (
        "[iterate.gates.tests]\ncommand = []",
        "iterate.gates.tests.command = []: expected text for a shell, or a list of texts",
    ),
    "no time at all": (
        "[iterate.gates.tests]\ntimeout = 0",
        "iterate.gates.tests.timeout = 0: expected a number of seconds above 0",
    ),
    "a threshold above 1": (
        "[iterate.gates.tests]\nthreshold = 80",
        "iterate.gates.tests.threshold = 80: expected a number from 0 to 1",
    ),
}


@pytest.mark.parametrize(("text", "expected"), BAD.values(), ids=BAD.keys())
def test_a_wrong_field_is_named_with_its_file(project: Path, text: str, expected: str) -> None:
    path = write(project, text)
    with pytest.raises(UsageError) as caught:
        load(project)
    assert re.match(rf"{re.escape(str(path))}:\d+:\d+: [^\n]+\Z", str(caught.value))
    assert expected in str(caught.value)


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "agent": st.sampled_from(["a", "b"]),
        "description": st.sampled_from(["c", "d"]),
        "max_iterations": st.integers(0, 9),
        "gates": st.lists(st.sampled_from(["x", "y"])),
    },
)
TABLES = st.dictionaries(st.sampled_from(["build", "plan"]), FIELDS)


@settings(deadline=None, max_examples=60)
@given(weaker=TABLES, stronger=TABLES)
def test_of_each_field_the_strongest_that_gives_it_counts(
    weaker: dict[str, Any], stronger: dict[str, Any]
) -> None:
    key = "iterate.procedures"
    values: dict[str, Any] = {key: {}}
    origins = {key: Origin(Tier.DEFAULT)}
    for tier, table in ((Tier.GLOBAL, weaker), (Tier.WORKSPACE, stronger)):
        _take(BY_KEY[key], table, Origin(tier), values, origins)
    for name in weaker.keys() | stronger.keys():
        below, above = weaker.get(name, {}), stronger.get(name, {})
        found = values[key][name]
        assert found == {
            field: tuple(value) if field == "gates" else value
            for field, value in {**below, **above}.items()
        }
        assert {field: origins[f"{key}.{name}.{field}"].tier for field in found} == {
            field: Tier.WORKSPACE if field in above else Tier.GLOBAL for field in found
        }


LEAF = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=8)
ANYTHING = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "path", "parameters", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@pytest.mark.long
@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(st.sampled_from([*PROCEDURE_KEYS, *GATE_KEYS, "other"]), ANYTHING, max_size=4)
)
def test_whatever_stands_in_a_table_is_read_or_refused(table: dict[str, Any]) -> None:
    for read, keys in ((procedures, PROCEDURE_KEYS), (gates, GATE_KEYS)):
        with suppress(ValueError):
            assert set(read({"build": table})["build"]) == set(table) & set(keys)
