"""Headings and fences of a Markdown text in its own lines."""

from __future__ import annotations

from pytest_reflex.text.outline import outline

DOC = """\
---
title: front
---
# Top

## One `code`

```yaml
# no heading
```

Under
-----

- ```json
  {}
  ```

> # quoted

# Last
"""


def test_headings_know_their_section() -> None:
    found = [(h.title, h.level, h.line, h.body, h.end) for h in outline(DOC).headings]
    assert found == [
        ("Top", 1, 3, 4, 20),
        ("One `code`", 2, 5, 6, 11),
        ("Under", 2, 11, 13, 20),
        ("Last", 1, 20, 21, 21),
    ]


def test_fences_know_their_content() -> None:
    found = [(f.language, f.first, f.last, f.text, f.closed) for f in outline(DOC).fences]
    assert found == [("yaml", 8, 9, "# no heading\n", True), ("json", 15, 16, "{}\n", True)]


def test_windows_line_ends_give_the_same_outline() -> None:
    assert outline(DOC.replace("\n", "\r\n")) == outline(DOC)


def test_open_fence_reaches_to_the_end() -> None:
    fence = outline("```sh\na\n\nb").fences[0]
    assert (fence.language, fence.first, fence.last, fence.closed) == ("sh", 1, 4, False)


def test_rule_under_a_table_makes_no_heading() -> None:
    assert outline("| a |\n|---|\n| b |\n---\n").headings == ()


def test_nested_fence_knows_its_mark() -> None:
    fence = outline("> ~~~~\n> a\n").fences[0]
    assert (fence.marker, fence.nested, fence.closed) == ("~~~~", True, False)


def test_empty_text_has_no_lines() -> None:
    assert outline("").lines == 0
    assert outline("a").lines == outline("a\n").lines == 1
