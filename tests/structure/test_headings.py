"""Headings: required ones, their order, their levels, one title."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.model.words import Outcome
from tests.structure.judging import judge

DOCUMENT = """\
# Tool

## Installation

Install it so:

```sh
pip install tool
```

## Empty

Usage Notes
-----------

### Options

Some.
"""

PASSING: list[dict[str, Any]] = [
    {"required": "Installation"},
    {"required": ["## installation", "usage  notes"], "order": True},
    {"required": "/^usage/"},
    {"required": "/pip install/", "leads": True},
    {"required": "/install it so/", "leads": True},
    {"required": "Usage notes", "filled": True},
    {"levels": True, "single_title": True, "min_count": 5},
]


@pytest.mark.parametrize("params", PASSING, ids=str)
def test_document_with_the_wanted_headings_passes(params: dict[str, Any]) -> None:
    assert judge(DOCUMENT, {"headings": params}).outcome is Outcome.PASS


FAILING: list[tuple[str, dict[str, Any]]] = [
    ("there is no heading 'Licence'", {"required": ["Tool", "Licence"]}),
    ("there is no heading /^notes/", {"required": "/^notes/"}),
    ("there is no filled heading 'Empty'", {"required": "Empty", "filled": True}),
    (
        "the heading 'Installation' comes before 'Options'",
        {"required": ["Options", "Installation"], "order": True},
    ),
    ("5 headings, at least 6 are wanted", {"min_count": 6}),
]


@pytest.mark.parametrize(("message", "params"), FAILING, ids=[message for message, _ in FAILING])
def test_document_without_them_fails(message: str, params: dict[str, Any]) -> None:
    result = judge(DOCUMENT, {"headings": params})
    assert (result.outcome, result.message) == (Outcome.FAIL, message)


OUTLINES = [
    ("## A\n", "there is no title: no heading of level 1", 1),
    ("text\n", "there is no title: no heading of level 1", 1),
    ("# T\n\n# U\n", "a second title 'U', the first is in line 1", 3),
    ("<h1>T</h1>\n\n# U\n", "a second title 'U', the first is in line 1", 3),
    ("# T\n\n### A\n", "the heading 'A' of level 3 follows one of level 1", 3),
]


@pytest.mark.parametrize(("text", "message", "line"), OUTLINES, ids=[text for text, *_ in OUTLINES])
def test_broken_outline_fails_at_its_line(text: str, message: str, line: int) -> None:
    result = judge(text, {"headings": {"single_title": True, "levels": True}})
    assert result.message == message
    assert result.location == Place("a.md", line, 0)


def test_title_in_html_is_a_title() -> None:
    text = "<p>\n<h1 align='center'>T</h1>\n</p>\n\n## A\n"
    assert judge(text, {"headings": {"single_title": True}}).outcome is Outcome.PASS


def test_heading_in_a_fence_or_comment_is_none() -> None:
    text = "```md\n# A\n```\n<!--\n<h1>B</h1>\n-->\n"
    assert judge(text, {"headings": {"single_title": True}}).outcome is Outcome.FAIL


def test_b027_runaway_pattern_is_an_error() -> None:
    text = "# " + "a" * 60 + "b\n"
    result = judge(text, {"headings": {"required": "/(a|aa)+$/"}})
    assert result.outcome in (Outcome.ERROR, Outcome.FAIL)
