"""Tests that are red on purpose: `pytest --reflex-loop` has them made green."""

import pytest
from shop import label, total


@pytest.mark.reflex_rule(id="a.correctness.total", severity="fail")
@pytest.mark.parametrize(("prices", "expected"), [([], 0), ([1.5, 2], 3.5), ([0.1, 0.2], 0.3)])
def test_total(prices, expected):
    """Prices are added to the cent."""
    assert total(prices) == expected


@pytest.mark.reflex_rule(id="a.correctness.discount", severity="fail")
def test_a_discount_above_one_is_refused():
    """A discount above one is refused."""
    with pytest.raises(ValueError, match="discount"):
        total([10], discount=2)


@pytest.mark.reflex_rule(id="b.quality.label", severity="warn")
def test_label():
    """A label shows two decimals."""
    assert label(3.5) == "3.50 EUR"
