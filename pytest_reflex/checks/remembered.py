"""A judge that reports each vote, and that is asked no question twice, or none at all."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from pytest_reflex.model.judged import Case, Cast, Judge, JudgeAround, Ruling, Vote

NOT_RECORDED = "this vote is not recorded, and no agent was asked for it"


class Remembered(JudgeAround):
    """Gives the votes that it knows, asks `judge` for others, and reports each of these to `heard`.

    A void vote without a price is not reported: no agent was asked for it. Votes may come from
    several threads, and so do reports. Without `asks` the judge is not asked: void votes that are
    known stay void, and a vote that is not known is void.
    """

    def __init__(
        self,
        judge: Judge,
        known: Iterable[Cast],
        heard: Callable[[Cast], object],
        *,
        asks: bool = True,
    ) -> None:
        super().__init__(judge)
        self._asks = asks
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
        started = time.monotonic()
        try:
            vote = self._judge.vote(case)
        except BaseException:  # an interruption: who was asked may want to be paid
            self._tell(case, question, self._interrupted(time.monotonic() - started))
            raise
        self._tell(case, question, vote)
        return vote

    def _tell(self, case: Case, question: str, vote: Vote) -> None:
        cast = Cast(rule_id=case.rule_id, number=case.number, question=question, vote=vote)
        if cast.is_of_use or vote.cost is not None:
            self._heard(cast)

    def _interrupted(self, seconds: float) -> Vote:
        cost = {"calls": 1, "seconds": seconds, "usd": None, "tokens": None}
        return Vote(ruling=Ruling.VOID, agent=self.name, error="it was interrupted", cost=cost)

    def _question(self, case: Case) -> str:
        asked = [self.name, case.rule_id, case.number, self.prompt(case)]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
