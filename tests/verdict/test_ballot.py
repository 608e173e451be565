"""What some votes come to, against a count of everything that may still be said."""

from __future__ import annotations

from itertools import product

import pytest

from pytest_reflex.model.judged import Ruling
from pytest_reflex.verdict.ballot import majority, settled


def final(rulings: tuple[Ruling, ...], quorum: int) -> Ruling:
    """Return what votes come to when all are cast."""
    if rulings.count(Ruling.PASS) >= quorum:
        return Ruling.PASS
    enough = rulings.count(Ruling.FAIL) > len(rulings) - quorum
    return Ruling.FAIL if enough else Ruling.UNDECIDED


BALLOTS = [(size, quorum) for size in range(1, 6) for quorum in range(1, size + 1)]


@pytest.mark.parametrize(("size", "quorum"), BALLOTS)
def test_votes_are_settled_as_soon_as_no_other_can_change_it(size: int, quorum: int) -> None:
    for cast in range(size + 1):
        for rulings in product(Ruling, repeat=cast):
            ends = {final(rulings + more, quorum) for more in product(Ruling, repeat=size - cast)}
            expected = ends.pop() if len(ends) == 1 else None
            assert settled(rulings, size=size, quorum=quorum) is expected, rulings


@pytest.mark.parametrize(("size", "most"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (9, 5)])
def test_a_majority_is_more_than_half(size: int, most: int) -> None:
    assert majority(size) == most
