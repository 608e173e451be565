"""The state of a run that the frame keeps for a driver: pure, one JSON document.

What every run has is here: limits, spending, feedback, the end. What a driver adds is `data`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.run import Cost, Spend, costs_from_json
from pytest_reflex.model.stop import ENDS, StopReason

RUNNING, INTERRUPTED = "running", "interrupted"
_CALLS = "calls_under_way"
_REQUIRED = ("driver", "run", "started_at", "changed_at", "data", "spend")
MAX_ITERATIONS = 10
WALL_TIME = 8 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One run as it stands. 0 is not a limit; times are UTC.

    `reason` says why it ended, in the words of `StopReason`, empty where it did not; `feedback` is
    what people said since an agent was asked last; `data` is the driver's own, and JSON.
    `calls_under_way` are the prices of calls that `spend` has not yet: a kill leaves them.
    """

    driver: str
    run: str
    started_at: str
    changed_at: str
    data: Mapping[str, Any]
    status: str = RUNNING
    reason: str = ""
    detail: str = ""
    iteration: int = 0
    max_iterations: int = MAX_ITERATIONS
    wall_time: float = WALL_TIME
    budget: Mapping[str, float] = field(default_factory=dict)
    agent: str = ""
    spend: Spend = field(default_factory=Spend)
    feedback: Mapping[str, str] = field(default_factory=dict)
    calls_under_way: tuple[Cost, ...] = ()

    @property
    def paid(self) -> Spend:
        """What was paid where nobody drives the run: calls that were under way count."""
        return self.spend.with_calls(self.calls_under_way)

    @property
    def can_go_on(self) -> bool:
        """Whether a resume continues the run, under other limits where one ended it."""
        return not self.reason or ENDS[StopReason(self.reason)].extendable

    def shown_status(self, driven: bool) -> str:
        """Return the status in a word: that of a run whose process was killed is `interrupted`."""
        return INTERRUPTED if self.status == RUNNING and not driven else self.status

    def ended(self, stop: Stop, at: str) -> Record:
        """Return the state at the end of the run."""
        status = ENDS[stop.reason].status.value
        reason = stop.reason.value
        return replace(self, status=status, reason=reason, detail=stop.detail, changed_at=at)

    def left(self) -> Record:
        """Return the state of a run that is left before its end."""
        return replace(self, status=INTERRUPTED)

    def shown_json(self, driven: bool) -> dict[str, Any]:
        """Return what a status says of it: where nobody drives it, calls under way were paid."""
        shown = self if driven else replace(self, spend=self.paid, calls_under_way=())
        return {**shown.to_json(), "driven": driven}

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: the names of the attributes are its keys."""
        wire = {one.name: getattr(self, one.name) for one in fields(self)}
        wire["spend"] = self.spend.to_json()
        if not wire[_CALLS]:  # so that older versions read it
            del wire[_CALLS]
        return wire


def dump(record: Record) -> bytes:
    """Return the bytes of a state file; raises TypeError where `data` is not JSON."""
    return (json.dumps(record.to_json(), indent=2, default=dict) + "\n").encode()


def load(data: bytes, driver: str, run: str) -> Record:
    """Read what `dump` wrote of this run; raises ValueError for anything else."""
    try:
        wire = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(wire, dict):
        raise ValueError("it holds no JSON object")
    names = {one.name for one in fields(Record)}
    if missing := [name for name in _REQUIRED if name not in wire]:
        raise ValueError(f"it has no {missing[0]!r}")
    if unknown := sorted(set(wire) - names):
        raise ValueError(f"unknown key {one_line(unknown[0], 60)!r}")
    spend, calls = Spend.from_json(wire["spend"]), costs_from_json(wire.get(_CALLS))
    found = Record(**{**wire, "spend": spend, _CALLS: calls})
    if (found.driver, found.run) != (driver, run):
        raise ValueError(f"it is of {found.driver} {found.run}")
    for name, kind in _KINDS.items():
        value = getattr(found, name)
        if isinstance(value, bool) or not isinstance(value, kind):
            raise ValueError(f"{name} is {value!r}")
    if found.reason and found.reason not in set(StopReason):
        raise ValueError(f"reason is {found.reason!r}")
    return found


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("started_at", "changed_at", "status", "reason", "detail", "agent"), str),
    **dict.fromkeys(("iteration", "max_iterations"), int),
    **dict.fromkeys(("data", "budget", "feedback"), dict),
    "wall_time": (int, float),
}
