"""Tables of a Markdown text, and the counting of its parts."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge, problems

GOOD = """\
# Options

| Option | Meaning | Default |
|:---|---|---:|
| `a` | one \\| two | |
| `b` | three | 1 |

- x

  | k | v |
  |---|---|
  | 1 | 2 |
"""

PASSING: list[dict[str, Any]] = [
    {"well_formed": True},
    {"columns": ["option", "Meaning"], "min_rows": 2},
    {"columns": "k", "max_rows": 1, "filled": True},
    {"min_count": 2},
]


@pytest.mark.parametrize("params", PASSING, ids=str)
def test_tables_that_are_as_they_should_be_pass(params: dict[str, Any]) -> None:
    assert judge(GOOD, {"tables": params}).outcome is Outcome.PASS


SHORT_ROW = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |\n"
LONG_ROW = "a | b\n--|--\n1 | 2 | 3\n"
NO_TABLE = "Text.\n\n| a | b |\n|---|\n| 1 | 2 |\n"

FAILING: list[tuple[str, dict[str, Any], str, int]] = [
    (SHORT_ROW, {"well_formed": True}, "a row has 1 cells, the head of its table 2", 4),
    (LONG_ROW, {"well_formed": True}, "a row has 3 cells, the head of its table 2", 3),
    (NO_TABLE, {"well_formed": True}, "no table: its head has 2 cells, the row of dashes 1", 4),
    (
        GOOD,
        {"columns": ["Option", "Price"]},
        "0 tables with the columns Option, Price, at least",
        0,
    ),
    (GOOD, {"columns": "option", "min_rows": 3}, "a table of 2 rows, at least 3 are wanted", 3),
    (GOOD, {"columns": "option", "max_rows": 1}, "a table of 2 rows, at most 1 are wanted", 3),
    (GOOD, {"filled": True}, "the cell under 'Default' is empty", 5),
    ("Prose.", {"min_count": 1}, "0 tables, at least 1 are wanted", 0),
    ("Prose.", {"min_rows": 1}, "0 tables, at least 1 are wanted", 0),
]


@pytest.mark.parametrize(("text", "params", "message", "line"), FAILING, ids=lambda v: str(v)[:30])
def test_tables_that_are_not_fail_with_the_line(
    text: str, params: dict[str, Any], message: str, line: int
) -> None:
    found = judge(text, {"tables": params})
    assert found.outcome is Outcome.FAIL
    assert found.message.startswith(message)
    assert found.location == Place("a.md", line)


COUNTED = """\
# T

[one](a.md) and ![two](b.png)

## U

- a
- b
  1. c

```sh
ls
```

| k |
|---|
| v |
"""

COUNTS: list[tuple[dict[str, Any], str, int]] = [
    ({"headings": 2, "links": 1, "images": 1, "items": 3, "tables": 1, "code_blocks": 1}, "", 0),
    ({"headings": {"min": 1, "max": 2}, "paragraphs": {"min": 1}}, "", 0),
    ({"headings": {"max": 1}}, "2 headings, at most 1 are wanted", 5),
    ({"code_blocks": {"min": 2}}, "1 fenced blocks, at least 2 are wanted", 0),
    ({"links": 0}, "1 links, at most 0 are wanted", 3),
    ({"items": {"max": 2}}, "3 list items, at most 2 are wanted", 9),
    ({"images": {"min": 2}, "tables": 0}, "1 images, at least 2 are wanted (and 1 more)", 15),
]


@pytest.mark.parametrize(("params", "message", "line"), COUNTS, ids=lambda v: str(v)[:40])
def test_parts_are_counted(params: dict[str, Any], message: str, line: int) -> None:
    found = judge(COUNTED, {"count": params})
    assert found.outcome is (Outcome.FAIL if message else Outcome.PASS)
    if message:
        assert (found.message, found.location) == (message, Place("a.md", line))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tables": {}}, "tables: it asks for nothing"),
    ({"tables": {"column": "a"}}, "did you mean columns?"),
    ({"tables": {"min_rows": -1}}, "min_rows must be a whole number >= 0"),
    ({"count": {}}, "count: it asks for nothing"),
    ({"count": {"links": {"min": 0}}}, "links: min 0 holds always"),
    ({"count": {"links": {"min": 3, "max": 2}}}, "links: min is 3, more than max, which is 2"),
    ({"count": {"links": {"least": 1}}}, "links must be a whole number, or a table of min and max"),
    ({"count": {"heading": 1}}, "did you mean headings?"),
]


@pytest.mark.parametrize(("params", "message"), REFUSED, ids=[case[1] for case in REFUSED])
def test_unusable_parameters_are_refused(params: dict[str, Any], message: str) -> None:
    assert message in "; ".join(map(str, problems(params)))
