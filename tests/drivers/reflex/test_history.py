"""A history that this version cannot use is named by file and event, without a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.reflex.history import read_events, text_after
from pytest_reflex.errors import StateError
from pytest_reflex.model.events import Event
from tests.drivers.reflex.stage import Script, Stage

PATH = Path("words/history.jsonl")
SEED = {
    "ts": "2026-02-18T12:01:10Z", "run_id": "x-20260218-120000", "iteration": 1, "phase": "A",
    "step": "PLAN", "event": "run_started", "status": "ok", "payload": {}, "seq": 1,
}  # fmt: skip
UNUSABLE: dict[str, tuple[list[Any], str]] = {
    "nothing": ([], "history.jsonl is empty"),
    "an object without keys": ([{}], "event 1 cannot be used: KeyError: 'event'"),
    "a start without its setup": ([SEED], "which has its task and its rules, is missing or broken"),
    "a payload of another type": ([{**SEED, "payload": []}], "event 1 cannot be used"),
    "an event nobody knows": ([{**SEED, "event": "dreamt"}], "'dreamt' is not a valid EventKind"),
    "a phase nobody knows": ([{**SEED, "phase": "Z"}], "'Z' is not a valid Level"),
    "a start that is missing": ([{**SEED, "event": "plan_created"}], "starts with plan_created"),
    "a newer version": ([{**SEED, "payload": {"schema_version": 2}}], "schema 2, this one reads 1"),
}


@pytest.mark.parametrize(("records", "message"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_cannot_be_used_is_named(records: list[Any], message: str) -> None:
    with pytest.raises(StateError) as raised:
        read_events(PATH, records)
    assert message in str(raised.value)
    assert str(PATH) in str(raised.value)


def test_any_key_that_is_lost_from_a_real_history_is_named(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.play(Script(produce="x\n", refine="alpha beta gamma\n"))
    lines = (stage.root / "words/history.jsonl").read_bytes().splitlines()
    records = [json.loads(line) for line in lines]
    for number, record in enumerate(records):
        for key in ("event", "phase", "step", "payload", "iteration", "ts"):
            less = {name: value for name, value in record.items() if name != key}
            with pytest.raises(StateError, match=rf"event {number + 1} cannot be used"):
                read_events(PATH, [*records[:number], less])


def test_w9_an_artifact_that_is_not_the_recorded_one_is_never_given_out(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    events = stage.play(Script(produce="x\n", refine="alpha beta gamma\n"))
    wires = [event.to_json() for event in events]
    assert text_after(map(Event.from_json, wires)) == stage.artifact()
    made = next(wire for wire in wires if wire["event"] == "artifact_created")
    made["payload"]["delta"] = [["+", "y\n"]]
    with pytest.raises(StateError, match=f"history event {made['seq']}: its delta does not give"):
        text_after(map(Event.from_json, wires))
