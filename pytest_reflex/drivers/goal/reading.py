"""What is taken from an agent behind its work: four keys of the state file, and its status block.

The file wins over the block. All that is taken is a claim; a change of any other key is named and
comes to nothing. The key of the Stop hook is left to the hook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_reflex.drivers.goal import statefile
from pytest_reflex.drivers.goal.claims import states_nothing
from pytest_reflex.drivers.goal.model import GoalState
from pytest_reflex.drivers.goal.standing import Claim, Work
from pytest_reflex.errors import StateError
from pytest_reflex.model.plain import one_line

TAKEN = ("criteriaStatus", "exit_signal", "completedSteps", "remainingSteps")
_BEGIN, _END = "---LOOP_STATUS---", "---END_STATUS---"
_KEY = re.compile(r"[A-Z_]{1,40}")
_EVIDENCE = 1_000


def work_of(before: GoalState, data: bytes | None, answer: str) -> Work:
    """Return what an agent says: `data` is the state file as it left it, `answer` its answer."""
    written = statefile.to_json(before)
    wire, problems = _wire(written, data)
    state, unusable = _state(written, wire)
    undone = sorted(
        key
        for key in {*written, *wire}
        if key not in TAKEN and key != statefile.HOOK and wire.get(key) != written.get(key)
    )
    known = {one.text for one in before.criteria}
    more = [text for text in _entries(wire) if text not in known]
    unknown = [f"criteriaStatus of {one_line(text, 60)!r}" for text in more]
    block = _block_of(answer)
    claims = _claims(before, state)
    signal, mismatch = state.exit_signal, list[str]()
    said = {text: met for text, met in block.criteria.items() if text in known}
    silent = all(wire.get(key) == written.get(key) for key in TAKEN)
    if silent:
        now = {one.text: one.met for one in before.criteria}
        claims = {text: Claim(met=met) for text, met in said.items() if met is not now[text]}
        signal = block.exit_signal
    else:
        file = {one.text: one.met for one in state.criteria}
        mismatch = [text for text, met in said.items() if met is not file[text]]
    return Work(
        claims=claims,
        exit_signal=signal,
        completed=state.completed_steps,
        remaining=state.remaining_steps,
        undone=(*problems, *unusable, *undone, *unknown),
        mismatch=tuple(mismatch),
        broken=block.broken,
    )


def _wire(written: Mapping[str, Any], data: bytes | None) -> tuple[Mapping[str, Any], list[str]]:
    """Return the object in a state file; as we wrote it where that cannot be read."""
    if data is None:
        return written, ["the file (it was removed)"]
    try:
        return statefile.read_object(data, statefile.STATE_NAME), []
    except StateError as error:
        return written, [f"the file ({one_line(error.problems[0].message, 100)})"]


def _state(written: Mapping[str, Any], wire: Mapping[str, Any]) -> tuple[GoalState, list[str]]:
    """Return a state with what is taken of a file, and the keys whose values cannot be used."""
    taken, unusable = dict(written), []
    for key in TAKEN:
        if key not in wire:
            continue
        value = wire[key]
        if key == "criteriaStatus" and isinstance(value, dict):
            value = {text: value.get(text, one) for text, one in written[key].items()}
        try:
            statefile.from_json({**written, key: value})
            taken[key] = value
        except StateError:
            unusable.append(f"{key} (it cannot be used)")
    return statefile.from_json(taken), unusable


def _entries(wire: Mapping[str, Any]) -> Mapping[str, Any]:
    found = wire.get("criteriaStatus")
    return found if isinstance(found, dict) else {}


def _claims(before: GoalState, now: GoalState) -> dict[str, Claim]:
    """Return the criteria of which a file says something else than before."""
    known = {one.text: one for one in before.criteria}
    return {
        one.text: Claim(
            met=one.met,
            kind=one.verification.value if one.verification else "",
            evidence=one.evidence[:_EVIDENCE],
        )
        for one in now.criteria
        if one.met is not known[one.text].met
        or (one.met and replace(one, plan=known[one.text].plan) != known[one.text])
    }


class _Block:
    """A status block; what cannot be read of it says nothing."""

    def __init__(self, rows: Mapping[str, str], broken: tuple[str, ...]) -> None:
        self.exit_signal = rows.get("EXIT_SIGNAL", "").lower() == "true"
        self.broken = broken
        try:
            found = json.loads(rows.get("CRITERIA", "{}"))
        except ValueError:
            found = {}
        entries = found.items() if isinstance(found, dict) else ()
        self.criteria = {text: met for text, met in entries if isinstance(met, bool)}


def _block_of(answer: str) -> _Block:
    """Return the last status block of an answer, an empty one where there is none."""
    before, end, _ = answer.rpartition(_END)
    _, begin, text = before.rpartition(_BEGIN)
    rows = []
    for line in text.split("\n") if begin and end else ():
        key, _, value = line.partition(":")
        if _KEY.fullmatch(key.strip()):
            rows.append((key.strip(), value.strip()))
    reported = (value for key, value in rows if key == "MUST_NOT" and value)
    broken = tuple(value for value in reported if not states_nothing(value))
    return _Block(dict(rows), broken)
