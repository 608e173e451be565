"""Printed numbers never flatter."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.verdict.formatting import arithmetic, floor, format_score, gap, plain
from tests.verdict.sets import evaluation, rule

WORDS = ("pass", "fail")


def test_b019_a_miss_is_printed_lower_than_the_threshold() -> None:
    assert format_score(Fraction("0.7966")) == "0.796"


@pytest.mark.long
@given(st.fractions(0, 1), st.fractions(0, 1, max_denominator=1000))
def test_a_missed_threshold_is_never_shown_as_met(score: Fraction, threshold: Fraction) -> None:
    shown = Fraction(format_score(score))
    assert shown <= score
    assert (shown >= threshold) <= (score >= threshold)


@pytest.mark.parametrize(
    ("value", "text"),
    [("2", "2"), ("0.85", "0.85"), ("1/3", "1/3"), ("0", "0"), ("10", "10")],
)
def test_plain_numbers(value: str, text: str) -> None:
    assert plain(Fraction(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("99991/1000003", "99991/1000003", id="a fraction of 12 digits"),
        pytest.param("99991/10000019", "0.009999081", id="of 13 digits"),
        pytest.param("900000000001/7", "128571428571.5", id="12 digits before the point"),
        pytest.param("50000000001/7", "7142857143", id="10, and noughts behind it"),
        pytest.param("1/3000000000000", "0", id="next to nothing"),
        pytest.param(f"1/{10**49}", f"0.{'0' * 48}1", id="as many decimals as anybody types"),
        pytest.param(f"1/{10**50}", "0", id="one more"),
    ],
)
def test_a_number_of_many_digits_is_cut_where_nobody_typed_it(value: str, text: str) -> None:
    assert plain(Fraction(value)) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        ("2/3", 3, "0.666"),
        ("7/2", 1, "3.5"),
        ("203/100", 3, "2.030"),
        ("999/1000", 2, "0.99"),
    ],
)
def test_floor_rounds_down(value: str, digits: int, text: str) -> None:
    assert floor(Fraction(value), digits) == text


@pytest.mark.parametrize(
    ("weights", "threshold", "text"),
    [
        pytest.param((8, 2), "0.85", "0.050", id="as it is"),
        pytest.param((2, 1), "0.85", "0.184", id="rounded up"),
        pytest.param((8499, 1501), "0.85", "0.001", id="next to none"),
        pytest.param((349999, 650001), "0.85", "0.501", id="next to a half"),
        pytest.param((17, 3), "0.85", "0.000", id="none"),
        pytest.param((9, 1), "0.85", "0.000", id="more than that"),
    ],
)
def test_a_gap_is_shown_rounded_up(weights: tuple[int, int], threshold: str, text: str) -> None:
    pairs = [(rule(f"a.x.r{n}", "warn", n), word) for n, word in zip(weights, WORDS, strict=True)]
    assert gap(evaluation(pairs, threshold=threshold)) == text


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        pytest.param(("123456.123457", "1"), "123456.123457 of 123457.123457", id="12 digits"),
        pytest.param(("123456.1234567", "1"), "123456.123456 of 123457.123456", id="13 digits"),
        pytest.param(("99991/1000003", "0"), "99991/1000003 of 99991/1000003", id="fractions"),
    ],
)
def test_arithmetic_shows_at_most_12_digits(weights: tuple[str, str], text: str) -> None:
    pairs = [(rule(f"a.x.r{len(n)}", "warn", n), w) for n, w in zip(weights, WORDS, strict=True)]
    assert arithmetic(evaluation(pairs)) == text


def test_arithmetic_shows_earned_and_whole_weight() -> None:
    pairs = [(rule("a.x.one"), "pass"), (rule("a.x.two", "warn", "0.5"), "fail")]
    assert arithmetic(evaluation(pairs)) == "2 of 2.5"
