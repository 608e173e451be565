"""Where OpenAPI documents are found, and what makes them invalid."""

from __future__ import annotations

import sys

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.model.words import Outcome
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
    result = judge("# T\n\n```yaml\nopenapi: 3.1.0\na: b: c\n```\n", {"openapi": "valid"})
    assert result.location == Place("a.md", 5, 5)


INVALID = [
    ("paths: []", "#/paths: [] is not of type 'object'"),
    ("x: 1", "#/: 'paths' is a required property"),
    ("paths: {/a: {get: {responses: {200: {}}}}}", "#/paths/~1a/get/responses/200: 'description'"),
    (
        "paths: {'/a/{id}': {get: {responses: {200: {description: d}}}}}",
        "#/paths/~1a~1{id}/get: Path parameter 'id'",
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
