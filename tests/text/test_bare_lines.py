"""Lines without their ends, and a number of a line that everybody counts alike."""

from __future__ import annotations

import pytest

from pytest_reflex.text.lines import bare


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_only_line_ends_end_a_line(end: str) -> None:
    lines = ["a\u2028b", "", "c\x0c\x85\x1cd"]
    assert bare(end.join(lines)) == lines
    assert bare(end.join(lines) + end) == lines
