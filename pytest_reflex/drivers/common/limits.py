"""What bounds a run, how much of it is used up, and which bound cannot hold: pure."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reflex.drivers.common.drive import Inputs, Stop
from pytest_reflex.model.run import Spend
from pytest_reflex.model.stop import StopReason

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
    """Return that a sitting took as long as it may, or an empty string; 0 is not a limit."""
    if not wall_time or elapsed < wall_time:
        return ""
    return f"wall time: {elapsed:.0f} s of {wall_time:g} s in one sitting"


def reached(inputs: Inputs, budget: Budget, spend: Spend, wall_time: float) -> Stop | None:
    """Return the stop that a person asked for, or that of a limit which every run has."""
    if inputs.stop is not None:
        return Stop(StopReason.USER_STOP, inputs.stop)
    if spent := exhausted(budget, spend):
        return Stop(StopReason.BUDGET_EXCEEDED, spent)
    if over := over_time(inputs.elapsed, wall_time):
        return Stop(StopReason.WALL_TIME, over)
    return None


def seconds_left(
    budget: Budget, spend: Spend, wall_time: float = 0.0, elapsed: float = 0.0
) -> float | None:
    """Return how long the next call may take, None without a limit of time."""
    of_budget = budget_left(budget, spend).get("seconds")
    left = [of_budget, wall_time - elapsed if wall_time else None]
    return min((one for one in left if one is not None), default=None)


def unreported(agent: object) -> list[str]:
    """Return the parts of a budget that an agent cannot report, as far as its table says."""
    from pytest_reflex.agents.command import CommandAgent

    if not isinstance(agent, CommandAgent):
        return []
    known = {"usd": agent.cost, "tokens": agent.tokens}
    return [key for key, sources in known.items() if not sources]
