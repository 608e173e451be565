import unittest

from slugs import slug


class Slugs(unittest.TestCase):
    def test_words_are_joined_by_one_hyphen(self):
        assert slug("Done, at last") == "done-at-last"

    def test_umlauts_are_two_letters(self):
        assert slug("Grüße") == "gruesse"
