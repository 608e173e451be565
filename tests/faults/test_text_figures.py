"""Figures about patterns, YAML and texts hold in the sample that the suite runs."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import measure

LEAST = {"patterns": 4, "yaml-bombs": 2, "yaml-table": 80, "text-table": 24}


@pytest.mark.long
@pytest.mark.parametrize("name", LEAST)
def test_the_sample_holds(name: str) -> None:
    figure = measure(name, full=False)
    assert figure.failures == ()
    assert figure.holds
    assert figure.total >= LEAST[name]
