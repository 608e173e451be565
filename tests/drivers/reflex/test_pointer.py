"""current.json as a value: what is asked of each run, whichever it names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.contracts.validate import problems
from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.reflex.statefile import Pointer

RUNS = ("words-1", "words-2", "words-3")
requests = st.builds(
    Requests,
    stop=st.none() | st.text(),
    now=st.booleans(),
    feedback=st.dictionaries(st.text(min_size=1), st.text(min_size=1), max_size=3),
)


def named(run_id: str) -> dict[str, str]:
    return {
        "active_run_id": run_id, "task_alias": "words", "status": "running",
        "updated_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip


@pytest.mark.long
@given(st.sampled_from(RUNS), st.dictionaries(st.sampled_from(RUNS), requests))
@settings(deadline=None, max_examples=60)
def test_what_is_written_is_what_is_read(run_id: str, asked: dict[str, Requests]) -> None:
    pointer = Pointer(named=named(run_id))
    for each, wanted in asked.items():
        pointer = pointer.with_requests(each, wanted)
    wire = pointer.to_json()
    assert problems("current", wire) == []
    again = Pointer.from_json(wire)
    assert again.named == pointer.named
    assert all(again.requests_of(each) == pointer.requests_of(each) for each in RUNS)


@given(requests, requests)
@settings(deadline=None, max_examples=40)
def test_asking_again_takes_nothing_back(first: Requests, second: Requests) -> None:
    both = first | second
    assert both.feedback.keys() == first.feedback.keys() | second.feedback.keys()
    assert both.now == (first.now or second.now)
    assert (both.stop is None) == (first.stop is None and second.stop is None)


def test_a_request_follows_its_run_when_another_is_named() -> None:
    pointer = Pointer(named=named("words-1")).with_requests("words-1", Requests(stop="enough"))
    moved = Pointer.from_json({**pointer.to_json()})
    wire = Pointer(named=named("words-2"), asked=moved.asked).to_json()
    assert wire["requests"] == {"words-1": {"stop_requested": "enough"}}
    assert "stop_requested" not in wire
