from baskets import total
from prices import with_tax


def test_tax_is_added():
    assert with_tax(10.0) == 12.0


def test_basket_is_the_sum():
    assert total([10.0, 5.0]) == 18.0
