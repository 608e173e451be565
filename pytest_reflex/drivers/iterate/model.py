"""What an iteration loop is made of and what it remembers (seed 004), as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_reflex.model.run import Cost, Spend

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
class IterationGate:
    """What has to hold after an iteration: a command, the gate of a criteria file, or a small diff.

    One of `command` (text for a shell, or an argv: exit status 0 holds) and `criteria` (a name or a
    path, judged over the `artifacts` by their patterns, at `phase` and with `threshold` where
    given), or limits to what an iteration changes: `max_files`, `max_lines`, and no file that a
    pattern in `deny` means. What `protect` patterns find may not change during the run. A failed
    gate that is `required` makes the iteration a failed one, but for one with `progress` that has
    fewer failures than before; `failures` is a pattern by which they are counted in the output of a
    command. `timeout` is in seconds.
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
    progress: bool = False
    failures: str = ""

    @property
    def kind(self) -> str:
        if self.command is not None:
            return "command"
        return "criteria" if self.criteria else "diff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A named prompt in four phases, and what it says of its own loop (None, "": nothing).

    `success` says that its prompt offers ``<promise>SUCCESS</promise>`` as a way to end the loop,
    `failure` that it offers ``<promise>FAILURE</promise>`` for what a person has to decide, which
    stops the run. `gates` are names of the configured ones, in the order in which they run;
    `progress` is that of its gates which do not say it themselves. `origin` is "built-in" or the
    file that has it.
    """

    name: str
    description: str
    phases: Mapping[Phase, tuple[Fragment, ...]]
    max_iterations: int | None = None
    failure_threshold: int | None = None
    agent: str = ""
    gates: tuple[str, ...] | None = None
    success: bool = False
    failure: bool = False
    progress: bool = False
    origin: str = "built-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What ends a loop from outside; 0 is "no such bound".

    `max_iterations` iterations, `failure_threshold` failed iterations in a row (at least 1),
    `wall_time` seconds of one sitting, `unchanged` iterations in a row that left the tree as it
    was; they are always reported, and end the loop where `stop_unchanged`. `budget` may have usd,
    tokens, calls and seconds of the tool's work.
    """

    max_iterations: int = 5
    failure_threshold: int = 3
    wall_time: float = 0.0
    unchanged: int = 0
    stop_unchanged: bool = False
    budget: Mapping[str, float] = field(default_factory=dict)


class FailureCause(StrEnum):
    """Why an iteration failed; the first that applies, in this order.

    One that ran into a limit has not failed: it does not count, and is run again.
    """

    LIMIT_NOTICE = "ran into a limit"
    TIMED_OUT = "timed out"
    SPAWN_ERROR = "could not be started"
    EXIT = "exit"
    EMPTY = "empty answer"
    UNUSABLE = "unusable answer"
    PROMISED_FAILURE = "said FAILURE"
    GATE = "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What a gate came to: `outcome` is pass, fail or error (could not be evaluated: not a pass).

    `output` is the end of what a command wrote, or what criteria found: foreign text.
    `left_children` says that processes of a command outlived it, and were killed. `cost` is that of
    an LLM judge, in the form of `model.run.cost_of`. `failures` are how failures were counted and
    how many there are, None where that has no meaning: the gate was not judged, or its files were
    modified. `limit` is the notice of a rate limit that kept its judge from a verdict.
    """

    gate: IterationGate
    outcome: str
    summary: str
    seconds: float
    output: str = ""
    left_children: bool = False
    cost: Mapping[str, Any] | None = None
    failures: tuple[str, int] | None = None
    limit: str = ""

    @property
    def passed(self) -> bool:
        return self.outcome == "pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """One finished iteration. `number` counts from 1; `cause` is None where it succeeded.

    `seconds` are those of the tool; gates have their own. `promised_success` is True only where the
    procedure offers the signal, the tool gave it, and no required gate failed; `needs_person` where
    it gave the other one, and the procedure has that stop the run. `failing` are the required gates
    that failed; where there are some and no `cause`, `progress` says what became better. `known`
    are the fewest failures of gates that were counted so far. `changed` says whether the tree is
    another than before (None: unknown), `files` which files are (None: likewise). `usd`
    and `tokens` are None where they are not known. `output` is the last that a tool which failed
    has written, `answer` the end of what the tool said: foreign text. `cost` is what the tool's
    call and an LLM judge of its gates cost, in the form of `model.run.cost_of`.
    """

    number: int
    seconds: float
    cause: FailureCause | None = None
    detail: str = ""
    promised_success: bool = False
    needs_person: bool = False
    gates: tuple[GateResult, ...] = ()
    failing: tuple[str, ...] = ()
    progress: str = ""
    known: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    changed: bool | None = None
    files: tuple[str, ...] | None = None
    usd: float | None = None
    tokens: int | None = None
    output: str = ""
    answer: str = ""
    cost: Mapping[str, Any] | None = None

    @property
    def failed(self) -> bool:
        return self.cause is not None

    @property
    def outcome(self) -> str:
        """What it came to in a word: success, failure, or progress where gates fail still."""
        if self.failed:
            return "failure"
        return "progress" if self.failing else "success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What gates came to before the first iteration, for those that compare their failures.

    `known` and `last` are those of a State; `cost` is that of an LLM judge.
    """

    known: Mapping[str, Mapping[str, int]]
    last: Mapping[str, Any]
    cost: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CutIteration:
    """An iteration that came to no end and does not count, but its call has a `cost`.

    A person had it ended; or its tool was not allowed to do its work; or a limit of the tool was in
    the way, and stayed: `limit` is its notice.
    """

    cost: Mapping[str, Any] | None = None
    limit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the state file of seed 004 holds: `iteration` iterations are done.

    Times are UTC, "2026-02-06T10:00:00Z"; `elapsed` are seconds of each finished iteration.
    `outcome` (added by us) says how a completed loop ended: success or limit. `options` (added by
    us too) are those of the command line that a resume takes over; `modified_files` (added by us
    too) are those of gates that were left modified, as `protection` has them; `gates_at_start`
    (added by us, while a run lasts) is what gates relied on, in the wire form of `progress`;
    `spend` (added by us) is what the tool cost so far, `feedback` (added by us) what a person said
    that no iteration has been given yet, by its id; `others` are keys of other programs. Added by
    us are also `log_name`, that of the log where the start does not name it, `last`, what the last
    iteration said, in the wire form of `progress`, `failing` gates of it that are required,
    `known_failures`, the fewest of each gate so far, and `calls`, the prices of those that `spend`
    has not yet: a process that is killed leaves them.
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
    log_name: str = ""
    last: Mapping[str, Any] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    known_failures: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    calls: tuple[Cost, ...] = ()
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paid(self) -> Spend:
        """What was paid where no process drives the run: calls that were under way count."""
        return self.spend.with_calls(self.calls)

    @property
    def run(self) -> str:
        """What distinguishes this run from others of its procedure, and names its log."""
        return self.log_name or self.started_at
