"""The state file of seed 004, read and written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.state import dump, load, seconds_of

SEED: dict[str, Any] = {
    "iteration": 3,
    "max_iterations": 10,
    "consecutive_failures": 0,
    "failure_threshold": 3,
    "started_at": "2026-02-06T10:00:00Z",
    "last_iteration_at": "2026-02-06T10:05:32Z",
    "status": "interrupted",
    "procedure_name": "build",
    "elapsed_per_iteration": ["45.2s", "38.7s", "52.1s"],
}


def wire(**changes: Any) -> bytes:
    return json.dumps(SEED | changes).encode()


def test_the_seeds_file_is_written_as_it_was_read() -> None:
    state = load(wire(), "build")
    assert state.elapsed == (45.2, 38.7, 52.1)
    assert json.loads(dump(state)) == SEED
    assert list(json.loads(dump(state))) == list(SEED)


def test_keys_of_other_programs_are_kept() -> None:
    state = load(wire(host="a", nested={"b": [1]}), "build")
    assert json.loads(dump(state)) == SEED | {"host": "a", "nested": {"b": [1]}}


def test_paused_is_read_as_interrupted() -> None:
    assert load(wire(status="paused"), "build").status is Status.INTERRUPTED


def test_a_byte_order_mark_is_no_damage() -> None:
    assert load(b"\xef\xbb\xbf" + wire(), "build").iteration == 3


@pytest.mark.parametrize("never", [None, "0001-01-01T00:00:00Z"])
def test_no_iteration_has_ended_yet(never: str | None) -> None:
    assert load(wire(last_iteration_at=never), "build").last_iteration_at is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("45.2s", 45.2), ("1m2.5s", 62.5), ("1h0m0s", 3600.0), ("350ms", 0.35), ("12µs", 12e-6)],
)
def test_durations_of_go_are_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)
    assert load(wire(elapsed_per_iteration=[text]), "build").elapsed[0] == pytest.approx(seconds)


def test_durations_in_nanoseconds_are_read() -> None:
    assert load(wire(elapsed_per_iteration=[45_200_000_000]), "build").elapsed == (45.2,)
    assert load(wire(elapsed_per_iteration=None), "build").elapsed == ()


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"iteration": -1}, "iteration"),
        ({"iteration": True}, "iteration"),
        ({"iteration": 10**400}, "iteration"),
        ({"max_iterations": "10"}, "max_iterations"),
        ({"consecutive_failures": 1.5}, "consecutive_failures"),
        ({"failure_threshold": 0}, "failure_threshold"),
        ({"started_at": "yesterday"}, "started_at"),
        ({"started_at": "2026-02-06T10:00:00"}, "started_at"),
        ({"last_iteration_at": 5}, "last_iteration_at"),
        ({"status": "done"}, "status"),
        ({"status": []}, "status"),
        ({"procedure_name": "plan"}, "'plan'"),
        ({"procedure_name": None}, "procedure_name"),
        ({"elapsed_per_iteration": "45s"}, "elapsed_per_iteration"),
        ({"elapsed_per_iteration": ["soon"]}, "'soon'"),
        ({"elapsed_per_iteration": [True]}, "True"),
        ({"elapsed_per_iteration": [10**400]}, "no iteration takes"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_b075_what_is_no_value_is_never_taken_for_one(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        load(wire(**changes), "build")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a": 1, "a": 2}', b'{"iteration": NaN}']
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        load(data, "build")


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        load(data, "build")


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(
    st.builds(
        State,
        procedure_name=st.just("build"),
        max_iterations=st.integers(0, 99),
        failure_threshold=st.integers(1, 9),
        started_at=st.just("2026-02-06T10:00:00Z"),
        iteration=st.integers(0, 99),
        consecutive_failures=st.integers(0, 9),
        status=st.sampled_from([s for s in Status if s is not Status.PAUSED]),
        elapsed=st.lists(st.integers(0, 99_999).map(lambda n: n / 10)).map(tuple),
        outcome=st.sampled_from(["", "success", "limit"]),
        options=st.dictionaries(st.text(), st.text()),
    )
)
def test_a_state_comes_back_as_it_was(state: State) -> None:
    assert load(dump(state), "build") == state
