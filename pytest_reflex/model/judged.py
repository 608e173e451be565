"""What an LLM judge is asked and says: a case, a vote, the ballot that votes make together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from threading import Event
from typing import Any, Protocol

"""The type of a check that an agent judges."""
NAMING = "name one with --judge, in pytest with --reflex-judge, or as `judge` in pytest-reflex.toml"
"""How to name an LLM judge."""


class JudgeWhen(StrEnum):
    """When an LLM judge is asked: only where no free check blocks the gate already, or always."""

    NO_BLOCKERS = "no_blockers"
    ALWAYS = "always"


class Ruling(StrEnum):
    """What a vote says; `void` is a vote without a usable answer."""

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that a judge may know: the rule, and the texts of the artifact by name.

    It holds nothing that another agent said. `number` is that of the vote, from 1, of `votes` at
    most. `environment` is added to what a tool gets; a set `cancel` ends it. `asked` is called
    before each call of an agent that may have to be paid.
    """

    rule_id: str
    description: str
    rubric: str
    texts: Mapping[str, str]
    number: int = 1
    votes: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    cancel: Event = field(default_factory=Event, compare=False, repr=False)
    asked: Callable[[], object] = field(default=lambda: None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One vote with its reasons, by whom, and its price as events have it (None: free).

    `error` says why a vote is void, `limited` that a rate limit was in the way; `cached` that it
    was given before, to the same question.
    """

    ruling: Ruling
    agent: str
    reasons: tuple[str, ...] = ()
    error: str = ""
    limited: bool = False
    cached: bool = False
    cost: Mapping[str, Any] | None = None

    def again(self) -> Vote:
        """Return the vote as it counts where its question comes up once more: it is free."""
        return replace(self, cached=True, cost=None)

    @property
    def reason_text(self) -> str:
        """Why it says what it says, in one text."""
        return self.error or "; ".join(self.reasons)

    def to_json(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "verdict": self.ruling.value,
            "agent": self.agent,
            "reasons": list(self.reasons),
            "cost": self.cost and dict(self.cost),
        }
        if self.error:
            wire["error"] = self.error
        if self.limited:
            wire["limited"] = True
        if self.cached:
            wire["cached"] = True
        return wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Vote:
        return cls(
            ruling=Ruling(wire["verdict"]),
            agent=wire["agent"],
            reasons=tuple(wire["reasons"]),
            error=wire.get("error", ""),
            limited=wire.get("limited", False),
            cached=wire.get("cached", False),
            cost=wire["cost"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CastVote:
    """A vote as it was given: of which rule, its number from 1, to which question.

    `question` is the SHA-256 of all that the judge was asked; equal ones have one answer.
    """

    rule_id: str
    number: int
    question: str
    vote: Vote

    @property
    def is_of_use(self) -> bool:
        """Whether the vote says something: what is void is asked again."""
        return self.vote.ruling is not Ruling.VOID

    def to_json(self) -> dict[str, Any]:
        place = {"rule_id": self.rule_id, "number": self.number, "question": self.question}
        return {**place, **self.vote.to_json()}

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> CastVote:
        return cls(
            rule_id=wire["rule_id"],
            number=wire["number"],
            question=wire["question"],
            vote=Vote.from_json(wire),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """The votes that were cast, of `size` that may be; `quorum` of them have to pass."""

    size: int
    quorum: int
    votes: tuple[Vote, ...] = ()

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        return tuple(vote.ruling for vote in self.votes)

    def count(self, ruling: Ruling) -> int:
        return self.rulings.count(ruling)

    def to_json(self) -> dict[str, Any]:
        return {
            "votes": self.size,
            "quorum": self.quorum,
            "cast": [vote.to_json() for vote in self.votes],
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Ballot:
        cast = tuple(Vote.from_json(vote) for vote in wire["cast"])
        return cls(size=wire["votes"], quorum=wire["quorum"], votes=cast)


class Judge(Protocol):
    """An LLM judge, or a stand-in for one; `seconds` is the longest that one vote may take."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def seconds(self) -> float: ...

    def prompt(self, case: Case) -> str:
        """Return what it would be asked."""
        ...

    def vote(self, case: Case) -> Vote:
        """Judge a case; a failure is a void vote, never an exception."""
        ...


class JudgeAround:
    """What stands before another judge, and is that judge in all but its votes."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def seconds(self) -> float:
        return self._judge.seconds

    def prompt(self, case: Case) -> str:
        return self._judge.prompt(case)
