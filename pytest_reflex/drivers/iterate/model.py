"""What an iteration loop is made of and what it remembers (seed 004), as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_reflex.model.run import Spend

MAX_UNCHANGED = 10
WALL_TIME = 8 * 3600


class Phase(StrEnum):
    """The four parts of a prompt, in their order."""

    OBSERVE = "observe"
    ORIENT = "orient"
    DECIDE = "decide"
    ACT = "act"


class Status(StrEnum):
    """Where a loop stands; `paused` is read as interrupted and never written."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    ABORTED = "aborted"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A piece of a prompt: its own `content`, or the `path` of a file that holds it.

    `parameters` are put in for `{name}` where there are some; without, braces are only text.
    `origin` says where it was declared, for messages.
    """

    content: str | None = None
    path: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What has to hold after a round: a command, the gate of a criteria file, or a small diff.

    One of `command` (text for a shell, or an argv: exit status 0 holds) and `criteria` (a name or a
    path, judged over the `artifacts` by their patterns, at `phase` and with `threshold` where
    given), or limits to what a round changes: `max_files`, `max_lines`, and no file that a pattern
    in `deny` means. What `protect` patterns find may not change during the run. A failed
    gate that is `required` makes the round a failed one. `timeout` is in seconds.
    """

    name: str
    command: str | tuple[str, ...] | None = None
    criteria: str = ""
    artifacts: tuple[str, ...] = ()
    phase: str = ""
    threshold: str = ""
    timeout: float = 600.0
    required: bool = True
    protect: tuple[str, ...] = ()
    max_files: int | None = None
    max_lines: int | None = None
    deny: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        if self.command is not None:
            return "command"
        return "criteria" if self.criteria else "diff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A named prompt in four phases, and what it says of its own loop (None, "": nothing).

    `success` says that its prompt offers ``<promise>SUCCESS</promise>`` as a way to end the loop.
    `gates` are names of the configured ones, in the order in which they run. `origin` is
    "built-in" or the file that has it.
    """

    name: str
    description: str
    phases: Mapping[Phase, tuple[Fragment, ...]]
    max_iterations: int | None = None
    failure_threshold: int | None = None
    agent: str = ""
    gates: tuple[str, ...] | None = None
    success: bool = False
    origin: str = "built-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What ends a loop from outside; 0 is "no such bound".

    `max_iterations` rounds, `failure_threshold` failed rounds in a row (at least 1), `wall_time`
    seconds of one sitting, `unchanged` rounds in a row that left the tree as it was; they are
    always told, and end the loop where `stop_unchanged`. `budget` may have usd, tokens, calls and
    seconds of the tool's work.
    """

    max_iterations: int = 5
    failure_threshold: int = 3
    wall_time: float = 0.0
    unchanged: int = 0
    stop_unchanged: bool = False
    budget: Mapping[str, float] = field(default_factory=dict)


class Cause(StrEnum):
    """Why a round failed; the first that applies, in this order."""

    TIMED_OUT = "timed out"
    SPAWN_ERROR = "could not be started"
    EXIT = "exit"
    LIMIT_NOTICE = "ran into a limit"
    EMPTY = "empty answer"
    UNUSABLE = "unusable answer"
    PROMISED_FAILURE = "said FAILURE"
    GATE = "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a gate came to: `outcome` is pass, fail or error (could not be judged: not a pass).

    `output` is the end of what a command wrote, or what criteria found: foreign text.
    `left_children` says that processes of a command outlived it, and were killed. `cost` is that of
    an LLM judge, in the form of `model.run.cost_of`.
    """

    gate: Gate
    outcome: str
    summary: str
    seconds: float
    output: str = ""
    left_children: bool = False
    cost: Mapping[str, Any] | None = None

    @property
    def passed(self) -> bool:
        return self.outcome == "pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One finished round. `number` counts from 1; `cause` is None where it succeeded.

    `promised_success` is True only where the procedure offers the signal, the tool gave it, and
    no required gate failed. `changed` says whether the tree is another than before (None: nobody
    could tell). `usd` and `tokens` are None where they are not known. `output` is the last that a
    tool which failed has written: foreign text. `limited` says that it ran into a limit, also where
    the cause is its exit status. `cost` is what the tool's call and an LLM judge of its
    gates cost, in the form of `model.run.cost_of`.
    """

    number: int
    seconds: float
    cause: Cause | None = None
    detail: str = ""
    promised_success: bool = False
    gates: tuple[GateResult, ...] = ()
    changed: bool | None = None
    usd: float | None = None
    tokens: int | None = None
    output: str = ""
    limited: bool = False
    cost: Mapping[str, Any] | None = None

    @property
    def failed(self) -> bool:
        return self.cause is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An iteration that a person had ended, or whose tool was not allowed to do its work.

    It does not count, but its call has a `cost`.
    """

    cost: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the state file of seed 004 holds: `iteration` rounds are done.

    Times are UTC, "2026-02-06T10:00:00Z"; `elapsed` are seconds of each finished round. `outcome`
    (added by us) says how a completed loop ended: success or limit. `options` (added by us too)
    are those of the command line that a resume takes over; `modified_files` (added by us too) are
    those of gates that were left modified, as `protection` has them; `gates_at_start` (added by us,
    while a run lasts) is what gates relied on, in the wire form of `gate_start`; `spend` (added by
    us) is what the tool cost so far, `feedback` (added by us) what a person said that no iteration
    has been given yet, by its id; `others` are keys of other programs.
    """

    procedure_name: str
    max_iterations: int
    failure_threshold: int
    started_at: str
    iteration: int = 0
    consecutive_failures: int = 0
    last_iteration_at: str | None = None
    status: Status = Status.RUNNING
    elapsed: tuple[float, ...] = ()
    outcome: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    modified_files: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    gates_at_start: Mapping[str, Any] = field(default_factory=dict)
    spend: Spend = field(default_factory=Spend)
    feedback: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)
