"""What some votes come to: a pure table, in which nothing but votes that pass leads to a pass."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_reflex.model.judged import Ballot, Ruling

MOST_VOTES = 9


def majority(size: int) -> int:
    """Return how many votes are more than half."""
    return size // 2 + 1


def ruling_of(ballot: Ballot) -> Ruling | None:
    """Return what a ballot comes to, None where votes that are still to come may change it.

    pass: the quorum passes. fail: so many say fail that it cannot be reached, whatever the others
    say. undecided: neither, and it will be neither.
    """
    return settled(ballot.rulings, size=ballot.size, quorum=ballot.quorum)


def settled(rulings: Sequence[Ruling], *, size: int, quorum: int) -> Ruling | None:
    """Return what votes come to of which `size` may be cast and `quorum` have to pass."""
    passes, fails = rulings.count(Ruling.PASS), rulings.count(Ruling.FAIL)
    left = size - len(rulings)
    spare = size - quorum
    if passes >= quorum:
        return Ruling.PASS
    if fails > spare:
        return Ruling.FAIL
    if passes + left < quorum and fails + left <= spare:
        return Ruling.UNDECIDED
    return None
