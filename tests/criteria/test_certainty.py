"""Patterns that certainly match, or certainly do not: whatever is said, `re` agrees."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.criteria.linting.patterns import always_matches, never_matches

ALWAYS = ["", "a*", "^", "$", r"\A", "(a|b)*c?", "(|x)", r"x*$", "a{0,3}", "(?:a?)(b?)", "^x*"]
NEVER = {
    r"a\A": "nothing can come before \\A",
    r"\Za": "nothing can come after \\Z",
    "a^b": "only a line break can come before ^",
    "a$b": "only a line break can come after $",
    ".$.": "only a line break can come after $",
    "(?!)x": "(?!) holds nowhere",
    r"a\r\n": "line ends are \\n for a search, so that \\r is nowhere",
    r"(?:a$b|\Zx)": "only a line break can come after $",
}
UNKNOWN = ["a", "^$", r"\A\Z", "^a*$", "a+", r"a$\nb", r"a\n^b", r"(?s).$.", "(?i:a)$", r"(a)\1*"]

PARTS = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "^",
        "$",
        r"\A",
        r"\Z",
        "a*",
        "b?",
        r"\n",
        "(a|b)",
        "(?:a|)",
        "[ab]",
        "a+",
        r"\s*",
    ]
)
PATTERNS = st.lists(PARTS, max_size=5).map("".join)
TEXTS = st.text("ab \n", max_size=6)


@pytest.mark.parametrize("pattern", ALWAYS)
def test_a_pattern_that_matches_every_text_is_known(pattern: str) -> None:
    assert always_matches(pattern)
    assert not never_matches(pattern)


@pytest.mark.parametrize(("pattern", "reason"), NEVER.items())
def test_a_pattern_that_matches_no_text_is_known_with_its_reason(pattern: str, reason: str) -> None:
    assert never_matches(pattern) == reason
    assert not always_matches(pattern)


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_nothing_is_said_of_others(pattern: str) -> None:
    assert (always_matches(pattern), never_matches(pattern)) == (False, "")


def test_line_ends_may_be_looked_for_in_the_raw_text() -> None:
    assert never_matches(r"a\r", raw=True) == ""


@settings(deadline=None, max_examples=60)
@given(PATTERNS, TEXTS)
def test_what_is_said_is_so(pattern: str, text: str) -> None:
    found = re.search(pattern, text, re.MULTILINE)
    assert not (always_matches(pattern) and found is None)
    assert not (never_matches(pattern) and found is not None)
