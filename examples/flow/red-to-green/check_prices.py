import unittest

from prices import discounted, with_tax


class Prices(unittest.TestCase):
    def test_tax_is_in_percent(self) -> None:
        assert with_tax(100, 19) == 119

    def test_ten_pieces_have_a_discount(self) -> None:
        assert discounted(100, 10) == 90
