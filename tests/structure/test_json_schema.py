"""Data held against a JSON Schema: what is found, where, and what cannot hang or be fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.structure.data.schema_process import SCHEMAS, SchemaProcess
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.errors import ArtifactError, CriteriaError, Place
from pytest_reflex.model.enums import Outcome
from tests.process.zoo import ON_LINUX, marked
from tests.structure.judging import judge, problems

SERVICE = {
    "type": "object",
    "required": ["name", "port"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "port": {"$ref": "#/$defs/port"},
        "since": {"type": "string"},
        "backends": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/port"}, False]}},
    },
    "$defs": {"port": {"type": "integer", "minimum": 1, "maximum": 65535}},
}


@pytest.fixture(autouse=True, scope="module")
def _no_child_stays() -> Iterator[None]:
    yield
    SCHEMAS.close()


def against(text: str, name: str = "a.yaml", **more: Any) -> Any:
    return judge(text, {"json_schema": SERVICE, **more}, name)


VALID = {
    "a.json": '{"name": "web", "port": 80}',
    "a.yaml": "name: web\nport: 80\n---\nname: db\nport: 5432\n",
    "a.toml": 'name = "web"\nport = 80\nsince = 2024-05-01\n',
    "a.md": "# T\n\n```json\n{}\n```\n\n```yaml\nname: web\nport: 80\n```\n",
}


@pytest.mark.parametrize("name", VALID)
def test_data_that_fits_passes(name: str) -> None:
    more = {"block": "yaml"} if name == "a.md" else {}
    assert against(VALID[name], name, **more).outcome is Outcome.PASS


FAULTS = [
    ("name: web\nport: '80'\n", "port: '80' is not of type 'integer'", 2, 7),
    ("port: 80\nname: Web\n", "name: pattern not found in 'Web'", 2, 7),
    ("# c\nname: web\n", "the document: 'port' is a required property", 2, 1),
    ("name: web\nport: 1\nprot: 2\n", "('prot' was unexpected)", 1, 1),
    ("name: web\nport: 1\nbackends:\n  - 1\n  - 0\n", "backends[1]: 0 is less than the", 5, 5),
    ("name: web\nport: 1\n---\nname: web\nport: 0\n", "port: 0 is less than the minimum", 5, 0),
    ("name: [\n", "not valid YAML: ", 2, 1),
]


@pytest.mark.parametrize(("text", "message", "line", "column"), FAULTS, ids=lambda v: str(v)[:20])
def test_what_does_not_fit_is_shown_at_its_place(
    text: str, message: str, line: int, column: int
) -> None:
    found = against(text)
    assert found.outcome is Outcome.FAIL
    assert message in found.message
    assert found.pattern == ("^[a-z]+$" if "pattern" in message else "")
    assert found.location == Place("a.yaml", line, column)


def test_the_column_in_a_block_is_that_of_the_artifact() -> None:
    found = against("# T\n\n- x\n\n  ```yaml\n  name: 7\n  port: 80\n  ```\n", "a.md", block="yaml")
    assert found.location == Place("a.md", 6, 9)
    assert found.message == "name: 7 is not of type 'string'"


def test_a_fault_in_toml_has_its_place() -> None:
    found = against('name = "web"\nport = 0\n', "a.toml")
    assert found.location == Place("a.toml", 2, 8)


def test_the_first_fault_in_the_text_comes_first() -> None:
    found = against('{"port": 0,\n "name": 1}', "a.json")
    assert found.evidence.splitlines()[0].startswith("line 1: port: 0")
    assert found.message.endswith("(and 1 more)")


def test_no_data_is_a_failure() -> None:
    assert against("Prose.", "a.md").message == "there is no JSON, YAML or TOML in it"
    assert against("Prose.", "a.md", block="toml").message == "there is no TOML in it"


UNUSABLE: list[tuple[Any, str]] = [
    ({"type": "strin"}, "it is not a valid schema: 'strin' is not valid"),
    ({"properties": {"a": {"pattern": "("}}}, "(at properties/a/pattern)"),
    ({"$ref": "#/$defs/no"}, "$ref '#/$defs/no' leads nowhere"),
    ({"items": {"$ref": "http://x.example/s"}}, "'http://x.example/s' is in no part of this"),
    ({"$ref": "file:///etc/passwd"}, "nothing is fetched"),
    ({"$schema": "http://x.example/d"}, "'http://x.example/d' names no draft"),
    ({}, "it asks for nothing"),
    (True, "it asks for nothing"),
    (3, "json_schema must be a schema, or the path of its file seen from the criteria, not 3"),
    ({"enum": ["x" * 1_000_001]}, "1,000,015 characters, the limit is 1,000,000"),
]


@pytest.mark.parametrize(("schema", "message"), UNUSABLE, ids=lambda v: str(v)[:40])
def test_schema_that_cannot_be_used_is_refused_before_anything_runs(
    schema: Any, message: str
) -> None:
    (problem,) = problems({"json_schema": schema})
    assert message in problem.message


@pytest.mark.parametrize("depth", [61, 100_000])
def test_deep_schema_is_refused(depth: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"not": schema}
    (problem,) = problems({"json_schema": schema})
    assert "nested deeper than 60 levels" in problem.message


def test_references_by_name_and_to_the_draft_are_followed() -> None:
    named = {"$defs": {"n": {"$id": "urn:n", "type": "number"}}, "items": {"$ref": "urn:n"}}
    assert judge("[1]", {"json_schema": named}, "a.json").outcome is Outcome.PASS
    assert judge('["1"]', {"json_schema": named}, "a.json").outcome is Outcome.FAIL
    draft = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
    assert judge('{"type": 3}', {"json_schema": draft}, "a.json").outcome is Outcome.FAIL


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema that asks twice as often for every level, of whatever data."""
    parts = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$defs": {**parts, f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


ENDLESS: list[tuple[dict[str, Any], Any, str]] = [
    ({"additionalProperties": {"pattern": "^(a+)+$"}}, {"x": "a" * 50 + "!"}, "longer than 0.3 s"),
    ({"patternProperties": {"^(a+)+$": {}}}, {"a" * 50 + "!": 1}, "longer than 0.3 s"),
    (doubling(40), {}, "longer than 0.3 s"),
    ({"$ref": "#"}, {}, "lead into each other without an end"),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("schema", "value", "message"), ENDLESS, ids=["pattern", "key", "2^40", "self"]
)
def test_schema_without_an_end_is_an_error(schema: Any, value: Any, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        SCHEMAS.faults(json.dumps(schema), json.dumps(value), 0.3)
    assert message in str(caught.value)


def test_data_that_is_too_deep_is_an_error() -> None:
    found = judge("[" * 101 + "]" * 101, {"json_schema": {"type": "array"}}, "a.json")
    assert found.outcome is Outcome.ERROR
    assert "nested deeper than 100 levels" in found.message


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")
def test_killed_validations_leave_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with marked() as (env, living):
        monkeypatch.setattr("os.environ", env)
        schemas = SchemaProcess()
        with pytest.raises(ArtifactError, match=r"longer than 0\.2 s"):
            schemas.faults(json.dumps(doubling(40)), "{}", 0.2)
        (fault,) = schemas.faults('{"type": "string"}', "3", 60.0)
        assert fault.message == "3 is not of type 'string'"
        assert len(living()) == 1
        schemas.close()
        assert living() == []


RULES = """\
name: mine
version: 1
phases: {A: {threshold: 0.8}}
rules:
  - id: a.data.fits
    description: The data is as the schema says
    severity: fail
    check: {type: structure, json_schema: schemas/service.json}
"""


def criteria_beside(folder: Path, schema: str | None) -> Path:
    (folder / "schemas").mkdir()
    if schema is not None:
        (folder / "schemas" / "service.json").write_text(schema)
    (folder / "mine.yaml").write_text(RULES)
    return folder / "mine.yaml"


def test_schema_in_a_file_becomes_a_part_of_the_rule(tmp_path: Path) -> None:
    path = criteria_beside(tmp_path, json.dumps(SERVICE))
    (rule,) = load_criteria(str(path), registry=built_in_registry()).rules
    assert rule.checks[0].params == {"json_schema": SERVICE}


MISSING = [
    (None, "json_schema: ", "service.json"),
    ("{", "json_schema: ", "line 1"),
    ("[]", "json_schema: ", "holds no schema"),
    ('{"type": "strin"}', "json_schema: it is not a valid schema", "'strin'"),
]


@pytest.mark.parametrize(("schema", "first", "then"), MISSING, ids=lambda v: str(v)[:12])
def test_file_that_is_no_schema_is_refused_where_it_is_named(
    tmp_path: Path, schema: str | None, first: str, then: str
) -> None:
    path = criteria_beside(tmp_path, schema)
    with pytest.raises(CriteriaError) as caught:
        load_criteria(str(path), registry=built_in_registry())
    assert f"{path}:8:43: rule a.data.fits: {first}" in str(caught.value)
    assert then in str(caught.value)
