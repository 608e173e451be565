"""Deeds against a loop over a session lead to nothing: the sample."""

from __future__ import annotations

from tests.faults.__main__ import measure


def test_the_sample_holds() -> None:
    figure = measure("session-deeds", full=False)
    assert figure.failures == ()
    assert figure.holds
