"""A judge that is asked only while there is something left to spend on it."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

from pytest_reflex.model.judged import Case, Judge, JudgeAround, Ruling, Vote
from pytest_reflex.model.run import Spend


class Purse(JudgeAround):
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
            if part := self._used_up():
                told = f"it was not asked: the budget is used up ({part})"
                return Vote(ruling=Ruling.VOID, agent=self.name, error=told)
            # Taken before the answer is there: another thread may ask at the same time.
            self._spent = self._spent.plus(_ONE_CALL)
        vote = self._judge.vote(case)
        with self._lock:
            cost = vote.cost or _NOTHING
            self._spent = self._spent.plus({**cost, "calls": cost["calls"] - 1})
        return vote

    def _used_up(self) -> str:
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
