"""Checks of type `judged`: an LLM judge votes by a rubric, within a budget, and is asked no
question twice.

Promises: no agent is asked unless a judge was configured; nothing but votes that pass leads to a
pass; asking ends when no further vote can change the outcome.
Limits: an agent may be wrong, or be persuaded by what it reads; a program cannot.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.finding import unread
from pytest_reflex.checks.options import TEXT, problems_of, settle, whole_number
from pytest_reflex.errors import ArtifactError, CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact, format_skipped
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.judged import (
    NAMING,
    Ballot,
    Case,
    CastVote,
    Judge,
    JudgeAround,
    Ruling,
    Vote,
)
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.run import Spend
from pytest_reflex.model.targets import CheckContext, CompiledCheck, plainly
from pytest_reflex.verdict.score import MOST_VOTES, majority, ruling_of

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


class BudgetedJudge(JudgeAround):
    """Asks a judge as long as no part of `left` (calls, usd, tokens, seconds) is used up.

    A vote that could not be paid for is void. What the last vote costs is known afterwards only:
    it may go beyond what was left. Votes may come from several threads.
    """

    def __init__(self, judge: Judge, left: Mapping[str, float]) -> None:
        super().__init__(judge)
        self._left = left
        self._spent = Spend()
        self._lock = Lock()

    def vote(self, case: Case) -> Vote:
        """Return the judge's vote, or a void one that says which part of the budget is used up."""
        with self._lock:
            if part := self._find_exhausted():
                text = f"it was not asked: the budget is used up ({part})"
                return Vote(ruling=Ruling.VOID, agent=self.name, error=text)
            # Taken before the answer is there: another thread may ask at the same time.
            self._spent = self._spent.plus(_ONE_CALL)
        vote = self._judge.vote(case)
        with self._lock:
            cost = vote.cost or _NOTHING
            self._spent = self._spent.plus({**cost, "calls": cost["calls"] - 1})
        return vote

    def _find_exhausted(self) -> str:
        spent = self._spent
        used = {
            "calls": spent.calls,
            "usd": spent.usd,
            "tokens": spent.tokens,
            "seconds": spent.seconds,
        }
        return next((part for part, left in self._left.items() if used[part] >= left), "")


_ONE_CALL = {"calls": 1, "seconds": 0.0, "usd": 0, "tokens": 0}
_NOTHING = {"calls": 0, "seconds": 0.0, "usd": 0, "tokens": 0}


NOT_RECORDED = "this vote is not recorded, and no agent gave it"


class CachedJudge(JudgeAround):
    """Gives the votes that it knows, asks `judge` for others, and reports each of these to `heard`.

    A void vote without a price is not reported: no agent was asked for it. Votes may come from
    several threads, and so do reports. Without `asks` the judge is not asked: void votes that are
    known stay void, and a vote that is not known is void. `asked` gets the question before
    each call of an agent.
    """

    def __init__(
        self,
        judge: Judge,
        known: Iterable[CastVote],
        heard: Callable[[CastVote], object],
        *,
        asked: Callable[[str], object] | None = None,
        asks: bool = True,
    ) -> None:
        super().__init__(judge)
        self._asks, self._asked = asks, asked
        self._known: dict[str, list[Vote]] = {}
        for cast in known:
            if cast.is_of_use or not asks:
                self._known.setdefault(cast.question, []).append(cast.vote)
        self._heard = heard

    def vote(self, case: Case) -> Vote:
        """Return the vote that is known for a case, or that of the judge."""
        question = self._question(case)
        with suppress(LookupError):  # each once: two checks may ask the same
            return self._known[question].pop(0)
        if not self._asks:
            return Vote(ruling=Ruling.VOID, agent=self.name, error=NOT_RECORDED)
        if self._asked is not None:
            case = replace(case, asked=partial(self._asked, question))
        started = time.monotonic()
        try:
            vote = self._judge.vote(case)
        except BaseException:  # an interruption: who was asked may want to be paid
            self._report(case, question, self._interrupted_vote(time.monotonic() - started))
            raise
        self._report(case, question, vote)
        return vote

    def _report(self, case: Case, question: str, vote: Vote) -> None:
        cast = CastVote(rule_id=case.rule_id, number=case.number, question=question, vote=vote)
        if cast.is_of_use or vote.cost is not None:
            self._heard(cast)

    def _interrupted_vote(self, seconds: float) -> Vote:
        cost = {"calls": 1, "seconds": seconds, "usd": None, "tokens": None}
        return Vote(ruling=Ruling.VOID, agent=self.name, error="it was interrupted", cost=cost)

    def _question(self, case: Case) -> str:
        asked = [self.name, case.rule_id, case.number, self.prompt(case)]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


NAME = "judged"
NO_JUDGE = f"it needs an LLM judge and none is configured: {NAMING}"
NOT_ASKED = "not asked: rules already failed"
LONGEST = 400_000
"""Characters of an artifact that an LLM judge is given at most."""

_OUTCOMES = {
    Ruling.PASS: Outcome.PASS,
    Ruling.FAIL: Outcome.FAIL,
    Ruling.UNDECIDED: Outcome.ERROR,
}
_SHOWN = 300


_VOTES = whole_number(1, MOST_VOTES)

KINDS = {
    "rubric": TEXT.means(
        "what speaks for a pass and what against it, for the LLM judge", "the rule's own words"
    ),
    "votes": _VOTES.means("how often the LLM judge is asked at most, each time independently", "1"),
    "quorum": _VOTES.means("how many votes have to say pass", "more than half of `votes`"),
}


class JudgedCheck:
    """Ask the LLM judge that is configured; without one the rule is not measured."""

    name = NAME
    parameters = KINDS

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield from problems_of(spec, KINDS)
        yield from _quorum_problems(spec, spec.params)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        params = settle(spec, KINDS, variables)
        if found := list(_quorum_problems(spec, params)):
            raise CriteriaError(found)
        size = params.get("votes", 1)
        voting = Voting(params.get("rubric", ""), size, params.get("quorum", majority(size)))
        return CompiledCheck(
            spec,
            voting,
            starts_more=True,
            describe=lambda: _describe(spec.params),
            preview=voting.preview,
            votes=size,
        )


def _describe(params: Mapping[str, Any]) -> str:
    votes = plainly(params.get("votes", 1))
    wanted = f", of which {plainly(params['quorum'])} pass" if "quorum" in params else ""
    by = f" by the rubric: {plainly(params['rubric'])}" if "rubric" in params else ""
    return f"an LLM judge grades it, in at most {votes} votes{wanted}{by}"


def _quorum_problems(spec: CheckSpec, params: Mapping[str, Any]) -> Iterator[Problem]:
    votes, quorum = params.get("votes", 1), params.get("quorum", 1)
    if _VOTES.fits(votes) and _VOTES.fits(quorum) and quorum > votes:
        yield Problem(
            message=f"quorum is {quorum}, more than votes, which is {votes}: it cannot pass",
            place=spec.place,
            path=("quorum",),
        )


@dataclass(frozen=True, slots=True)
class Voting:
    """A judged check that can be run: `size` votes at most, of which `quorum` have to pass."""

    rubric: str
    size: int
    quorum: int

    def __call__(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        judge, rule = context.judge, context.rule
        if judge is None or rule is None:
            return CheckResult(outcome=Outcome.NOT_MEASURED, message=NO_JUDGE)
        if context.blocked:
            return CheckResult(outcome=Outcome.NOT_MEASURED, message=NOT_ASKED, not_asked=True)
        if missed := artifact.skipped_for(("*",)):
            return CheckResult(
                outcome=Outcome.ERROR, message=f"not checked: {format_skipped(missed)}"
            )
        try:
            case = self.case(rule, texts_of(artifact))
        except ArtifactError as error:
            return replace(unread(error, artifact), message=error.problems[0].message)
        cancel = context.cancel or Event()
        case = replace(case, environment=context.environment, cancel=cancel)
        return result_of_ballot(self._cast(judge, case), cancelled=cancel.is_set())

    def case(self, rule: Rule, texts: Mapping[str, str]) -> Case:
        """Return what the LLM judge is asked first."""
        return Case(
            rule_id=rule.id,
            description=rule.description,
            rubric=self.rubric or rule.prose or rule.description,
            texts=texts,
            votes=self.size,
        )

    def preview(self, rule: Rule, judge: Judge | None) -> dict[str, Any]:
        """Return what the LLM judge would be asked: a word stands for the artifact."""
        case = self.case(rule, {"<the artifact>": "<its text>"})
        return {
            "judge": judge.name if judge else None,
            "votes": self.size,
            "quorum": self.quorum,
            "prompt": judge.prompt(case) if judge else None,
        }

    def _cast(self, judge: Judge, case: Case) -> Ballot:
        """Return the votes, as many as it takes to know what they come to."""
        ballot = Ballot(size=self.size, quorum=self.quorum)
        while ruling_of(ballot) is None and not case.cancel.is_set():
            vote = judge.vote(replace(case, number=len(ballot.votes) + 1))
            ballot = replace(ballot, votes=(*ballot.votes, vote))
        return ballot


def texts_of(artifact: Artifact) -> dict[str, str]:
    """Return the texts that an LLM judge reads, by name; raises ArtifactError."""
    parts = (artifact,) if artifact.files is None else artifact.files
    texts = {part.name: part.raw_text for part in parts}
    if (length := sum(map(len, texts.values()))) > LONGEST:
        raise ArtifactError(
            f"it is too long for an LLM judge: {length:,} characters, {LONGEST:,} at most"
        )
    return texts


def result_of_ballot(ballot: Ballot, *, cancelled: bool = False) -> CheckResult:
    """Return what a ballot comes to as the result of a check."""
    ruling = ruling_of(ballot)
    asked = len(ballot.votes)
    message = f"judged: {ballot.count(Ruling.PASS)} of {ballot.size} pass, {ballot.quorum} needed"
    if asked < ballot.size:
        message += f", {asked} asked"
    for word in (Ruling.UNDECIDED, Ruling.VOID):
        if count := ballot.count(word):
            message += f", {count} {word.value}"
    if ruling is None:
        why = "the session ended" if cancelled else "not all votes were cast"
        message += f": {why}"
    elif reason := _reason(ballot, ruling):
        message += f": {one_line(reason, _SHOWN)}"
    return CheckResult(
        outcome=Outcome.ERROR if ruling is None else _OUTCOMES[ruling],
        message=message,
        evidence="\n".join(
            f"vote {number}: {vote.ruling.value} ({_by(vote)}): "
            f"{one_line(vote.reason_text, _SHOWN)}"
            for number, vote in enumerate(ballot.votes, 1)
        ),
        ballots=(ballot,),
    )


def _by(vote: Vote) -> str:
    return f"{vote.agent}, cached" if vote.cached else vote.agent


def _reason(ballot: Ballot, ruling: Ruling) -> str:
    """Return what the first vote said that is as the ballot, or that left it undecided."""
    wanted = (Ruling.UNDECIDED, Ruling.VOID) if ruling is Ruling.UNDECIDED else (ruling,)
    return next((_first(vote) for vote in ballot.votes if vote.ruling in wanted), "")


def _first(vote: Vote) -> str:
    return vote.error or (vote.reasons[0] if vote.reasons else "")


def most_votes(rules: Iterable[Rule], checks: Mapping[tuple[str, int], CompiledCheck]) -> int:
    """Return how often a judge is asked at most by rules with these checks; once for prose."""
    prose = sum(not rule.checks for rule in rules)
    return prose + sum(check.votes for check in checks.values())


def add_judged_checks(
    criteria: Criteria, registry: Registry, *, conditional: bool = False
) -> Criteria:
    """Return criteria whose rules without a check are judged, where there is a judge.

    With `conditional` those with conditions in any case: whether they apply takes no judge.
    """
    if NAME not in registry or all(rule.checks for rule in criteria.rules):
        return criteria
    if registry.judge is None and not (conditional and any(rule.when for rule in criteria.rules)):
        return criteria
    rules = tuple(
        rule
        if rule.checks or not (registry.judge or rule.when)
        else replace(rule, checks=(CheckSpec(type=NAME, params={}, place=rule.place),))
        for rule in criteria.rules
    )
    return replace(criteria, rules=rules)
