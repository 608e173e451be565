"""Lines and columns as findings show them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.regions import WIDTH, Region, lines_at


@given(st.text(alphabet="ab\n🇩", max_size=40), st.integers(1, 50), st.data())
@settings(deadline=None)
def test_position_counts_lines_and_code_points(text: str, line: int, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset].split("\n")
    assert Region(text, line).position(offset) == (line + len(before) - 1, len(before[-1]) + 1)


def test_each_line_is_shown_once_and_few_of_them() -> None:
    part = Region("aa\nb\na\na\na\n")
    assert lines_at(part, [0, 1, 5, 7, 9]) == "1 | aa\n3 | a\n4 | a\n..."


def test_long_line_is_shown_around_the_place() -> None:
    shown = lines_at(Region("x" * 5000 + "HERE" + "y" * 5000), [5000])
    assert "HERE" in shown
    assert shown.startswith("1 | …x")
    assert shown.endswith("y…")
    assert len(shown) <= WIDTH + 10


@given(st.integers(0, 400))
@settings(deadline=None)
def test_b034_excerpt_is_not_cut_inside_a_character(offset: int) -> None:
    flag = "🇩🇪"
    shown = lines_at(Region(flag * 300), [offset])
    assert set(shown.removeprefix("1 | ").strip("…").split(flag)) == {""}


def test_control_characters_are_visible() -> None:
    assert lines_at(Region("a\x1b[31m\u202eb"), [0]) == "1 | a\\x1b[31m\\u202eb"
