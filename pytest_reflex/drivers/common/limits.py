"""What bounds a run, how much of it is used up, and which bound cannot hold: pure."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reflex.model.run import Spend

Budget = Mapping[str, float]


def used_of(spend: Spend) -> dict[str, float]:
    """Return what was spent of each part that a budget may have."""
    return {
        "calls": spend.calls,
        "seconds": spend.seconds,
        "usd": spend.usd,
        "tokens": spend.tokens,
    }


def exhausted(budget: Budget, spend: Spend) -> str:
    """Return which part of a budget is used up, or an empty string."""
    used = used_of(spend)
    for name, limit in budget.items():
        if used[name] >= limit:
            return f"{name}: {used[name]:g} of {limit:g} used"
    return ""


def budget_left(budget: Budget, spend: Spend) -> dict[str, float]:
    """Return what is left of each part of a budget, 0 or less where it is used up."""
    used = used_of(spend)
    return {name: limit - used[name] for name, limit in budget.items()}


def over_time(elapsed: float, wall_time: float) -> str:
    """Return that a sitting took as long as it may, or an empty string; 0 is no limit."""
    if not wall_time or elapsed < wall_time:
        return ""
    return f"wall time: {elapsed:.0f} s of {wall_time:g} s in one sitting"


def unreported(agent: object) -> list[str]:
    """Return the parts of a budget that an agent cannot report, as far as its table says."""
    from pytest_reflex.agents.command import CommandAgent

    if not isinstance(agent, CommandAgent):
        return []
    known = {"usd": agent.cost, "tokens": agent.tokens}
    return [key for key, sources in known.items() if not sources]
