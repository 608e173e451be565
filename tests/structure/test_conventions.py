"""Conventions of Markdown and OpenAPI in many projects, and faults that look like them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

USED: dict[str, Any] = {"headings": {"required": "/usage/", "filled": True, "used": True}}
SET_UP: dict[str, Any] = {"headings": {"required": "/^install/", "filled": True, "installed": True}}


@pytest.mark.parametrize(
    "note",
    ["(TODO)", "[TBD]", "tbd", "*tbc*", "FIXME.", "(todo)", "todo: write this"],
)
def test_note_alone_is_a_placeholder_however_it_is_set(note: str) -> None:
    outcome = judge(f"# T\n\n{note}\n", {"prose": {"placeholders": False}}).outcome
    assert outcome is (Outcome.PASS if note == "(todo)" else Outcome.FAIL)


@pytest.mark.parametrize(
    "text",
    [
        "## Todo\n\n- a list",
        "`TODO`",
        "- todo: a list of tasks",
        "- todo: tasks to do",
        "The rest is in tbd.txt.",
    ],
)
def test_note_that_is_a_name_is_no_placeholder(text: str) -> None:
    assert judge(text, {"prose": {"placeholders": False}}).outcome is Outcome.PASS


CLAUSES = [
    "case [x, y]:\n    move(x, y)\ncase _:\n    pass\n",
    "except ValueError as error:\n    show(error)\n",
    "elif x:\n    y()\nelse:\n    z()\n",
    "    finally:\n        close()\n",
    "for x in y:\n    # do it\n",
    "def f(x):\n    # what it does\n\ndef g(x):\n    # what it does\n",
    "{% if x %}\na = 1\n{% endif %}\nb = {{ b }}\n",
]


@pytest.mark.parametrize("code", CLAUSES)
def test_part_of_a_statement_parses(code: str) -> None:
    result = judge(f"```python\n{code}```\n", {"code_blocks": {"parse": True}})
    assert (result.outcome, result.evidence) == (Outcome.PASS, "")


@pytest.mark.parametrize(
    "code",
    [
        "case [x, y]\n    move(x, y)\n",
        "except ValueError as error:\n    show(error\n",
        "else\n    z()\n",
        "for x in y\n    # do it\n",
        "for x in y:\n# do it\nz()\n",
        "{% if x %}\na = = 1\n{% endif %}\n",
    ],
)
def test_part_of_a_statement_has_its_faults_too(code: str) -> None:
    result = judge(f"```python\n{code}```\n", {"code_blocks": {"parse": True}})
    assert result.message.startswith("a python block does not parse: ")


@pytest.mark.parametrize("remark", ["<!-- later -->", "<!--\nlater\n\nor never\n-->", "<!-- open"])
def test_comment_is_no_text_under_a_heading(remark: str) -> None:
    text = f"# T\n\n## Usage\n\n{remark}\n"
    assert judge(text, USED).outcome is Outcome.FAIL
    assert judge(text + "-->\n\nCall it.\n", USED).outcome is Outcome.PASS


def test_heading_of_html_has_the_text_below_it() -> None:
    def page(body: str) -> str:
        return f"<h1>T</h1>\n\n<h2 align='center'>Usage</h2>\n\n{body}<h2>More</h2>\n\nText.\n"

    assert judge(page("<p>Call it.</p>\n\n"), USED).outcome is Outcome.PASS
    assert judge(page("Call it.\n\n"), USED).outcome is Outcome.PASS
    assert judge(page(""), USED).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "code",
    [
        '```swift\n.package(url: "https://a.org/a", from: "1.0.0")\n```\n',
        "```ruby\npod 'Tool', '~> 1.0'\n```\n",
        '```elixir\n{:tool, "~> 1.0"}\n```\n',
        "<pre>\npip install tool\n</pre>\n",
    ],
)
def test_dependency_of_any_language_tells_how_to_install(code: str) -> None:
    assert judge(f"# T\n\n{code}", SET_UP).outcome is Outcome.PASS
    assert judge(f"# T\n\n{code}", USED).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "name", ["a.wiki", "a.rdoc", "a.typ", "a.ipynb", "a.creole", "tool.1", "a.man", "a.docx"]
)
def test_document_of_another_form_is_not_read_as_markdown(name: str) -> None:
    result = judge("# Usage\n\nText.\n", USED, name=name)
    assert result.outcome is not Outcome.PASS
    assert "and this check reads Markdown" in result.message


@pytest.mark.parametrize(
    ("title", "anchor"), [("Ⅳ part", "ⅳ-part"), ("Ⓐ first", "ⓐ-first"), ("🅰️ type", "🅰️-type")]
)
def test_letters_that_are_numbers_or_signs_stay_in_anchors(title: str, anchor: str) -> None:
    params = {"links": {"anchors": True}}
    assert judge(f"## {title}\n\n[x](#{anchor})\n", params).outcome is Outcome.PASS
    assert judge(f"## x² {title}\n\n[x](#x²-{anchor})\n", params).outcome is Outcome.FAIL


API = "openapi: 3.1.0\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_webhook_without_a_name_of_ours_leaves_no_style(end: str) -> None:
    text = API + "webhooks:\n  petAdded:\n    post: {responses: {'204': {description: Seen}}}\n"
    result = judge(text.replace("\n", end), {"openapi": "naming"}, "a.yaml")
    assert result.outcome is Outcome.PASS


@pytest.mark.parametrize("paths", ["/pets:batchGet /pet-owners", "/en-US/pets /pet-owners"])
def test_method_and_language_in_a_path_have_their_own_style(paths: str) -> None:
    items = "".join(f"  {p}: {{get: {{responses: {{}}}}}}\n" for p in paths.split())
    params = {"openapi": "naming"}
    assert judge(f"{API}paths:\n{items}", params, "a.yaml").outcome is Outcome.PASS
    stray = "  /petToys: {get: {responses: {}}}\n"
    assert judge(f"{API}paths:\n{items}{stray}", params, "a.yaml").outcome is Outcome.FAIL


LIST = "items: {type: array, items: {type: object}}"


def listing(properties: str, more: str = "", headers: str = "{}") -> str:
    schema = f"{{type: object, properties: {{{LIST}, {properties}}}}}"
    body = f"content: {{application/json: {{schema: {schema}}}}}"
    answer = f"{{'200': {{description: a, headers: {headers}, {body}}}}}"
    return f"{API}paths: {{/pets: {{get: {{{more} responses: {answer}}}}}}}\n"


@pytest.mark.parametrize(
    "text",
    [
        listing("'@odata.nextLink': {type: string}"),
        listing("continuationToken: {type: string}"),
        listing(
            "paging: {properties: {cursors: {type: object, properties: {after: {type: string}}}}}"
        ),
        listing("meta: {properties: {pagination: {properties: {next: {type: string}}}}}"),
        listing("a: {}", headers="{X-Next-Page: {schema: {type: string}}}"),
        listing("a: {}", "parameters: [{name: Range, in: header, schema: {type: string}}],"),
    ],
)
def test_way_to_the_next_part_is_known_by_many_names(text: str) -> None:
    assert judge(text, {"openapi": "pagination"}, "a.yaml").outcome is Outcome.PASS


@pytest.mark.parametrize(
    "text",
    [
        listing("meta: {properties: {total: {type: integer}, after: {type: string}}}"),
        listing("owner: {properties: {cursors: {properties: {after: {type: string}}}}}"),
        listing("a: {}", headers="{X-Total-Count: {schema: {type: integer}}}"),
    ],
)
def test_list_without_a_way_on_is_found(text: str) -> None:
    assert judge(text, {"openapi": "pagination"}, "a.yaml").outcome is Outcome.FAIL
