"""Figures about agents hold in the sample that the suite runs."""

from __future__ import annotations

import pytest

from tests.faults import planted
from tests.faults.__main__ import measure


@pytest.mark.long
@pytest.mark.parametrize("name", ["answers", "silent-agents", "endless-agents", "secrets"])
def test_the_sample_holds(name: str) -> None:
    figure = measure(name, full=False)
    assert figure.failures == ()
    assert figure.holds


def test_a_secret_would_be_found_in_any_form() -> None:
    value = "sk-0123456789/abc"
    assert planted._shows("... 0123456789 ...", value)
    assert not planted._shows("... sk-01234 ...", value)
    assert planted._shows("c2stMDEyMzQ1Njc4OS9hYmM=", value)
    assert planted._shows("sk-0123456789%2Fabc", value)
    assert planted._shows(value.encode().hex(), value)
