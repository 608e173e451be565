"""Looking at loops leaves everything as it was."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import measure

pytestmark = pytest.mark.long


def test_w10_the_sample_of_looks_wrote_nothing() -> None:
    figure = measure("looking", full=False)
    assert figure.failures == ()
    assert figure.holds
