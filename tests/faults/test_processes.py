"""Figures of processes, signals and surroundings hold in the sample that the suite runs."""

from __future__ import annotations

import sys

import pytest

from tests.faults.__main__ import measure

NAMES = (
    *("zoo", "orphans", "signals", "floods", "environment", "special-files", "closed-stdout"),
    *("changed-by-check", "log-volume", "exit-codes", "random-bytes", "questions", "prompts"),
    *("iterate-signals", "kill-asked"),
)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_sample_holds(name: str) -> None:
    figure = measure(name, full=False)
    assert figure.failures == ()
    assert figure.holds
