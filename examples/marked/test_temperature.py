"""Ordinary tests; the marks say which rule each is a check of, and how much the rule matters."""

import pytest
from temperature import celsius


@pytest.mark.reflex_rule(id="a.correctness.units", severity="fail")
@pytest.mark.parametrize(("text", "expected"), [("21 C", 21.0), ("32 F", 0.0), ("-40 F", -40.0)])
def test_both_units_are_read(text, expected):
    """Celsius and Fahrenheit are read."""
    assert celsius(text) == pytest.approx(expected)


@pytest.mark.reflex_rule(id="a.correctness.limits", severity="fail")
def test_less_than_absolute_zero_is_refused():
    """Temperatures that cannot be are refused."""
    with pytest.raises(ValueError, match="absolute zero"):
        celsius("-500 F")


@pytest.mark.reflex_rule(id="b.quality.messages", severity="warn")
def test_a_missing_unit_is_answered_with_an_example():
    """Messages say what to write instead."""
    with pytest.raises(ValueError, match="as in 21 C"):
        celsius("21")


def test_without_a_mark_is_a_test_like_any_other():
    assert celsius(" 0 C ") == 0.0
