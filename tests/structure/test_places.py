"""Every finding has its own place: the pointer, line and column of the thing itself."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.checks.finding import MOST_FINDINGS
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.text.data import read_data
from tests.checks.building import search
from tests.structure.judging import judge

YAML = """\
openapi: 3.1.0
info: {title: T, version: '1'}
paths:
  /a b:
    get:
      parameters:
        - {name: n, in: query, schema: {type: integer, default: "20 - x"}}
      responses: {'200': {description: d}}
  /b~c/{id}:
    get:
      summary: TODO
"""
JSON = """\
{
 "openapi": "3.1.0",
 "info": {"title": "T", "version": "1"},
 "paths": {"/a": {"get": {}}}
}
"""
COMPOSE = """\
services:
  web:
    image: nginx:latest
    privileged: true
    environment:
      - TOKEN=changeme
      - {a: b}
  db:
    image: postgres
"""
MARKDOWN = "# T\n\n- List:\n\n  ```yaml\n  a:\n    b: 2\n    c: [1, x]\n  ```\n"

Place = tuple[str, str, str]
"""The pointer, the whole line, and with what the text goes on where the finding is."""

CASES: dict[str, tuple[str, str, dict[str, Any], list[Place]]] = {
    "a value in a flow map": (
        "a.yaml",
        YAML,
        {"path": "paths.*.get.parameters[*].schema.default", "value_type": "integer"},
        [
            ("/paths/~1a b/get/parameters/0/schema/default", "- {name", '"20 - x"'),
            ("/paths/~1b~0c~1{id}/get/parameters", "get:", ""),
        ],
    ),
    "two operations of OpenAPI": (
        "a.yaml",
        YAML.replace("'200'", "'401'"),
        {"openapi": "auth"},
        [
            ("", "openapi:", "openapi"),
            ("/paths/~1a b/get", "get:", "get:"),
            ("/paths/~1b~0c~1{id}/get", "get:", "get:"),
        ],
    ),
    "a placeholder": (
        "a.yaml",
        YAML,
        {"openapi": "descriptions"},
        [
            ("/paths/~1a b/get", "get:", "get:"),
            ("/paths/~1a b/get/parameters/0", "- {name", "{name"),
            ("/paths/~1b~0c~1{id}/get/summary", "summary:", "TODO"),
        ],
    ),
    "an operation in JSON": (
        "a.json",
        JSON,
        {"openapi": "errors"},
        [("/paths/~1a/get", '"paths"', '"get": {}')],
    ),
    "a value of the wrong kind in JSON": (
        "a.json",
        JSON,
        {"path": "info.*", "equals": "T"},
        [("/info/version", '"info"', '"1"}')],
    ),
    "settings of Compose": (
        "compose.yaml",
        COMPOSE,
        {"configuration": "permissions"},
        [("/services/web/privileged", "privileged", "true")],
    ),
    "images of Compose": (
        "compose.yaml",
        COMPOSE,
        {"configuration": "portability"},
        [
            ("/services/web/image", "image: nginx", "nginx:latest"),
            ("/services/db/image", "image: postgres", "postgres"),
        ],
    ),
    "an item of a list": (
        "compose.yaml",
        "services:\n  web:\n    image: a:1\n    environment:\n      - TOKEN=changeme\n",
        {"configuration": "required"},
        [("/services/web/environment/0", "- TOKEN", "TOKEN=")],
    ),
    "TOML": (
        "a.toml",
        "[a]\nb = 1\nc = 'x'\n",
        {"path": "a.*", "value_type": "boolean"},
        [("/a/b", "b = 1", "1"), ("/a/c", "c = ", "'x'")],
    ),
    "an INI file": (
        "a.ini",
        "[a]\nb = changeme\n",
        {"configuration": "required"},
        [("/a/b", "b =", "b =")],
    ),
    "a schema": (
        "a.yaml",
        "a:\n  b: x\n  c: [1, y]\n",
        {
            "json_schema": {
                "properties": {
                    "a": {
                        "properties": {
                            "b": {"type": "integer"},
                            "c": {"items": {"type": "integer"}},
                        }
                    }
                }
            }
        },
        [("/a/b", "b: x", "x"), ("/a/c/1", "c: [", "y]")],
    ),
    "a block that is indented": (
        "a.md",
        MARKDOWN,
        {"path": "a.c[*]", "value_type": "string"},
        [("/a/c/0", "c: [", "1, x")],
    ),
    "a secret": (
        "a.yaml",
        "a: 1\nkey: " + "AKIA" + "A1" * 8 + "\n",
        {"configuration": "secrets"},
        [("", "key", "AKIA")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_finding_has_pointer_line_and_column(case: str) -> None:
    name, text, params, places = CASES[case]
    result = judge(text, params, name)
    assert result.outcome is Outcome.FAIL, result.message
    assert len(result.findings) == len(places), [found.message for found in result.findings]
    lines = text.splitlines()
    for found, (pointer, line, rest) in zip(result.findings, places, strict=True):
        assert found.pointer == pointer
        assert found.location is not None
        assert found.location.path == name
        own = lines[found.location.line - 1]
        assert own.strip().startswith(line)
        assert own[found.location.column - 1 :].startswith(rest)


@pytest.mark.long
def test_what_is_in_a_large_document_has_its_column_too() -> None:
    text = "".join(f"k{n}:\n  v: {n}\n" for n in range(30_000))
    (document,) = read_data(text, "yaml")
    assert document.place(("k29999", "v")) == (60_000, 3)


def locations(result: CheckResult) -> list[tuple[int, int]]:
    return [(f.location.line, f.location.column) for f in result.findings if f.location]


def test_each_match_that_must_not_be_there_is_a_finding() -> None:
    result = search("a TODO\nb\nTODO TODO\n", search="TODO", negate=True)
    assert locations(result) == [(1, 3), (3, 1), (3, 6)]
    result = search("a TODO\nb\nTODO TODO\n", search="TODO", max_count=1)
    assert locations(result) == [(3, 1), (3, 6)]
    assert search("a\n", search="TODO", negate=True).findings == ()


def test_findings_above_a_number_are_counted() -> None:
    result = search("x\n" * 250, search="x", negate=True)
    assert (len(result.findings), result.more_findings) == (MOST_FINDINGS, 150)
    result = judge("a: [" + "1, " * 250 + "]", {"path": "a[*]", "value_type": "string"}, "a.yaml")
    assert (len(result.findings), result.more_findings) == (MOST_FINDINGS, 150)
    assert [found.pointer for found in result.findings[:2]] == ["/a/0", "/a/1"]
