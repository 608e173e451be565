"""The figures of a run's iterations are those of the standard library."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.messages import Statistics, statistics_of

SECONDS = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@given(st.lists(SECONDS, min_size=1, max_size=50))
@settings(deadline=None, max_examples=60)
def test_one_pass_gives_what_the_standard_library_gives(seconds: list[float]) -> None:
    figures = statistics_of(iter(seconds))
    assert (figures.count, figures.minimum, figures.maximum) == (
        len(seconds), min(seconds), max(seconds),
    )  # fmt: skip
    assert figures.mean == pytest.approx(statistics.fmean(seconds), rel=1e-9, abs=1e-6)
    assert figures.deviation == pytest.approx(statistics.pstdev(seconds), rel=1e-6, abs=1e-3)


def test_a_small_spread_on_large_values_is_not_lost() -> None:
    assert statistics_of([1e6 + 4, 1e6 + 7, 1e6 + 13, 1e6 + 16]).deviation == pytest.approx(
        statistics.pstdev([4, 7, 13, 16])
    )


def test_no_rounds_have_no_figures() -> None:
    assert statistics_of([]) == Statistics()


def test_the_figures_of_one_round_are_told_in_words_and_numbers() -> None:
    figures = statistics_of([75.0])
    assert str(figures) == "1 iteration, min 1m15s, max 1m15s, mean 1m15s, stddev 0.0s"
    assert figures.to_json() == {
        "count": 1, "min": 75.0, "max": 75.0, "mean": 75.0, "stddev": 0.0,
    }  # fmt: skip
