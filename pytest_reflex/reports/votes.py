"""What people are told of the votes of agents, beside the score that hangs on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_reflex.model.plain import visible
from pytest_reflex.model.results import Evaluation


def votes_told(evaluation: Evaluation) -> str:
    """Return how many rules agents voted on, who did, and that another run may differ."""
    ballots = evaluation.ballots
    votes = sum(len(ballot.votes) for ballot in ballots)
    agents = dict.fromkeys(vote.agent for ballot in ballots for vote in ballot.votes)
    by = f" ({', '.join(agents)})" if agents else ""
    asked = "1 vote" if votes == 1 else f"{votes} votes"
    cached = sum(vote.cached for ballot in ballots for vote in ballot.votes)
    if cached:
        asked += ", cached" if cached == votes else f", {cached} of them cached"
    return (
        f"{evaluation.judged} of {len(evaluation.results)} rules by an agent{by}, {asked}: "
        "another run may come to another verdict"
    )


def judge_line(judge: str, votes: int) -> str:
    """Return who judges in a loop, and how many votes that takes at most each time."""
    return f"Judge: {visible(judge)}, up to {votes} votes in each evaluation"


def asked(check: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a judge would be asked, with labels; nothing for a check that asks nobody."""
    if "quorum" not in check:
        return
    yield "JUDGE", check["judge"] or "no judge is configured: it is not measured (--judge NAME)"
    yield "VOTES", f"{check['votes']} at most, {check['quorum']} have to pass"
    for number, line in enumerate((check["prompt"] or "").splitlines()):
        yield "" if number else "PROMPT", line
