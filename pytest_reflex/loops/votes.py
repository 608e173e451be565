"""What the votes of an evaluation mean for a run: their price, and a rate limit in their way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_reflex.loops.steps import Done, phase_error
from pytest_reflex.model.cost import total_cost
from pytest_reflex.model.judged import Ruling
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.words import Step
from pytest_reflex.verdict.ballot import ruling_of


def paid(done: Done, evaluation: Evaluation) -> Done:
    """Return the event of an evaluation with what its votes cost."""
    cost = total_cost(vote.cost for ballot in evaluation.ballots for vote in ballot.votes)
    return done if cost is None else replace(done, payload={**done.payload, "cost": cost})


def refused_vote(evaluation: Evaluation) -> Done | None:
    """Return the event of an evaluation in which a rate limit kept a ballot from its verdict.

    It is no try that failed: the run can go on later, and asks all votes again.
    """
    open_ones = (b for b in evaluation.ballots if ruling_of(b) is Ruling.UNDECIDED)
    refused = (vote for ballot in open_ones for vote in ballot.votes if vote.limited)
    vote = next(refused, None)
    if vote is None:
        return None
    failed = phase_error(Step.EVALUATE, f"judge {vote.agent}: {vote.error}")
    payload: dict[str, Any] = {**failed.payload, "agent": vote.agent, "limited": True}
    return replace(failed, payload=payload)
