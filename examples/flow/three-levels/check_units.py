import unittest

from units import grams, litres


class Units(unittest.TestCase):
    def test_ounces_to_grams(self) -> None:
        self.assertAlmostEqual(grams(2), 56.7)

    def test_cups_to_litres(self) -> None:
        self.assertAlmostEqual(litres(4), 0.96)
