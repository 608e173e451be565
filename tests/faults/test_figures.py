"""Figures of the scorecard hold in the sample that the suite runs."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import measure

STATE = (
    *("kill", "recovery", "storage", "reading", "cuts", "rebuilt", "replayed-crashes"),
    *("iterate-kills", "iterate-storage", "iterate-races", "flow-kills", "goal-kills"),
    *("locks", "races", "special-state", "names", "clock", "read-only", "mutants"),
)


@pytest.mark.long
@pytest.mark.long
@pytest.mark.parametrize("name", STATE)
def test_the_sample_holds(name: str) -> None:
    figure = measure(name, full=False)
    assert figure.failures == ()
    assert figure.holds
