"""What the votes of an evaluation mean for a run: each is durable when it is given, and its price.

A rate limit in the way of votes is no failed try.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import Lock
from typing import Any

from pytest_reflex.drivers.reflex.steps import Done, phase_error
from pytest_reflex.model.cost import total_cost
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.judged import Cast, Ruling
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.words import Step
from pytest_reflex.verdict.ballot import ruling_of


class Listener:
    """Has votes made durable by `commit`, one at a time; what goes wrong is raised by `end`.

    It is told of votes by any thread; who drives the run waits for the evaluation meanwhile.
    """

    def __init__(self, commit: Callable[[Done], object]) -> None:
        self._commit = commit
        self._lock = Lock()
        self._error: Exception | None = None

    def __call__(self, cast: Cast) -> None:
        done = Done(kind=EventKind.VOTE_CAST, step=Step.EVALUATE, payload=cast.to_json())
        with self._lock:
            try:
                if self._error is None:
                    self._commit(done)
            except Exception as error:  # in a check it would be taken for its own
                self._error = error

    def end(self) -> None:
        """Raise what kept a vote from being made durable."""
        if self._error is not None:
            raise self._error


def paid(done: Done, evaluation: Evaluation, counted: Iterable[Cast] = ()) -> Done:
    """Return the event of an evaluation with what its votes cost, without those `counted`."""
    known = [cast.vote for cast in counted]
    costs = []
    for vote in (vote for ballot in evaluation.ballots for vote in ballot.votes):
        if vote in known:
            known.remove(vote)
        else:
            costs.append(vote.cost)
    cost = total_cost(costs)
    return done if cost is None else replace(done, payload={**done.payload, "cost": cost})


def refused_vote(evaluation: Evaluation) -> Done | None:
    """Return the event of an evaluation in which a rate limit kept a ballot from its verdict.

    It is no try that failed: the run can go on later, and asks for the votes that it has not.
    """
    open_ones = (b for b in evaluation.ballots if ruling_of(b) is Ruling.UNDECIDED)
    refused = (vote for ballot in open_ones for vote in ballot.votes if vote.limited)
    vote = next(refused, None)
    if vote is None:
        return None
    failed = phase_error(Step.EVALUATE, f"judge {vote.agent}: {vote.error}")
    payload: dict[str, Any] = {**failed.payload, "agent": vote.agent, "limited": True}
    return replace(failed, payload=payload)
