"""What is left of a text when everything that a terminal eats is gone."""

from __future__ import annotations

import pytest

from pytest_reflex.model.plain import strip_ansi


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[0m\x1b[2K", ""),
        ("\x9b31mred", "red"),
        ("\x1b]8;;https://x.invalid\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]no end\nnext", "\nnext"),
        ("\x1b(Btext\x1b7", "text"),
        ("\ufeff\u200bone\x00\r\n\ttwo\u2060", "one\n\ttwo"),
        ("größer ≥ 1 😀", "größer ≥ 1 😀"),
        ("\x1b", ""),
    ],
    ids=range(10),
)
def test_only_what_a_person_reads_is_left(text: str, left: str) -> None:
    assert strip_ansi(text) == left
