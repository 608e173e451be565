"""Printed numbers never flatter."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.verdict.figures import arithmetic, floor, plain, shown_score
from tests.verdict.sets import evaluation, rule


def test_b019_a_miss_is_printed_lower_than_the_threshold() -> None:
    assert shown_score(Fraction("0.7966")) == "0.796"


@given(st.fractions(0, 1), st.fractions(0, 1, max_denominator=1000))
def test_a_missed_threshold_is_never_shown_as_met(score: Fraction, threshold: Fraction) -> None:
    shown = Fraction(shown_score(score))
    assert shown <= score
    assert (shown >= threshold) <= (score >= threshold)


@pytest.mark.parametrize(
    ("value", "text"), [("2", "2"), ("0.85", "0.85"), ("1/3", "1/3"), ("0", "0"), ("10", "10")]
)
def test_plain_numbers(value: str, text: str) -> None:
    assert plain(Fraction(value)) == text


def test_floor_rounds_down() -> None:
    assert floor(Fraction(2, 3), 3) == "0.666"


def test_arithmetic_shows_earned_and_whole_weight() -> None:
    pairs = [(rule("a.x.one"), "pass"), (rule("a.x.two", "warn", "0.5"), "fail")]
    assert arithmetic(evaluation(pairs)) == "2/2.5"
