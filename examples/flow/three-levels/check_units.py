import unittest

from units import grams, litres


class Units(unittest.TestCase):
    def test_ounces_to_grams(self) -> None:
        assert round(grams(2), 3) == 56.7

    def test_cups_to_litres(self) -> None:
        assert round(litres(4), 3) == 0.96
