"""Values in JSON, YAML and TOML: found, compared, and shown where they are wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_reflex.checks.finding import MOST_FINDINGS
from pytest_reflex.checks.structure.data.path import MAX_VALUES
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from pytest_reflex.text import data as data_module
from pytest_reflex.text.data import read_data
from tests.structure.judging import judge

YAML = """\
info:
  title: Pets
  version: 2
  stable: true
paths:
  /pets/{id}: {get: {responses: {200: ok}}}
  /pets: {post: {}}
tags: []
"""

PASSING: list[dict[str, Any]] = [
    {"path": "info.title"},
    {"path": "/info/title", "equals": "Pets"},
    {"path": "info.title", "matches": "^P"},
    {"path": "info.version", "matches": "^2$"},
    {"path": "info.version", "value_type": "integer", "equals": 2.0},
    {"path": 'paths."/pets/{id}".get.responses.200'},
    {"path": "/paths/~1pets~1{id}/get", "value_type": "map"},
    {"path": "paths.*", "min_count": 2},
    {"path": "tags", "value_type": "list", "equals": []},
    {"path": "", "value_type": "map"},
    {"path": "servers", "exists": False},
    {"path": "**.get"},
]


@pytest.mark.parametrize("params", PASSING, ids=str)
def test_value_that_is_as_it_should_be_passes(params: dict[str, Any]) -> None:
    assert judge(YAML, params, "a.yaml").outcome is Outcome.PASS


FAILING: list[tuple[dict[str, Any], str, int]] = [
    ({"path": "info.licence"}, "info.licence is not there", 1),
    ({"path": "paths.*", "min_count": 3}, "paths.* leads to 2 values, at least 3 are wanted", 5),
    ({"path": "info.title", "equals": "Cats"}, 'info.title is "Pets", not "Cats"', 2),
    ({"path": "info.version", "equals": "2"}, 'info.version is 2, not "2"', 3),
    ({"path": "info.stable", "equals": 1}, "info.stable is true, not 1", 4),
    (
        {"path": "info.*", "value_type": "string"},
        "info.version is 2, not of type string (and 1 more)",
        3,
    ),
    ({"path": "info.title", "matches": "^x"}, 'info.title is "Pets": pattern not found', 2),
    ({"path": "info.title", "exists": False}, "info.title must not be there", 2),
    ({"path": "paths", "equals": {}}, "paths is a map of 2, not a map of 0", 5),
]


@pytest.mark.parametrize(("params", "message", "line"), FAILING, ids=[m for _, m, _ in FAILING])
def test_value_that_is_not_fails_with_its_line(
    params: dict[str, Any], message: str, line: int
) -> None:
    result = judge(YAML, params, "a.yaml")
    assert (result.outcome, result.message) == (Outcome.FAIL, message)
    assert result.pattern == params.get("matches", "")
    assert result.location is not None
    assert result.location[:2] == ("a.yaml", line)


FILES = {
    "a.json": '{"a": {"b": 1}}',
    "a.toml": "[a]\nb = 1\n",
    "a.yml": "a: {b: 1}",
    "artifact.md": "a:\n  b: 1\n",
    "draft.md": '{"a": {"b": 1}}',
    "a.md": '# T\n\n```yaml\nx: 1\n```\n\n```json\n{"a": {"b": 1}}\n```\n',
}


@pytest.mark.parametrize(("name", "text"), FILES.items(), ids=FILES)
def test_data_is_found_in_files_and_in_fenced_blocks(name: str, text: str) -> None:
    assert judge(text, {"path": "a.b", "equals": 1}, name).outcome is Outcome.PASS


def test_block_chooses_the_language_and_counts_lines_of_the_document() -> None:
    text = "# T\n\n```json\n{}\n```\n\n```yaml\na:\n  b: 2\n```\n"
    result = judge(text, {"path": "a.b", "equals": 1, "block": "yaml"})
    assert result.location == Place("a.md", 9, 6)
    assert judge(text, {"path": "a", "block": "json"}).outcome is Outcome.FAIL


NO_DATA = {
    "not valid JSON": ("a.json", "{"),
    "not valid YAML: mapping values": ("a.yaml", "x: 1\na: b: c\n"),
    "not valid TOML": ("a.toml", "a = "),
    "there is no JSON, YAML or TOML": ("a.md", "# T\n\nWords only.\n"),
    "a is not there": ("a.yaml", "# nothing\n--- ~\n"),
}


@pytest.mark.parametrize(("message", "file"), NO_DATA.items(), ids=NO_DATA)
def test_what_is_no_data_fails_and_says_why(message: str, file: tuple[str, str]) -> None:
    result = judge(file[1], {"path": "a"}, file[0])
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)


def test_nothing_is_absent_from_what_cannot_be_read() -> None:
    assert judge("{", {"path": "a", "exists": False}, "a.json").outcome is Outcome.FAIL


def test_b040_alias_bomb_is_an_error() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)
    )
    result = judge(bomb, {"path": "a0"}, "a.yaml")
    assert result.outcome is Outcome.ERROR
    assert "alias budget" in result.message


def test_b062_binary_artifact_is_an_error() -> None:
    result = judge(b"\x89PNG\0", {"path": "a"}, "a.yaml")
    assert result.outcome is Outcome.ERROR
    assert "a.yaml is binary" in result.message


def test_a_value_of_toml_is_shown_in_its_line() -> None:
    found = judge('[tool]\nname = "x"\n', {"path": "tool.name", "equals": "y"}, "a.toml")
    assert found.location == Place("a.toml", 2, 8)


@pytest.mark.long
def test_more_values_than_are_looked_at_are_an_error_and_no_pass() -> None:
    text = json.dumps([0] * (MAX_VALUES + 1))
    result = judge(text, {"path": "[*]", "equals": 0}, "a.json")
    assert (result.outcome, "more than 100,000 values" in result.message) == (Outcome.ERROR, True)
    assert judge(text, {"path": "[*]", "equals": 1}, "a.json").outcome is Outcome.FAIL
    assert judge(text, {"path": "[-1]", "equals": 0}, "a.json").outcome is Outcome.PASS


def test_f17_places_are_looked_up_for_no_more_findings_than_are_kept() -> None:
    (document,) = read_data(json.dumps([0] * 1000), "json")
    assert judge(document.text, {"path": "[*]", "equals": 1}, "a.json").location == Place(
        "a.json", 1, 2
    )
    looked_into = data_module._json_places(document.text)._looked_into
    assert len(looked_into[0].values) == MOST_FINDINGS
