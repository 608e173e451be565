"""Where OpenAPI documents are found, and what makes them invalid."""

from __future__ import annotations

import sys

import pytest

from pytest_reflex.checks.structure.openapi import ASPECTS
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

HEAD = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n"
VALID = HEAD + "paths: {}\n"

FOUND = {
    "a.yaml": VALID,
    "artifact.md": VALID,
    "a.json": '{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {}}',
    "draft.md": '{"info": {"title": "T", "version": "1"}, "openapi": "3.1.0", "paths": {}}',
    "fenced.md": f"[![badge](x)](y)\n\n# T\n\n```yaml\n{VALID}```\n\n```yaml\nother: 1\n```\n",
    "untagged.md": f"# T\n\n```\n{VALID}```\n",
    "bom.yaml": "\ufeff" + VALID.replace("\n", "\r\n"),
}


@pytest.mark.parametrize(("name", "text"), FOUND.items(), ids=FOUND)
def test_valid_document_is_found_and_passes(name: str, text: str) -> None:
    result = judge(text, {"openapi": "valid"}, name)
    assert (result.outcome, result.message) == (Outcome.PASS, "valid OpenAPI 3.1.0")


NOT_FOUND = {
    "there is no OpenAPI document: no file or fenced block": ("a.md", "# T\n\nWords.\n"),
    "there is no OpenAPI document: the key": ("a.yaml", "x:\n  openapi: 3.1.0\n"),
    "this is Swagger 2.0": ("a.yaml", "swagger: '2.0'\n"),
    "not valid YAML: did not find": ("a.yaml", "openapi: [\n"),
    "not valid YAML: mapping values": ("draft.md", "openapi: 3.1.0\na: b: c\n"),
    "not valid YAML: duplicate key 'get', first in line 3": (
        "a.md",
        "```yaml\nopenapi: 3\nget: 1\nget: 2\n```\n",
    ),
    "not valid JSON": ("a.json", '{"openapi": '),
}


@pytest.mark.parametrize(("message", "file"), NOT_FOUND.items(), ids=NOT_FOUND)
def test_what_is_no_openapi_document_fails(message: str, file: tuple[str, str]) -> None:
    result = judge(file[1], {"openapi": "operations"}, file[0])
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)


def test_fault_in_a_fenced_block_has_the_line_of_the_document() -> None:
    result = judge("# T\n\n```yaml\nopenapi: 3.1.0\na: b: c\n```\n", {"openapi": "operations"})
    assert result.location == Place("a.md", 5, 5)


INVALID = [
    ("paths: []", "#/paths: [] is not of type 'object'"),
    ("x: 1", "#/: 'paths' is a required property"),
    ("paths: {/a: {get: {responses: {200: {}}}}}", "#/paths/~1a/get/responses/200: 'description'"),
    (
        "paths: {'/a/{id}': {get: {responses: {200: {description: d}}}}}",
        "#/paths/~1a~1{id}/get: the path parameter 'id' of GET /a/{id} is not declared",
    ),
    (
        "components: {schemas: {A: {type: strin}}}",
        "#/components/schemas/A/type: 'strin' is not one of",
    ),
    ("components: {schemas: {A: {$ref: 'b.yaml#/A'}}}", "$ref to another document is not followed"),
    ("components: {schemas: {A: {$ref: '#/b'}}}", "$ref leads nowhere: '#/b'"),
    ("components: {schemas: {A: {$ref: '#/components/schemas/A'}}}", "$ref leads nowhere"),
]


@pytest.mark.parametrize(("rest", "message"), INVALID, ids=[message for _, message in INVALID])
def test_invalid_document_fails_at_its_line(rest: str, message: str) -> None:
    result = judge(HEAD + rest, {"openapi": "valid"}, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)
    assert result.location
    assert result.location.line == (1 if message.startswith("#/: ") else 3)


@pytest.mark.parametrize("version", ["3.1", "9.9.9", "''", "{}"])
def test_unusable_version_fails(version: str) -> None:
    result = judge(f"openapi: {version}\npaths: {{}}\n", {"openapi": "valid"}, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert "3.1" in result.message


def test_references_in_examples_are_data() -> None:
    text = HEAD + "components: {schemas: {A: {examples: [{$ref: 'http://127.0.0.1:9/x'}]}}}"
    assert judge(text, {"openapi": "valid"}, "a.yaml").outcome is Outcome.PASS


def test_b027_patterns_of_the_document_are_not_run() -> None:
    schema = "{type: string, pattern: '(a|aa)+$', default: " + "a" * 60 + "b}"
    text = HEAD + "components: {schemas: {A: " + schema + "}}"
    assert judge(text, {"openapi": "valid"}, "a.yaml").outcome is Outcome.PASS


def test_deep_schema_is_an_error_and_no_traceback() -> None:
    text = HEAD + "components: {schemas: {A: " + "{items: " * 90 + "{}" + "}" * 90 + "}}"
    result = judge(text, {"openapi": "valid"}, "a.yaml")
    assert result.outcome in (Outcome.ERROR, Outcome.PASS)


def test_without_the_validator_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openapi_spec_validator", None)
    result = judge(VALID, {"openapi": "valid"}, "a.yaml")
    assert result.outcome is Outcome.NOT_MEASURED
    assert "pip install 'pytest-reflex[openapi]'" in result.message


OLD = "# Pets\nswagger: '2.0'\ninfo: {title: T, version: '1'}\npaths: {}\n"
UNREADABLE = {
    "Swagger 2.0": (OLD, "this is Swagger 2.0; OpenAPI 3 is needed"),
    "Swagger 1.2": ("swaggerVersion: '1.2'\nswagger: 1.2\n", "this is Swagger 1.2;"),
    "no YAML": ("openapi: 3.1.0\na: b: c\n", "not valid YAML: mapping values"),
    "no JSON": ('{"openapi": "3.1.0", ', "not valid YAML: "),
}


@pytest.mark.parametrize(("text", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_one_finding(text: str, why: str) -> None:
    results = {aspect: judge(text, {"openapi": aspect}, "a.yaml") for aspect in ASPECTS}
    failed = results.pop("operations")
    assert failed.outcome is Outcome.FAIL
    assert {result.outcome for result in results.values()} == {Outcome.NOT_MEASURED}
    assert all(result.message.startswith(why) for result in results.values())


def test_old_version_is_found_at_its_line() -> None:
    result = judge(OLD, {"openapi": "operations"}, "a.yaml")
    assert result.location == Place("a.yaml", 2, 10)


DOCUMENT = """\
openapi: {version}
info: {{title: T, version: '1'}}
paths:
  /a/{{id}}:
    parameters: [{{$ref: '#/components/parameters/Id'}}]
    get:
      operationId: one
{parameters}
      responses: {{'200': {{description: d}}}}
  /b:
    get: {{operationId: two, responses: {{'200': {{description: d}}}}}}
components:
  parameters:
    Id: {{name: id, in: path, required: true, schema: {{type: string}}}}
  schemas:
    Size:
      type: integer
      minimum: 1
    Box:
      allOf: [{{properties: {{width: {{$ref: '#/components/schemas/Size'}}}}}}]
{schema}
"""


def document(parameters: str = "", schema: str = "", version: str = "3.0.3") -> str:
    inner = "\n".join(" " * 6 + line for line in parameters.splitlines())
    below = "\n".join(" " * 6 + line for line in schema.splitlines())
    return DOCUMENT.format(version=version, parameters=inner, schema=below)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_sound_document_of_every_version_is_valid(version: str) -> None:
    text = document("parameters: [{name: q, in: query, schema: {type: integer, default: 5}}]")
    text = text.replace("3.0.3", version)
    result = judge(text, {"openapi": "valid"}, "a.yaml")
    assert (result.outcome, result.message) == (Outcome.PASS, f"valid OpenAPI {version}")


BOX = "#/components/schemas/Box"
DEFAULTS = {
    "a text for a number": ("properties: {n: {type: integer, default: 20 - x}}", "/n/default"),
    "true for a number": ("properties: {n: {type: integer, default: true}}", "/n/default"),
    "none of the choices": ("properties: {n: {type: string, enum: [a], default: b}}", "/n/default"),
    "below the least": ("properties: {n: {type: integer, minimum: 2, default: 1}}", "/n/default"),
    "deep inside": (
        "properties: {n: {type: array, items: {properties: {m: {type: number, default: x}}}}}",
        "/n/items/properties/m/default",
    ),
    "by a reference": (
        "properties:\n  n: {allOf: [{$ref: '#/components/schemas/Size'}], default: 0}",
        "/n/default",
    ),
    "in a list": (
        "properties: {n: {type: array, items: {type: integer}, default: [1, x]}}",
        "/n/default/1",
    ),
}


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
@pytest.mark.parametrize(("schema", "where"), DEFAULTS.values(), ids=DEFAULTS)
def test_default_that_does_not_fit_is_found_where_it_stands(
    schema: str, where: str, version: str
) -> None:
    text = document(schema=schema, version=version)
    result = judge(text, {"openapi": "valid"}, "a.yaml")
    assert result.message.startswith(f"{BOX}/properties{where}: the default does not fit: ")
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "default:" in each)
    assert result.location is not None
    assert result.location[:2] == ("a.yaml", line)


FITTING = [
    "properties: {n: {type: integer, format: int32, minimum: 1, default: 5}}",
    "properties: {n: {type: array, items: {type: string}, default: []}}",
    "properties: {n: {type: string, format: date, default: '2031-05-01'}}",
    "properties: {n: {allOf: [{$ref: '#/components/schemas/Size'}], default: 3}}",
    "properties: {n: {type: number, default: 1}}",
]


@pytest.mark.parametrize("schema", [*FITTING, "properties: {n: {type: string, nullable: true}}"])
def test_default_that_fits_is_valid(schema: str) -> None:
    result = judge(document(schema=schema), {"openapi": "valid"}, "a.yaml")
    assert result.outcome is Outcome.PASS


PARAMETERS = {
    "no place": (
        "parameters:\n- {name: q, in: query, schema: {}}\n- {name: r, schema: {}}",
        "#/paths/~1a~1{id}/get/parameters/1: 'in' is a required property",
        10,
    ),
    "no name": (
        "parameters:\n- {in: query, schema: {}}",
        "#/paths/~1a~1{id}/get/parameters/0: 'name' is a required property",
        9,
    ),
    "a reference and a name": (
        "parameters:\n- {name: id, $ref: '#/components/parameters/Id'}",
        "#/paths/~1a~1{id}/get/parameters/0: 'name' beside '$ref' is ignored",
        9,
    ),
    "the same twice": (
        "parameters:\n- {name: q, in: query, schema: {}}\n- {name: q, in: query, content: {a: {}}}",
        "#/paths/~1a~1{id}/get/parameters/1: a second query parameter 'q'",
        10,
    ),
    "one that is not in the path": (
        "parameters:\n- {name: x, in: path, required: true, schema: {}}",
        "#/paths/~1a~1{id}/get: the path parameter 'x' is not in the path of GET /a/{id}",
        6,
    ),
}


@pytest.mark.parametrize(("parameters", "message", "line"), PARAMETERS.values(), ids=PARAMETERS)
def test_fault_of_a_parameter_is_told_where_it_is(parameters: str, message: str, line: int) -> None:
    result = judge(document(parameters), {"openapi": "valid"}, "a.yaml")
    assert result.message.startswith(message)
    assert result.location is not None
    assert result.location[:2] == ("a.yaml", line)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_names_that_are_there_twice_are_found(version: str) -> None:
    text = document(version=version).replace("operationId: two", "operationId: one")
    text += "tags: [{name: a}, {name: b}, {name: a, description: d}]\n"
    result = judge(text, {"openapi": "valid"}, "a.yaml")
    assert result.message == "#/tags/2: a second tag 'a' (and 1 more)"
    assert "#/paths/~1b/get/operationId: GET /b has the operationId 'one'" in result.evidence


def test_what_is_required_and_not_defined_is_found() -> None:
    result = judge(document(schema="required: [width, depth]"), {"openapi": "valid"}, "a.yaml")
    assert result.message == f"{BOX}/required: 'depth' is required and not defined"


TAGS = {
    "a parent that is not there": ("[{name: a, parent: b}]", "the tag 'a' has the parent 'b'"),
    "parents in a circle": (
        "[{name: a, parent: b}, {name: b, parent: a}]",
        "tags are their own parents: a -> b -> a",
    ),
}


@pytest.mark.parametrize(("tags", "message"), TAGS.values(), ids=TAGS)
def test_tags_have_parents_that_are_there(tags: str, message: str) -> None:
    text = document(version="3.2.0") + f"tags: {tags}\n"
    result = judge(text, {"openapi": "valid"}, "a.yaml")
    assert result.message.startswith(f"#/tags: {message}")
