"""Figures of what agents try with verdicts, commands and names hold in the suite's sample."""

from __future__ import annotations

import pytest

from tests.faults.__main__ import measure


@pytest.mark.long
@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["tampering", "agent-commands", "injections", "endless-programs", "quoting"]
)
def test_the_sample_holds(name: str) -> None:
    figure = measure(name, full=False)
    assert figure.failures == ()
    assert figure.holds
