"""Foreign text made safe to show."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.model.plain import boundary, clip, escape_control, one_line, visible_json

ANY_TEXT = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\u200c\u200d\u061c👩म"), max_size=60
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m\x07", "\\x1b[31m\\x07"),
        ("a\tb\nc", "a\tb\nc"),
        ("\r\x7f\x9b", "\\x0d\\x7f\\x9b"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\u200b\ufeff\xad", "\\u200b\\ufeff\\xad"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u200db \u200c", "a\\u200db \\u200c"),
        ("👩\u200d", "👩\\u200d"),
        ("naïve नमस्ते 🇩🇪", "naïve नमस्ते 🇩🇪"),
    ],
)
def test_what_acts_on_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert escape_control(text) == shown


@settings(deadline=None)
@given(ANY_TEXT)
def test_json_is_visible_and_says_the_same(text: str) -> None:
    shown = visible_json({"text": text}, indent=2)
    assert json.loads(shown) == {"text": text}
    assert escape_control(shown) == shown


def test_a_terminal_never_gets_a_raw_control_sequence_as_json() -> None:
    assert visible_json(["\x9b2J\u202e\x7f\U000e0041"]) == (
        '["\\u009b2J\\u202e\\u007f\\udb40\\udc41"]'
    )


@pytest.mark.parametrize("text", ["👩\u200d🔬", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष"])
def test_b034_joiners_within_a_character_stay(text: str) -> None:
    assert escape_control(text) == text


@given(ANY_TEXT)
@settings(deadline=None)
def test_visible_text_holds_nothing_that_acts(text: str) -> None:
    shown = escape_control(text)
    shown.encode("utf-8")
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert escape_control(shown) == shown


@given(ANY_TEXT, st.integers(1, 40))
@settings(deadline=None)
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


@given(ANY_TEXT, st.integers(1, 80))
@settings(deadline=None)
def test_clipped_text_is_a_beginning(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert len(clipped) <= limit
    assert clipped == text if len(text) <= limit else text.startswith(clipped.removesuffix("…"))


@pytest.mark.parametrize(
    ("text", "index", "cut"),
    [
        pytest.param("abc", 2, 2, id="plain"),
        pytest.param("ae\u0301x", 2, 1, id="combining mark"),
        pytest.param("🇩🇪🇫🇷", 1, 0, id="first flag"),
        pytest.param("🇩🇪🇫🇷", 2, 2, id="between flags"),
        pytest.param("🇩🇪🇫🇷", 3, 2, id="second flag"),
        pytest.param("x👩\u200d🔬", 2, 1, id="before a joiner"),
        pytest.param("x👩\u200d🔬", 3, 1, id="after a joiner"),
        pytest.param("👍🏽", 1, 0, id="skin tone"),
    ],
)
def test_b034_boundary_is_never_inside_a_character(text: str, index: int, cut: int) -> None:
    assert boundary(text, index) == cut


def test_endless_character_is_cut_all_the_same() -> None:
    assert boundary("e" + "\u0301" * 500, 300) == 300
