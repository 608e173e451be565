"""Markdown gives its headings, sections, blocks and links with true lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.errors import ArtifactError

DOCUMENT = """\
# Title *with* `code`

Lead [text](a.md) and
![picture](b.png).

## First

```YAML extra words
key: value
```

### Inner

- item

Second
------

> ## Quoted
"""


def test_sections_end_at_the_next_heading_of_their_level() -> None:
    found = {s.title: DOCUMENT[s.start : s.end] for s in model.sections(DOCUMENT)}
    assert list(found) == ["Title with code", "First", "Inner", "Second"]
    assert found["First"].endswith("- item\n\n")
    assert found["Inner"] == "\n- item\n\n"
    assert found["Title with code"].endswith("> ## Quoted\n")


def test_headings_know_line_level_and_style() -> None:
    found = [(h.level, h.line, h.setext, h.nested) for h in model.parse(DOCUMENT).headings]
    assert found == [
        (1, 1, False, False),
        (2, 6, False, False),
        (3, 12, False, False),
        (2, 16, True, False),
        (2, 19, False, True),
    ]


def test_blocks_carry_language_text_and_first_line() -> None:
    assert model.blocks(DOCUMENT) == [model.Block("yaml", "key: value\n", 9, "```")]


def test_links_and_images_carry_their_own_line() -> None:
    found = [(link.target, link.line, link.image) for link in model.parse(DOCUMENT).links]
    assert found == [("a.md", 3, False), ("b.png", 4, True)]


def test_paragraphs_know_whether_they_belong_to_a_list() -> None:
    found = [(p.text, p.in_list) for p in model.parse(DOCUMENT).paragraphs]
    assert found == [("Lead text and .", False), ("item", True)]


def test_front_matter_is_no_heading_and_lines_stay_true() -> None:
    document = model.parse("---\ntitle: x\n---\n# T\n")
    assert [(h.title, h.level, h.line) for h in document.headings] == [("T", 1, 4)]


def test_windows_line_ends_change_nothing_but_offsets() -> None:
    text = "---\ntitle: x\n---\n" + DOCUMENT
    unix, windows = model.parse(text), model.parse(text.replace("\n", "\r\n"))
    assert windows.headings == unix.headings
    assert windows.blocks == unix.blocks
    bodies = [windows.text[s.start : s.end].replace("\r", "") for s in windows.sections]
    assert bodies == [unix.text[s.start : s.end] for s in unix.sections]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("a" * 2_000_001, "2,000,001 characters"),
        ("\n" * 100_001, "100,001 lines"),
        ("|" * 200_001, "200,001 pipes"),
    ],
    ids=["characters", "lines", "pipes"],
)
def test_a_text_above_the_limit_is_refused_with_its_size(text: str, size: str) -> None:
    with pytest.raises(ArtifactError, match=size):
        model.parse(text)


def test_brackets_without_end_are_refused_with_the_line() -> None:
    with pytest.raises(ArtifactError, match="line 3"):
        _ = model.parse("# T\n\n" + "![" * 100_000).links


@pytest.mark.parametrize("marks", ["**a *b", "_a", "`", "\\", "&amp;", "<a ", "!"])
def test_f17_a_paragraph_of_marks_is_refused_with_the_line(marks: str) -> None:
    text = "# T\n\nx " + marks * (1_900_000 // len(marks))
    with pytest.raises(ArtifactError, match=r"too many marks of emphasis.*line 3"):
        _ = model.parse(text).paragraphs


def test_f17_marks_count_over_all_paragraphs_and_not_in_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model, "MAX_MARKS", 10)
    fine = "~~~\n" + "*" * 50 + "\n~~~\n\n" + "*a*\n\n" * 5
    assert len(model.Markdown(fine).paragraphs) == 5
    with pytest.raises(ArtifactError, match="line 15"):
        _ = model.Markdown(fine + "*a*\n").paragraphs


def test_one_text_is_parsed_once() -> None:
    assert model.parse(DOCUMENT) is model.parse("".join(DOCUMENT))


@settings(deadline=None)
@given(st.text(alphabet="#-=`~>[]()*_ \t\n\r1.a|<!", max_size=200))
def test_any_text_gives_ordered_sections_inside_it(text: str) -> None:
    document = model.Markdown(text)
    assert all(0 <= s.start <= s.end <= len(text) for s in document.sections)
    assert len(document.blocks) + len(document.links) + len(document.paragraphs) >= 0
    assert [h.line for h in document.headings] == sorted(h.line for h in document.headings)
