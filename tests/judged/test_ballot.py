"""What votes come to: the table, and what may never happen to it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.model.judged import Ballot, Ruling, Vote
from pytest_reflex.verdict.score import MOST_VOTES, decide_votes, majority, ruling_of
from tests.judged.jurors import ballot

TABLE = {
    "one vote that passes": ("pass", 1, 1, "pass"),
    "one vote that fails": ("fail", 1, 1, "fail"),
    "one undecided": ("undecided", 1, 1, "undecided"),
    "one void": ("void", 1, 1, "undecided"),
    "nobody was asked yet": ("", 1, 1, None),
    "two of three pass": ("pass fail pass", 3, 2, "pass"),
    "enough before the last": ("pass pass", 3, 2, "pass"),
    "lost before the last": ("fail fail", 3, 2, "fail"),
    "open": ("pass fail", 3, 2, None),
    "open, and only to a pass": ("pass void", 3, 2, None),
    "a tie of two": ("pass fail", 2, 2, "fail"),
    "a tie of four": ("pass pass fail fail", 4, 3, "fail"),
    "void keeps from the quorum": ("pass void void", 3, 2, "undecided"),
    "void and undecided settle it": ("void undecided", 3, 2, "undecided"),
    "void may still be fail": ("void fail", 3, 2, None),
    "unanimous, one against": ("pass fail", 3, 3, "fail"),
    "any of three": ("fail fail pass", 3, 1, "pass"),
    "any of three, none": ("fail fail fail", 3, 1, "fail"),
    "any of three, void between": ("fail void fail", 3, 1, "undecided"),
}


@pytest.mark.parametrize(("words", "size", "quorum", "wanted"), TABLE.values(), ids=TABLE)
def test_the_table_of_votes(words: str, size: int, quorum: int, wanted: str | None) -> None:
    assert ruling_of(ballot(*words.split(), size=size, quorum=quorum)) == wanted


rulings = st.sampled_from(list(Ruling))


@st.composite
def votings(draw: st.DrawFn) -> tuple[list[Ruling], int, int]:
    size = draw(st.integers(1, MOST_VOTES))
    quorum = draw(st.integers(1, size))
    return draw(st.lists(rulings, max_size=size)), size, quorum


@settings(deadline=None, max_examples=60)
@given(votings(), st.data())
def test_what_is_settled_stays_so_whatever_follows(
    voting: tuple[list[Ruling], int, int], data: st.DataObject
) -> None:
    cast, size, quorum = voting
    found = decide_votes(cast, size=size, quorum=quorum)
    rest = data.draw(st.lists(rulings, max_size=size - len(cast)))
    assert found in (None, decide_votes([*cast, *rest], size=size, quorum=quorum))


@settings(deadline=None, max_examples=60)
@given(votings(), st.data())
def test_a_vote_turned_into_a_pass_never_ends_a_pass(
    voting: tuple[list[Ruling], int, int], data: st.DataObject
) -> None:
    cast, size, quorum = voting
    at = data.draw(st.integers(0, len(cast)))
    better = [*cast[:at], Ruling.PASS, *cast[at + 1 :]][:size]
    if decide_votes(cast, size=size, quorum=quorum) is Ruling.PASS:
        assert decide_votes(better, size=size, quorum=quorum) is Ruling.PASS


@settings(deadline=None, max_examples=60)
@given(votings(), st.data())
def test_a_void_vote_never_helps(
    voting: tuple[list[Ruling], int, int], data: st.DataObject
) -> None:
    cast, size, quorum = voting
    at = data.draw(st.integers(0, max(len(cast) - 1, 0)))
    worse = [*cast[:at], Ruling.VOID, *cast[at + 1 :]][:size]
    if decide_votes(cast, size=size, quorum=quorum) is not Ruling.PASS:
        assert decide_votes(worse, size=size, quorum=quorum) is not Ruling.PASS


@settings(deadline=None, max_examples=60)
@given(votings())
def test_all_votes_settle_it_and_a_pass_has_its_quorum(
    voting: tuple[list[Ruling], int, int],
) -> None:
    cast, size, quorum = voting
    full = [*cast, *[Ruling.UNDECIDED] * (size - len(cast))]
    found = decide_votes(full, size=size, quorum=quorum)
    assert (found is Ruling.PASS) == (full.count(Ruling.PASS) >= quorum)
    assert found is not None


@pytest.mark.parametrize(("size", "wanted"), [(1, 1), (2, 2), (3, 2), (4, 3), (9, 5)])
def test_a_majority_is_more_than_half(size: int, wanted: int) -> None:
    assert majority(size) == wanted


def test_a_ballot_survives_the_wire() -> None:
    cost = {"calls": 1, "seconds": 2.0, "usd": None, "tokens": 7}
    votes = (
        Vote(ruling=Ruling.PASS, agent="a", reasons=("x", "y"), cost=cost),
        Vote(ruling=Ruling.VOID, agent="b", error="no answer", limited=True),
    )
    one = Ballot(size=3, quorum=2, votes=votes)
    assert Ballot.from_json(one.to_json()) == one
