"""Deeds against a loop over a session lead to nothing, and kills of it lose nothing: the sample."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import measure


@pytest.mark.long
@pytest.mark.parametrize("name", ["session-deeds", "session-kills"])
def test_the_sample_holds(name: str) -> None:
    figure = measure(name, full=False)
    assert figure.failures == ()
    assert figure.holds
