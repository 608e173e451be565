"""What calls of agents cost, as it stands in events: what a tool did not tell stays unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_reflex.model.steps import Reply

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
        "usd": _known(tries, "usd"),
        "tokens": _known(tries, "tokens"),
    }
    if refused:
        cost["unknown"] = {key: sum(one[key] is None for one in tries) for key in _AMOUNTS}
    return cost


def unknown_cost(seconds: float) -> dict[str, Any]:
    """Return the price of a call that was interrupted: it was paid, and nobody said how much."""
    return {"calls": 1, "seconds": round(seconds, 6), "usd": None, "tokens": None}


def total_cost(costs: Iterable[Cost | None]) -> dict[str, Any] | None:
    """Return what some answers cost together; None where all were free."""
    paid = [cost for cost in costs if cost]
    if not paid:
        return None
    return {
        "calls": sum(cost["calls"] for cost in paid),
        "seconds": round(sum(cost["seconds"] for cost in paid), 6),
        "usd": _known(paid, "usd"),
        "tokens": _known(paid, "tokens"),
        "unknown": {key: sum(_unknown(cost, key) for cost in paid) for key in _AMOUNTS},
    }


def _unknown(cost: Cost, key: str) -> int:
    """Return how many calls of a cost did not tell an amount."""
    told: Mapping[str, int] = cost.get("unknown", {})
    return told.get(key, cost["calls"] if cost[key] is None else 0)


def _known(costs: Sequence[Cost], key: str) -> Any:
    """Return the sum of what is known, None where nothing is."""
    found = [one[key] for one in costs if one[key] is not None]
    return sum(found) if found else None
