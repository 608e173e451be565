"""The state of a Reflex loop: what run.json says, as a frozen value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.steps import Reply
from pytest_reflex.model.stop import BY_EVALUATION, RunStatus, StopReason, is_extendable

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What bounds a loop; recorded in run_started, so that a resume keeps to it.

    `budget` may have seconds, usd, tokens, calls. `no_major_issues` is "B" or "never",
    `produce` "always" or "first". 0 switches `blocker_stagnation` off. `wall_time` is how many
    seconds one sitting may take, 0 for no cap.
    """

    max_iterations: int = 4
    no_major_issues: str = "B"
    produce: str = "always"
    blocker_stagnation: int = 3
    oscillation: bool = True
    budget: Mapping[str, float] = field(default_factory=dict)
    wall_time: int = 8 * 3600

    def to_json(self) -> dict[str, Any]:
        return {
            "max_iterations": self.max_iterations,
            "no_major_issues": self.no_major_issues,
            "produce": self.produce,
            "blocker_stagnation": self.blocker_stagnation,
            "oscillation": self.oscillation,
            "budget": dict(self.budget),
            "wall_time": self.wall_time,
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Limits:
        return cls(**wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What agents cost so far: `usd` and `tokens` hold what is known.

    `unknown` counts the calls whose price no tool reported, `unknown_tokens` those without tokens.
    """

    calls: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    tokens: int = 0
    unknown: int = 0
    unknown_tokens: int = 0

    def plus(self, cost: Mapping[str, Any] | None) -> Spend:
        """Add the price of an answer; what the tool did not report stays unknown.

        `cost["unknown"]` counts calls without price and tokens, where an answer took several.
        """
        if not cost:
            return self
        calls, unknown = cost["calls"], cost.get("unknown", {})
        return Spend(
            calls=self.calls + calls,
            seconds=self.seconds + cost["seconds"],
            usd=self.usd + (cost["usd"] or 0),
            tokens=self.tokens + (cost["tokens"] or 0),
            unknown=self.unknown + unknown.get("usd", calls if cost["usd"] is None else 0),
            unknown_tokens=self.unknown_tokens
            + unknown.get("tokens", calls if cost["tokens"] is None else 0),
        )

    def with_calls(self, costs: Iterable[Mapping[str, Any] | None]) -> Spend:
        """Add the prices of some calls."""
        spend = self
        for cost in costs:
            spend = spend.plus(cost)
        return spend

    def to_json(self) -> dict[str, Any]:
        """Return the wire form; null where nothing is known."""
        return {
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
            "usd": None if 0 < self.calls == self.unknown else round(self.usd, 6),
            "tokens": None if 0 < self.calls == self.unknown_tokens else self.tokens,
            "unknown_cost_calls": self.unknown,
            "unknown_token_calls": self.unknown_tokens,
        }

    @classmethod
    def from_json(cls, wire: Any) -> Spend:
        """Read what `to_json` wrote; raises ValueError for anything else."""
        if not isinstance(wire, Mapping):
            raise ValueError(f"spend is {wire!r}, not an object")

        def amount(key: str) -> Any:
            value = wire.get(key) or 0
            kinds = (int, float) if key in ("seconds", "usd") else int
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < 1e15:
                raise ValueError(f"spend.{key} is {value!r}, which is not an amount")
            return value

        return cls(
            calls=amount("calls"),
            seconds=amount("seconds"),
            usd=amount("usd"),
            tokens=amount("tokens"),
            unknown=amount("unknown_cost_calls"),
            unknown_tokens=amount("unknown_token_calls"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationMark:
    """What is remembered of one evaluation.

    `failing` are the ids of all rules that did not pass, `blockers` those of severity fail,
    `not_asked` those about which no judge was asked, and `not_applicable` those that do not count.
    """

    iteration: int
    level: Level
    score: Fraction
    passed: bool
    blockers: tuple[str, ...]
    failing: tuple[str, ...]
    sha256: str
    not_asked: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRecord:
    """How a loop ended; `passed` is that of the evaluation that stands.

    `offered` are new modules by an agent, for which alone it is that a loop ended as tampered.
    """

    passed: bool = False
    reason: StopReason | None = None
    detail: str = ""
    restored_from: Mapping[str, Any] | None = None
    offered: tuple[str, ...] = ()

    @property
    def can_be_extended(self) -> bool:
        """Whether a person can let the run go on: under other limits, or with what is offered."""
        return is_extendable(self.reason) or bool(self.offered)

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "passed": self.passed,
            "reason": self.reason.value if self.reason else "",
        }
        if self.detail:
            wire["detail"] = self.detail
        if self.restored_from:
            wire["restored_from"] = dict(self.restored_from)
        if self.offered:
            wire["offered"] = list(self.offered)
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands: always `fold` of its history.

    The six booleans say which steps of the current iteration are durable. `marks` remember past
    evaluations; `errors` holds, per step, the messages of its failed tries since it last succeeded;
    `draft` is the text of `--input`; `proofs` say of the last evaluation whether the checks that an
    agent made can fail. Of a person's critiques `feedback` waits for the next CRITIQUE and
    `used_feedback` was given to the last one. `votes` are of an evaluation that did not come to
    its end yet. `settled` counts the marks before the run was extended.
    """

    run_id: str
    alias: str
    task: str
    ideal_result: str
    criteria: Criteria
    limits: Limits
    level: Level
    seal: str
    created_at: str
    updated_at: str
    status: RunStatus = RunStatus.RUNNING
    iteration: int = 1
    plan: tuple[str, ...] = ()
    checks: tuple[Mapping[str, Any], ...] | None = None
    evaluation: Evaluation | None = None
    proofs: tuple[Mapping[str, Any], ...] = ()
    votes: tuple[CastVote, ...] = ()
    issues: tuple[Mapping[str, str], ...] | None = None
    artifact_sha256: str = EMPTY_SHA256
    planned: bool = False
    produced: bool = False
    prepared: bool = False
    evaluated: bool = False
    critiqued: bool = False
    refined: bool = False
    feedback: tuple[str, ...] = ()
    used_feedback: tuple[str, ...] = ()
    marks: tuple[EvaluationMark, ...] = ()
    settled: int = 0
    stagnation_count: int = 0
    errors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    draft: str | None = None
    changed: Mapping[str, Any] = field(default_factory=dict)
    setup: Mapping[str, Any] = field(default_factory=dict)
    spend: Spend = Spend()
    stop: StopRecord = StopRecord()
    last_seq: int = 0

    @property
    def step(self) -> Step:
        """The step that is due (wire key `current_step`), or the evaluation that ended the run."""
        if not self.planned:
            return Step.PLAN
        if not self.produced:
            return Step.PRODUCE if self.prepared else Step.PRODUCE_PREPARE
        if not self.prepared:
            return Step.PREPARE
        if not self.evaluated or (self.stop.reason in BY_EVALUATION and not self.critiqued):
            return Step.EVALUATE
        return Step.REFINE if self.critiqued else Step.CRITIQUE

    @property
    def recent(self) -> tuple[EvaluationMark, ...]:
        """The evaluations that count for progress: those since the run was last extended."""
        return self.marks[self.settled :]

    @property
    def artifact_status(self) -> str:
        """not_created | unevaluated | stale | evaluated; only `evaluated` may show a score."""
        if self.artifact_sha256 == EMPTY_SHA256:
            return "not_created"
        if self.evaluation and self.evaluation.artifact_sha256 == self.artifact_sha256:
            return "evaluated"
        return "stale" if self.changed.get("by") == "hand" else "unevaluated"


Cost = Mapping[str, Any]
_AMOUNTS = ("usd", "tokens")


def cost_of(reply: Reply) -> dict[str, Any] | None:
    """Return the price of an answer on the wire; an agent that is free has none.

    Tries that a rate limit refused are calls too, and the time waited for it is time.
    """
    if reply.details.get("free"):
        return None
    refused = reply.details.get("refused", ())
    last = {"seconds": reply.seconds, "usd": reply.usd, "tokens": reply.tokens}
    tries = [*refused, last]
    cost: dict[str, Any] = {
        "calls": len(tries),
        "seconds": round(sum(one["seconds"] + one.get("waited", 0) for one in tries), 6),
        "usd": _sum_known(tries, "usd"),
        "tokens": _sum_known(tries, "tokens"),
    }
    if refused:
        cost["unknown"] = {key: sum(one[key] is None for one in tries) for key in _AMOUNTS}
    return cost


def unknown_cost(seconds: float) -> dict[str, Any]:
    """Return the price of a call that was interrupted: it was paid, and the price is unknown."""
    return {"calls": 1, "seconds": round(seconds, 6), "usd": None, "tokens": None}


def costs_from_json(wire: Any) -> tuple[dict[str, Any], ...]:
    """Return the calls that a state file has as under way; one that cannot be read is unknown."""
    if not isinstance(wire, list):
        return ()
    return tuple(one if _is_cost(one) else unknown_cost(0.0) for one in wire)


def format_lost_calls(calls: Iterable[Mapping[str, Any]]) -> str:
    """Return what a resume says of calls that a kill left, empty where there are none."""
    lost = sum(cost["calls"] for cost in calls)
    if not lost:
        return ""
    if lost == 1:
        return "1 agent call was not counted when the run was killed; it counts as paid"
    return f"{lost} agent calls were not counted when the run was killed; they count as paid"


def _is_cost(wire: Any) -> bool:
    try:
        Spend.from_json({key: wire[key] for key in ("calls", "seconds", *_AMOUNTS)})
        unknown = wire.get("unknown", {})
        Spend.from_json({"calls": unknown.get("usd", 0), "tokens": unknown.get("tokens", 0)})
    except (ValueError, TypeError, KeyError, AttributeError):
        return False
    amounts = (wire["calls"], wire["seconds"], *unknown.values())
    return None not in amounts


def total_cost(costs: Iterable[Cost | None]) -> dict[str, Any] | None:
    """Return what some answers cost together; None where all were free."""
    paid = [cost for cost in costs if cost]
    if not paid:
        return None
    return {
        "calls": sum(cost["calls"] for cost in paid),
        "seconds": round(sum(cost["seconds"] for cost in paid), 6),
        "usd": _sum_known(paid, "usd"),
        "tokens": _sum_known(paid, "tokens"),
        "unknown": {key: sum(_unknown(cost, key) for cost in paid) for key in _AMOUNTS},
    }


def _unknown(cost: Cost, key: str) -> int:
    """Return how many calls of a cost did not report an amount."""
    counts: Mapping[str, int] = cost.get("unknown", {})
    return counts.get(key, cost["calls"] if cost[key] is None else 0)


def _sum_known(costs: Sequence[Cost], key: str) -> Any:
    """Return the sum of what is known, None where nothing is."""
    found = [one[key] for one in costs if one[key] is not None]
    return sum(found) if found else None
