"""Which format a configuration file is read in, and what is reported where it cannot be read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_reflex.checks.structure.configuration.file import ConfigFile
from pytest_reflex.checks.structure.configuration.formats import read_config
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

COMPOSE = "services:\n  web:\n    image: a:1\n"
WORKFLOW = "on: push\njobs:\n  a:\n    runs-on: x\n"


def label(text: str, name: str = "artifact.md", folder: str = "none") -> str:
    artifact = Artifact(path=Path(folder) / name, name=name, data=text.encode())
    found = read_config(artifact)
    assert isinstance(found, ConfigFile), found
    return found.label


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n", "YAML"),
        ("{a: 1}\n", "YAML"),
        ("- a\n- b\n", "YAML"),
        ('{"a": 1}', "JSON"),
        ('[{"a": 1}]', "JSON"),
        ("[a]\nb = 1\n", "TOML"),
        ("[[a]]\nb = 'x'\n", "TOML"),
        ("b = 'x'\n[a]\nc = 1\n", "TOML"),
        ("[a]\nb = plain words\n", "INI"),
        ("; words\n[a]\nb\n", "INI"),
        ("# words\nA=1\nB=two words\n", "env file"),
        ("export A=1\n", "env file"),
        (COMPOSE, "Compose file"),
        (WORKFLOW, "GitHub workflow"),
        ("services: [a, b]\n", "YAML"),
        ("services: {a: {port: 1}}\n", "YAML"),
        ("jobs: {a: {cron: x}}\n", "YAML"),
    ],
)
def test_text_says_its_format_where_the_name_does_not(text: str, expected: str) -> None:
    assert label(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (".env", "A=1\n", "env file"),
        (".env.production", "A=1\n", "env file"),
        ("app.env", "A=1\n", "env file"),
        ("setup.cfg", "[a]\nb = 1\n", "INI"),
        ("a.ini", "[a]\nb = 1\n", "INI"),
        ("docker-compose.prod.yml", "volumes: {a: {}}\n", "Compose file"),
    ],
)
def test_name_goes_before_the_text(name: str, text: str, expected: str) -> None:
    assert label(text, name) == expected


def test_place_makes_a_workflow() -> None:
    assert label("name: x\n", "ci.yml", ".github/workflows") == "GitHub workflow"


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("a.yaml", "a: 1\na: 2\n", 2, "not valid as YAML: duplicate key 'a', first in line 1"),
        ("a.json", '{\n"a": 1,\n}', 2, "not valid as JSON: "),
        ("a.toml", "a = 1\na = 2\n", 2, "not valid as TOML: Cannot overwrite a value"),
        ("a.ini", "[s]\na=1\na=2\n", 3, "not valid as INI: duplicate key 'a' in [s]"),
        ("a.ini", "[s]\n[s]\n", 2, "not valid as INI: duplicate section [s]"),
        ("a.ini", "\na=1\n", 2, "not valid as INI: a setting before the first [section]"),
        ("a.ini", "[s]\n= 1\n", 2, "not valid as INI: neither a [section] nor a setting"),
        ("a.ini", "[s]\na = 1\n[t\nb = 2\n", 3, "not valid as INI: a section without its ]"),
        ("a.cfg", "[s]\n\n[t:u\n", 3, "not valid as INI: a section without its ]"),
        (".npmrc", "a = 1\n[t = 2\n", 2, "not valid as INI: a section without its ]"),
        (".env", "\n\nA B=1\n", 3, "not valid as env file: neither NAME=value nor a comment"),
        (".env", "A='x\n", 1, "not valid as env file: neither NAME=value nor a comment"),
        (".env", "A=1\n\nA=2\n", 3, "not valid as env file: duplicate name 'A', first in line 1"),
        (".env", "a-b=1\n", 1, "not valid as env file: 'a-b' is not a name of a variable"),
        ("a.yaml", "just words\n", 1, "there is no setting in it (read as YAML)"),
    ],
)
def test_fault_is_told_with_its_line(name: str, text: str, line: int, message: str) -> None:
    result = judge(text, {"configuration": "syntax"}, name)
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)
    assert result.location
    assert result.location.line == line


def test_indented_line_after_a_key_without_value_is_told() -> None:
    result = judge("[s]\nkey\n  more\n", {"configuration": "syntax"}, "a.ini")
    assert result.outcome is not Outcome.ERROR


def test_env_file_without_its_reader_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dotenv", None)
    result = judge("A=1\n", {"configuration": "syntax"}, ".env")
    assert result.outcome is Outcome.NOT_MEASURED
    assert "pip install 'pytest-reflex[config]'" in result.message


def test_huge_text_is_an_error() -> None:
    result = judge("A=1\n" * 600_000, {"configuration": "syntax"}, ".env")
    assert result.outcome is Outcome.ERROR
    assert "2,400,000 characters" in result.message


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.toml", 'x = 1\n\n[a]\nb = 1\n\n[a.c]\n"d.e" = "/home/ann/x"\n', 7),
        ("a.toml", 'x.y.z = "/home/ann/x"\n', 1),
        ("a.toml", '[[a]]\nb = 1\n[[a]]\nb = "/home/ann/x"\n', 4),
        ("a.toml", 'a = [\n  "b",\n  "/home/ann/x",\n]\n', 1),
        ("a.ini", "[a]\nb = 1\n[c]\nb = /home/ann/x\n", 4),
        ("a.ini", "[DEFAULT]\nb: /home/ann/x\n[c]\nd = 1\n", 2),
    ],
)
def test_setting_knows_its_line(name: str, text: str, line: int) -> None:
    result = judge(text, {"configuration": "portability"}, name)
    assert result.location
    assert result.location.line == line
