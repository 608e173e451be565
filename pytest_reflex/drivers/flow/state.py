"""Where a flow stands: a stack of nodes, each at one step of its cycle. Pure, and JSON on the wire.

A node that is entered is measured (the root) or gets stubs (a child), and its boundary is
committed. Then each iteration decides, acts, measures again and commits; behind the last one comes
a closing decision without an act. What a node came to is its result, and its parent goes on by
measuring again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from pytest_reflex.drivers.flow.targets import label_of


class NodeStep(StrEnum):
    """What a node does next."""

    ENTER = "enter"
    COMMIT_ENTRY = "commit-entry"
    DECIDE = "decide"
    ACT = "act"
    CHILD = "child"
    MEASURE = "measure"
    REMEASURE = "re-measure"
    COMMIT = "commit"
    EXHAUST = "exhaust"
    RESULT = "result"
    COMMIT_RESULT = "commit-result"


class NodeStatus(StrEnum):
    """How a node stands, in the seed's words."""

    RUNNING = "running"
    COMPLETE = "complete"
    MAX_ITERATIONS = "max-iterations-reached"
    ERROR = "error"


PENDING, PASS, FAIL = "pending", "pass", "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorReading:
    """What a sensor said last: `state` is pass, fail or pending; `value` in words, maybe empty."""

    state: str
    value: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One node of the stack. `parent` is the label of the iteration that entered it.

    `iteration` is 0 until the node first decides. `first` and `sensors` are the readings at the
    first and at the last measurement; `plan` is the action plan of the last decision and `notes`
    what else the controller said, by heading. `baseline` are the files that differed from the last
    commit when it was measured, with their hashes; `changed` are the paths that the last act
    changed since, `restored` those that it must not have changed; `acts` counts all acts,
    `offences` the steps with some of these, in all entries of the node. `action` says in a line
    what the current iteration did; `spent` is what was spent before the node was entered,
    `used` what it used itself since its last boundary, with the time of its steps as `seconds`.
    """

    path: str
    task: str
    parent: str = ""
    step: NodeStep = NodeStep.ENTER
    iteration: int = 0
    first: Mapping[str, SensorReading] = field(default_factory=dict)
    sensors: Mapping[str, SensorReading] = field(default_factory=dict)
    target_met: bool = False
    plan: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    baseline: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    acts: int = 0
    offences: int = 0
    action: str = ""
    status: NodeStatus = NodeStatus.RUNNING
    error: str = ""
    spent: Mapping[str, Any] = field(default_factory=dict)
    used: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return label_of(self.parent, self.iteration)

    @property
    def id(self) -> str:
        return self.path.rpartition("/")[2]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Frame:
        """Read what `to_json` wrote; raises ValueError for anything else."""
        try:
            names = {one.name for one in fields(cls)}
            given = {key: value for key, value in wire.items() if key in names}
            return cls(
                **{
                    **given,
                    "step": NodeStep(wire["step"]),
                    "status": NodeStatus(wire["status"]),
                    "first": _readings(wire["first"]),
                    "sensors": _readings(wire["sensors"]),
                    "changed": tuple(wire["changed"]),
                    "restored": tuple(wire["restored"]),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no node of a flow: {error}") from None


def _readings(wire: Mapping[str, Any]) -> dict[str, SensorReading]:
    return {name: SensorReading(**reading) for name, reading in wire.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The whole flow: the nodes that are open, the outermost first, and the results of the others.

    `results` are the last ones of the nodes that were left, by path; `tampered` names what was
    changed again although it judges. `carried` are the paths that a hook of git refused to have
    committed so far, and `refusal` what it said: no target is met before they are.
    """

    frames: tuple[Frame, ...]
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tampered: str = ""
    carried: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def top(self) -> Frame:
        return self.frames[-1]

    def with_top(self, **changes: Any) -> Position:
        """Return it with other values of the innermost node."""
        return replace(self, frames=(*self.frames[:-1], replace(self.top, **changes)))

    def enter(self, child: str, spent: Mapping[str, Any]) -> Position:
        """Return it inside a child of the innermost node, whose plan is the child's task."""
        frame = Frame(
            path=f"{self.top.path}/{child}",
            task=self.top.plan,
            parent=self.top.label,
            spent=spent,
            offences=self.results.get(f"{self.top.path}/{child}", {}).get("offences", 0),
        )
        return replace(
            self,
            frames=(*self.with_top(step=NodeStep.MEASURE, acts=self.top.acts + 1).frames, frame),
        )

    def leave(self) -> Position:
        """Return it without the innermost node, whose result its parent has from now on."""
        done = self.top
        result = {
            "status": done.status.value,
            "target_met": done.target_met,
            "iterations": done.acts,
            "error": done.error,
            "offences": done.offences,
        }
        return replace(self, frames=self.frames[:-1], results={**self.results, done.path: result})

    def to_json(self) -> dict[str, Any]:
        frames = [frame.to_json() for frame in self.frames]
        results = {path: dict(one) for path, one in self.results.items()}
        return {
            "frames": frames,
            "results": results,
            "tampered": self.tampered,
            "carried": list(self.carried),
            "refusal": self.refusal,
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Position:
        """Read what `to_json` wrote; raises ValueError for anything else."""
        try:
            frames = tuple(Frame.from_json(one) for one in wire["frames"])
            return cls(
                frames=frames,
                results=dict(wire["results"]),
                tampered=wire["tampered"],
                carried=tuple(wire.get("carried", ())),
                refusal=wire.get("refusal", ""),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no position in a flow: {error}") from None


def all_pass(readings: Mapping[str, SensorReading]) -> bool:
    """Return whether every sensor passes; of no sensors, not all do."""
    return bool(readings) and all(one.state == PASS for one in readings.values())
