"""What people are told of the votes of agents, beside the score that hangs on them."""

from __future__ import annotations

from pytest_reflex.model.results import Evaluation


def votes_told(evaluation: Evaluation) -> str:
    """Return how many rules agents voted on, who did, and that another run may differ."""
    ballots = evaluation.ballots
    votes = sum(len(ballot.votes) for ballot in ballots)
    agents = dict.fromkeys(vote.agent for ballot in ballots for vote in ballot.votes)
    by = f" ({', '.join(agents)})" if agents else ""
    asked = "1 vote" if votes == 1 else f"{votes} votes"
    return (
        f"{evaluation.judged} of {len(evaluation.results)} rules by an agent{by}, {asked}: "
        "another run may come to another verdict"
    )
