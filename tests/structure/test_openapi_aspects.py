"""Aspects of an OpenAPI document: what each finds, and what it lets pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from tests.structure.judging import judge

Node = dict[str, Any]

ARRAY: Node = {"type": "array", "items": {"type": "string"}}
NEXT: Node = {"hasNextPage": {}, "endCursor": {}}
LINKS: Node = {"properties": {"self": {}}}
OBJECTS: Node = {"type": "array", "items": {"properties": {"a": {}}}}


def get(node: Node, path: str = "/a") -> Node:
    return {"paths": {path: {"get": node}}}


def answers(media: Node, status: str = "200", **more: Any) -> Node:
    return {"responses": {status: {"content": {"application/json": media}, **more}}}


def returns(schema: Node) -> Node:
    return answers({"schema": schema})


def asks(schema: Node) -> Node:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def takes(*names: str, place: str = "query") -> Node:
    return {"parameters": [{"name": name, "in": place} for name in names]}


def components(**kinds: Node) -> Node:
    return {"components": kinds}


def ref(pointer: str) -> Node:
    return {"$ref": "#/components/" + pointer}


def look(aspect: str, document: Node) -> CheckResult:
    return judge(json.dumps({"openapi": "3.1.0", **document}), {"openapi": aspect}, "a.json")


DEEP_EXAMPLE = components(
    responses={"R": {"content": {"application/vnd.x+json": {"schema": ref("schemas/S")}}}},
    schemas={"S": {"allOf": [{"properties": {"a": {"items": {"example": 1}}}}]}},
)
SHARED_PATH = {
    "paths": {"/a": ref("pathItems/A")},
    **components(pathItems={"A": {"get": {"responses": {"200": {}}}}}),
}
NAMES = {
    "operationId": "petOwners.list",
    "parameters": [
        {"name": "$filter", "in": "query"},
        {"name": "page[size]", "in": "query"},
        {"name": "X-Trace-Id", "in": "header"},
    ],
}

PASSING: dict[str, tuple[str, Node]] = {
    "default response": ("operations", get({"responses": {"default": {}}})),
    "path item by reference": ("operations", SHARED_PATH),
    "body that is not JSON": (
        "schemas",
        get({"responses": {"200": {"content": {"text/plain": {}}}}}),
    ),
    "schema by reference": ("schemas", get(returns(ref("schemas/S")))),
    "no JSON success": ("examples", get(answers({}, "400"))),
    "examples of the media type": ("examples", get(answers({"examples": {"a": {"value": 1}}}))),
    "example deep in the schema": (
        "examples",
        get({"responses": {"200": ref("responses/R")}}) | DEEP_EXAMPLE,
    ),
    "error by range": ("errors", get({"responses": {"5XX": {}}})),
    "webhooks document no errors": ("errors", {"webhooks": {"w": {"post": answers({})}}}),
    "custom of names": ("naming", get(NAMES, "/v1/pet-owners/{ownerId}/files.json")),
    "one word fits": (
        "naming",
        components(schemas={"A": {"properties": {"a_b": {}, "c": {}, "_d": {}}}}),
    ),
    "page token": ("pagination", get({**takes("pageToken"), **returns(ARRAY)})),
    "link header": (
        "pagination",
        get(answers({"schema": ARRAY}, headers={"Link": {}})),
    ),
    "next in what is put together": (
        "pagination",
        get(returns({"properties": {"data": OBJECTS, "links": {"allOf": [ref("schemas/P")]}}}))
        | components(schemas={"P": {"properties": {"first": {}, "next": {}}}}),
    ),
    "next in the page info": (
        "pagination",
        get(returns({"properties": {"items": OBJECTS, "pageInfo": {"properties": NEXT}}})),
    ),
    "next in one of the links": (
        "pagination",
        get(returns({"allOf": [{"properties": {"items": OBJECTS}}, ref("schemas/P")]}))
        | components(
            schemas={
                "P": {
                    "properties": {"_links": {"oneOf": [ref("schemas/L")]}},
                },
                "L": {"properties": {"next": {}}},
            }
        ),
    ),
    "webhooks are operations": ("operations", {"webhooks": {"w": {"post": answers({})}}}),
    "webhooks beside paths": (
        "operations",
        {"paths": {}, "webhooks": {"w": {"post": answers({})}}},
    ),
    "webhooks by reference": (
        "operations",
        {
            "webhooks": {"w": ref("pathItems/W")},
            **components(pathItems={"W": {"put": answers({})}}),
        },
    ),
    "versions and numbers have no style": (
        "naming",
        {"paths": {"/2.0/pet-owners": {}, "/status/200": {}, "/v3": {}, "/2024-01-31": {}}},
    ),
    "a digit at the start is not a style": (
        "naming",
        {"paths": {"/2fa/pet-owners": {}, "/3d-models": {}, "/two-words": {}}},
    ),
    "next in the answer": (
        "pagination",
        get(returns({"properties": {"items": OBJECTS, "next_cursor": {}}})),
    ),
    "bounded list": ("pagination", get(returns({**ARRAY, "maxItems": 3}))),
    "values of a thing": (
        "pagination",
        get(returns({"properties": {"values": {"type": "array", "items": {"type": "string"}}}})),
    ),
    "list within a thing": ("pagination", get(returns({"properties": {"roles": ARRAY}}))),
    "public as a whole": ("auth", {"security": [], **get({})}),
    "public or with a key": (
        "auth",
        get({"security": [{}, {"k": []}]}) | components(securitySchemes={"k": {}}),
    ),
    "summary is enough": ("descriptions", get({"summary": "All of a"})),
    "data may hold anything": (
        "descriptions",
        get({"summary": "s", **answers({"example": {"description": "TODO"}})}),
    ),
}


LIMITED: dict[str, Node] = {
    "a call may be refused": get({"responses": {"403": {}}}),
    "a header for the caller": get(takes("Authorization", place="header")),
    "a key in the query": get(takes("api_key")),
    "a key by its name": get(takes("X-Acme-Api-Key", place="header")),
    "words of the operation": get({"description": "Needs an API key."}),
    "words of the document": get({}) | {"info": {"description": "Send an access token."}},
    "a call that makes something": {"paths": {"/a": {"post": {"responses": {"201": {}}}}}},
    "a call that removes something": {"paths": {"/a": {"delete": {}}}},
    "a call that changes something": {"paths": {"/a": {"patch": {"responses": {"200": {}}}}}},
    "a scheme that nobody uses": get({}) | components(securitySchemes={"k": {}}),
    "others are secured": {
        "paths": {"/a": {"get": {}}, "/b": {"get": {"security": [{"k": []}]}}},
        **components(securitySchemes={"k": {}}),
    },
}


@pytest.mark.parametrize("document", LIMITED.values(), ids=LIMITED)
def test_silence_about_access_is_a_finding_where_something_says_that_it_is_limited(
    document: Node,
) -> None:
    result = look("auth", document)
    assert result.outcome is Outcome.FAIL
    assert "declares no security" in result.evidence


OPEN: dict[str, Node] = {
    "nothing is said": get({"responses": {"200": {}, "404": {}}}),
    "one is declared public": {
        "paths": {"/a": {"get": {"security": []}}, "/b": {"get": {"responses": {"200": {}}}}}
    },
    "one needs nothing": {"paths": {"/a": {"get": {"security": [{}]}, "post": {"responses": {}}}}},
    "what changes something is declared public": {
        "paths": {"/a": {"put": {"security": []}, "get": {"responses": {"200": {}}}}}
    },
    "a webhook is secured": {
        **get({"responses": {"200": {}}}),
        "webhooks": {"w": {"post": {"security": [{"k": []}]}}},
    },
    "a search by POST": {"paths": {"/a": {"post": {"responses": {"200": {}}}}}},
    "a position in a list": get({**takes("page_token"), "description": "A token for what is next"}),
    "words that say it is public": get({"description": "No API key is needed."}),
    "a place to sign in": get(
        {"description": "Authenticate the user.", "responses": {"401": {}}}, "/auth/login"
    ),
}


@pytest.mark.parametrize("document", OPEN.values(), ids=OPEN)
def test_document_without_a_sign_of_limited_access_is_taken_for_public(document: Node) -> None:
    result = look("auth", document)
    assert result.outcome is Outcome.PASS
    assert result.message.endswith("it is taken for public")


@pytest.mark.parametrize("path", ["/.well-known/jwks.json", "/api/health", "/v2/auth/login"])
def test_what_callers_need_first_may_be_silent_beside_secured_operations(path: str) -> None:
    secured: dict[str, Any] = {"get": {"security": [{"k": []}]}}
    paths = {"paths": {"/a": secured, path: {"get": {"responses": {"200": {}}}}}}
    assert look("auth", {**paths, **components(securitySchemes={"k": {}})}).outcome is Outcome.PASS


EMPTY: dict[str, Node] = {
    "no content by its status": answers({"schema": ARRAY}, "204"),
    "anything": returns({}),
    "a text of no length": returns({"type": "string", "maxLength": 0}),
    "null": returns({"type": "null"}),
    "an object of nothing": returns({"type": "object", "additionalProperties": False}),
}


@pytest.mark.parametrize("node", EMPTY.values(), ids=EMPTY)
def test_body_of_nothing_needs_no_example(node: Node) -> None:
    assert look("examples", get(node)).outcome is Outcome.PASS


@pytest.mark.parametrize("schema", [{}, True, None], ids=str)
def test_schema_that_is_written_is_declared(schema: Any) -> None:
    """What is not a schema at all is what the validator finds."""
    assert look("schemas", get(answers({"schema": schema}))).outcome is Outcome.PASS


@pytest.mark.parametrize(("aspect", "document"), PASSING.values(), ids=PASSING)
def test_sound_document_passes(aspect: str, document: Node) -> None:
    result = look(aspect, document)
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


CIRCLE = components(schemas={"S": {"items": ref("schemas/S")}})
KEY = components(securitySchemes={"k": {}})

FAILING: dict[str, tuple[str, Node]] = {
    "no operation is defined under paths": ("operations", {"paths": {"/a": {"summary": "s"}}}),
    "no operation is defined under paths or webhooks": ("operations", {"webhooks": {"w": {}}}),
    "webhook POST w has no responses": ("operations", {"webhooks": {"w": {"post": {}}}}),
    "the path segment '2fa_codes' is not kebab-case": (
        "naming",
        {"paths": {"/a-b": {}, "/c-d": {}, "/2fa_codes": {}}},
    ),
    "GET /b returns a list": (
        "pagination",
        get(
            returns({"properties": {"items": OBJECTS, "links": {"properties": {"self": {}}}}}), "/b"
        ),
    ),
    "GET /c returns a list": (
        "pagination",
        get(
            returns({"properties": {"data": {"type": "array", "items": {"type": "object"}}}}), "/c"
        ),
    ),
    "GET /d-e returns a list": (
        "pagination",
        get(returns({"properties": {"d_e": {"type": "array", "items": ref("schemas/M")}}}), "/d-e")
        | components(schemas={"M": {"type": "object", "additionalProperties": True}}),
    ),
    "GET /a has no responses": ("operations", get({})),
    "GET /a: the JSON response 404 declares no schema": ("schemas", get(answers({}, "404"))),
    "POST /a: the JSON request shows no example": (
        "examples",
        {"paths": {"/a": {"post": asks(ARRAY)}}},
    ),
    "GET /a: the JSON response 200 shows no example": (
        "examples",
        get(returns(ref("schemas/S"))) | CIRCLE,
    ),
    "webhook POST w: the JSON request shows no example": (
        "examples",
        {"webhooks": {"w": {"post": asks(ARRAY)}}},
    ),
    "callback POST u: the JSON request shows no example": (
        "examples",
        get({"callbacks": {"c": {"u": {"post": asks(ARRAY)}}}}),
    ),
    "GET /a documents no error response": ("errors", get({"responses": {"200": {}, "302": {}}})),
    "operationId 'find a' is not an identifier": ("naming", get({"operationId": "find a"})),
    "the path segment 'e_f' is not kebab-case as the others are": (
        "naming",
        {"paths": {"/a-b": {}, "/c-d": {}, "/e_f": {}}},
    ),
    "the property 'eF' is not snake_case as the others are": (
        "naming",
        components(schemas={"A": {"properties": {"a_b": {}, "c_d": {}, "eF": {}}}}),
    ),
    "the parameter 'e-f' is not camelCase as the others are": (
        "naming",
        get(takes("aB", "cD", "e-f")),
    ),
    "GET /a returns a list and takes no position": (
        "pagination",
        get({**takes("limit"), **returns(ARRAY)}),
    ),
    "GET /pets returns a list": (
        "pagination",
        get(returns({"properties": {"pets": OBJECTS}}), "/pets"),
    ),
    "components.securitySchemes defines no scheme (and 1 more)": (
        "auth",
        get({"responses": {"401": {}}}),
    ),
    "GET /a declares no security": ("auth", get({}) | KEY),
    "GET /a needs the security scheme 'j', which is not defined": (
        "auth",
        get({"security": [{"j": []}]}) | KEY,
    ),
    "GET /a has no summary and no description": ("descriptions", get({})),
    "GET /a: the parameter 'p' has no description": (
        "descriptions",
        get({"summary": "s", **takes("p")}),
    ),
    "a description holds placeholder text: TBD": ("descriptions", {"info": {"description": "TBD"}}),
    "a description holds placeholder text: TODO": (
        "descriptions",
        components(schemas={"A": {"properties": {"example": {"description": "TODO"}}}}),
    ),
    "a summary holds placeholder text: Summary here": (
        "descriptions",
        get({"summary": "Summary here."}),
    ),
}


@pytest.mark.parametrize(
    ("message", "aspect", "document"), [(m, *case) for m, case in FAILING.items()], ids=FAILING
)
def test_unsound_document_fails_and_says_what(message: str, aspect: str, document: Node) -> None:
    result = look(aspect, document)
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)


def test_finding_has_the_line_of_the_operation() -> None:
    text = "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      summary: s\n"
    result = judge("# T\n\n```yaml\n" + text + "```\n", {"openapi": "operations"})
    assert result.location
    assert result.location.line == 7


AROUND = """\
# API

```yaml
openapi: 3.1.0
paths:
  '/pets/{id}':
    put:
      operationId: putPet
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {200: {content: {application/json: {schema: {type: object}}}}}
```

WORDS

```LANGUAGE
BODY
```
"""

SHOWN = [
    ("## PUT /pets/{id}", "json", "{}", 1),
    ("### `PUT /pets/7` then\n\nThe answer:", "json", "{}", 1),
    ("Call putPet:", "json", "{}", 1),
    ("Calls:", "http", "PUT /pets/7 HTTP/1.1\n\n{}\n\nHTTP/1.1 200 OK\n\n{}", 0),
    ("## PUT /pets", "json", "{}", 2),
    ("## GET /pets/{id}", "json", "{}", 2),
    ("## PUT /pets/{id}", "text", "{}", 2),
    ("## PUT /pets/{id}\n\n## Other", "json", "{}", 2),
]


@pytest.mark.parametrize(("words", "language", "body", "missing"), SHOWN)
def test_json_blocks_beside_the_document_are_examples_too(
    words: str, language: str, body: str, missing: int
) -> None:
    text = AROUND.replace("WORDS", words).replace("LANGUAGE", language).replace("BODY", body)
    result = judge(text, {"openapi": "examples"})
    assert len(result.evidence.splitlines()) == missing


def test_long_lists_of_findings_are_cut() -> None:
    paths = "\n".join(f"  /a{n}: {{get: {{}}}}" for n in range(9))
    result = judge(f"openapi: 3.1.0\npaths:\n{paths}\n", {"openapi": "operations"}, "a.yaml")
    assert result.message == "GET /a0 has no responses (and 8 more)"
    assert result.evidence.splitlines()[-2:] == ["line 7: GET /a4 has no responses", "... 4 more"]


ASPECTS_OF_OPERATIONS = [*("examples", "errors", "naming", "pagination", "auth", "descriptions")]


@pytest.mark.parametrize("version", ["3.1.0", "4.0.0"])
@pytest.mark.parametrize("aspect", ASPECTS_OF_OPERATIONS)
def test_without_operations_nothing_is_measured(aspect: str, version: str) -> None:
    result = judge(json.dumps({"openapi": version, "paths": {}}), {"openapi": aspect}, "a.json")
    assert result.outcome is Outcome.NOT_MEASURED
    assert result.message == f"there is no operation for {aspect} to look at"


def test_names_of_schemas_are_measured_without_operations() -> None:
    properties: dict[str, Any] = {"properties": {"first_name": {}, "last_name": {}}}
    document = {"openapi": "3.1.0", "components": {"schemas": {"Person": properties}}}
    result = judge(json.dumps(document), {"openapi": "naming"}, "a.json")
    assert result.outcome is Outcome.PASS


@pytest.mark.parametrize("aspect", ["schemas", "examples", "pagination"])
@pytest.mark.parametrize(
    "operation",
    [
        "{}",
        "{responses: {}}",
        "{responses: {description: All, content: {application/json: {}}}}",
        "{summary: All, responses: {x-a: {description: All}}}",
    ],
)
def test_operation_without_a_response_passes_nothing_for_that(aspect: str, operation: str) -> None:
    text = f"openapi: 3.1.0\npaths: {{/a: {{get: {operation}}}}}\n"
    result = judge(text, {"openapi": aspect}, "a.yaml")
    assert (result.outcome, result.message) == (
        Outcome.NOT_MEASURED,
        "GET /a has no responses to look at",
    )
    assert judge(text, {"openapi": "operations"}, "a.yaml").outcome is Outcome.FAIL


BODY = "{application/json: {schema: {type: array, items: {type: string}}}}"
MISSPELT = [
    f"get: {{responses: {{'200': {{description: a, contnet: {BODY}}}}}}}",
    f"gte: {{responses: {{'200': {{description: a, content: {BODY}}}}}}}",
    f"post: {{requestBody: {{contents: {BODY}}}, responses: {{'204': {{description: a}}}}}}",
]


@pytest.mark.parametrize("item", MISSPELT)
def test_what_is_under_a_misspelt_key_is_looked_at(item: str) -> None:
    text = f"openapi: 3.1.0\npaths: {{/a: {{{item}}}}}\n"
    result = judge(text, {"openapi": "examples"}, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert "shows no example" in result.message
