"""Lines with the ends they have, and the way from a clean view back into the original."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.text.lines import LineView, newline_of, split, starts, with_newline

text = st.text("ab \r\n\u2028\x0c\x85", max_size=20)


@settings(deadline=None)
@given(text)
def test_lines_join_to_the_text(text: str) -> None:
    lines = split(text)
    assert "".join(lines) == text
    assert [text[a:b] for a, b in zip(starts(text), starts(text)[1:], strict=False)] == lines


def test_only_real_line_ends_end_a_line() -> None:
    assert split("a\u2028b\x85c\x0cd\ne\r\nf\rg") == ["a\u2028b\x85c\x0cd\n", "e\r\n", "f\r", "g"]


@pytest.mark.parametrize(
    ("text", "newline"), [("", "\n"), ("a\nb\r\n", "\n"), ("a\r\nb\r\nc\n", "\r\n")]
)
def test_most_used_line_end_wins(text: str, newline: str) -> None:
    assert newline_of(text) == newline
    assert with_newline("x\r\ny\nz\r", newline) == f"x{newline}y{newline}z{newline}"


@settings(deadline=None)
@given(text)
def test_view_that_changes_nothing_gives_the_original(text: str) -> None:
    view = LineView(text)
    assert "\r" not in view.text
    for at in range(len(view.text) + 1):
        assert view.splice(at, at, "") == text


DOC = "- x\r\n  a: 1\r\n\r\n  b: 2\r\n- y\r\n"


def test_view_lacks_the_indent_and_splices_with_it() -> None:
    view = LineView(DOC, 1, 4, indent=2)
    assert view.text == "a: 1\n\nb: 2\n"
    assert view.splice(3, 4, "7") == DOC.replace("1", "7")
    assert view.splice(5, 5, "n: 0\n\nm: 0\n") == DOC.replace(
        "1\r\n\r\n", "1\r\n  n: 0\r\n\r\n  m: 0\r\n\r\n"
    )


def test_view_adds_lines_at_its_end() -> None:
    view = LineView(DOC, 1, 4, indent=2)
    end = len(view.text)
    assert view.splice(end, end, "c: 3\n") == DOC.replace("- y", "  c: 3\r\n- y")
