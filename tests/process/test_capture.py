"""Head and tail of a stream."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.process.child import Capture


def captured(data: bytes, head: int, tail: int, size: int = 7) -> Capture:
    capture = Capture(head, tail)
    for start in range(0, len(data), size):
        capture.add(data[start : start + size])
    return capture


@pytest.mark.long
@given(st.binary(max_size=60), st.integers(0, 40), st.integers(0, 40), st.integers(1, 70))
@settings(deadline=None)
def test_short_stream_is_kept_whole(data: bytes, head: int, tail: int, size: int) -> None:
    capture = captured(data, head, tail, size)
    assert capture.total == len(data)
    if not capture.truncated:
        assert capture.data() == data


@given(st.text(alphabet="aé€😀", min_size=30, max_size=200), st.integers(0, 20), st.integers(0, 20))
@settings(deadline=None)
def test_b112_cut_is_never_inside_a_character(text: str, head: int, tail: int) -> None:
    kept = captured(text.encode(), head, tail).data().decode("utf-8")
    start, _, end = kept.partition("\n[...")
    assert text.startswith(start)
    assert text.endswith(end.partition("...]\n")[2])


def test_remark_counts_what_is_left_out() -> None:
    data = captured(b"a" * 1000, 10, 10).data()
    assert data == b"a" * 10 + b"\n[... 980 bytes left out ...]\n" + b"a" * 10


@given(st.binary(min_size=50, max_size=300), st.integers(1, 12), st.integers(1, 12))
@settings(deadline=None)
def test_any_bytes_can_be_cut(data: bytes, head: int, tail: int) -> None:
    assert b"bytes left out" in captured(data, head, tail).data()
