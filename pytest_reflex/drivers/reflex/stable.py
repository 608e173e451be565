"""A history without the clock, the machine and the order of what runs side by side.

Two replays of one recording have equal ones, in whatever folder and at whatever time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_reflex.agents.comparable import comparable
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.stop import BY_EVALUATION

_CLOCK = frozenset(("ts", "duration"))
_OF_THE_MACHINE = ("sealed", "project", "project_changes")
_PAIR = (Step.PRODUCE, Step.PREPARE)


def stable_events(events: Iterable[Event], project: Path) -> list[dict[str, Any]]:
    """Return events on the wire, as they are in every run that went the same way.

    Left out are times (`ts`, `duration`, when it was confirmed) and the files of this machine
    (`sealed`, `project`), and that a step was interrupted; the run's id and the folder of the
    `project` are words; PRODUCE stands before the PREPARE that ran beside it, and `seq` follows.
    The price of a call stays: it is the agent's, also in a replay.
    """
    folders = (str(project), str(project.resolve()))
    ordered: list[Event] = []
    steps = (event for event in events if not event.was_interrupted)
    for beside, group in groupby(steps, key=lambda event: event.step in _PAIR):
        run = list(group)
        ordered += sorted(run, key=lambda e: _PAIR.index(e.step)) if beside else _by_rule(run)
    found = []
    for seq, event in enumerate(ordered, 1):
        wire = _without_clock(event.to_json(), event.run_id, folders)
        for of_the_machine in _OF_THE_MACHINE:
            wire["payload"].pop(of_the_machine, None)
        wire["payload"].get("setup", {}).get("confirmation", {}).pop("at", None)
        _as_today(event, wire)
        found.append({**wire, "seq": seq})
    return found


def _as_today(event: Event, wire: dict[str, Any]) -> None:
    """Say what an earlier version said elsewhere: score and verdict, and the step of an end."""
    if event.kind is EventKind.EVALUATION_DONE:
        judged = wire["payload"]["evaluation"]
        wire["payload"] |= {"score": judged["score"], "passed": judged["passed"]}
    elif event.payload.get("reason") in BY_EVALUATION and event.kind is EventKind.STOPPED:
        wire["step"] = Step.EVALUATE.value


def _by_rule(events: Iterable[Event]) -> Iterator[Event]:
    """Yield events, with votes that came side by side in the order of their rules."""
    for is_vote, group in groupby(events, key=lambda event: event.kind is EventKind.VOTE_CAST):
        run = list(group)
        yield from sorted(run, key=_place) if is_vote else run


def _place(vote: Event) -> tuple[str, int]:
    return vote.payload["rule_id"], vote.payload["number"]


def _without_clock(value: Any, run_id: str, folders: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return comparable(value, run_ids=(run_id,), folders=folders)
    if isinstance(value, dict):
        return {k: _without_clock(v, run_id, folders) for k, v in value.items() if k not in _CLOCK}
    if isinstance(value, list | tuple):
        return [_without_clock(inner, run_id, folders) for inner in value]
    return value
