"""Calls that are under way: durable before they begin, each by its own number, in any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from pytest_reflex.drivers.common.record import CallsUnderWay
from pytest_reflex.model.run import Spend, costs_from_json, format_lost_calls, unknown_cost

HALF = {"calls": 1, "seconds": 2.0, "usd": 0.5, "tokens": 10}
TWICE = {"calls": 2, "seconds": 3.0, "usd": 0.5, "tokens": None, "unknown": {"usd": 1, "tokens": 2}}


@pytest.fixture
def saved() -> list[tuple[Any, ...]]:
    return []


@pytest.fixture
def calls(saved: list[tuple[Any, ...]]) -> CallsUnderWay:
    return CallsUnderWay(saved.append)


def test_a_call_is_saved_before_it_begins_and_again_with_its_price(
    calls: CallsUnderWay, saved: list[tuple[Any, ...]]
) -> None:
    number = calls.begin()
    assert saved == [(unknown_cost(0.0),)]
    calls.end(number, HALF)
    assert saved[1:] == [(HALF,)]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_price_is_that_of_the_call_whichever_ends_first(
    calls: CallsUnderWay, saved: list[tuple[Any, ...]], first: int
) -> None:
    numbers = [calls.begin() for _ in range(3)]
    calls.end(numbers[first], HALF)
    assert sorted(saved[-1], key=str) == sorted([HALF, *[unknown_cost(0.0)] * 2], key=str)
    calls.end(numbers[first - 1], None)
    assert len(saved[-1]) == 2
    left = calls.take()
    assert left is not None
    assert (left["calls"], left["usd"], left["unknown"]["usd"]) == (2, 0.5, 1)


def test_a_free_call_leaves_nothing(calls: CallsUnderWay, saved: list[tuple[Any, ...]]) -> None:
    calls.end(calls.begin(), None)
    calls.add(None)
    assert saved[-1] == ()
    assert calls.take() is None


def test_what_was_taken_is_not_taken_again(calls: CallsUnderWay) -> None:
    late = calls.begin()
    calls.add(TWICE)
    taken = calls.take()
    assert taken is not None
    assert (taken["calls"], taken["unknown"]) == (3, {"usd": 2, "tokens": 3})
    calls.end(late, HALF)
    assert calls.take() is None


def test_calls_in_many_threads_are_all_there(calls: CallsUnderWay) -> None:
    together = Barrier(8)

    def ask(at: int) -> None:
        together.wait(30)
        for _ in range(50):
            number = calls.begin()
            calls.end(number, None if at % 2 else HALF)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    taken = calls.take()
    assert taken is not None
    assert (taken["calls"], taken["usd"]) == (200, 100.0)


@pytest.mark.parametrize(
    ("wire", "calls", "unknown"),
    [
        ([HALF], 1, 0),
        ([TWICE, HALF], 3, 1),
        ([unknown_cost(0.0), HALF], 2, 1),
        (["x", {"calls": "many"}, {}, 3], 4, 4),
        ([{**HALF, "usd": float("nan")}], 1, 1),
        ([{**HALF, "calls": -1}, {**HALF, "seconds": None}], 2, 2),
        ([{**TWICE, "unknown": {"usd": "1"}}, {**TWICE, "unknown": 3}], 2, 2),
        (None, 0, 0),
        ({"calls": 1}, 0, 0),
    ],
)
def test_calls_in_a_file_count_and_one_that_cannot_be_read_is_unknown(
    wire: Any, calls: int, unknown: int
) -> None:
    spend = Spend().with_calls(costs_from_json(wire))
    assert (spend.calls, spend.unknown) == (calls, unknown)


def test_what_is_said_of_them() -> None:
    assert format_lost_calls(()) == ""
    one = "1 agent call was not counted when the run was killed; it counts as paid"
    assert format_lost_calls([unknown_cost(0.0)]) == one
    three = "3 agent calls were not counted when the run was killed; they count as paid"
    assert format_lost_calls([TWICE, HALF]) == three
