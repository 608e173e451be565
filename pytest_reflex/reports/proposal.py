"""What has to be confirmed before a loop begins: success criteria and limits (seed 000)."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reflex.model.plain import visible
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits
from pytest_reflex.model.words import Step
from pytest_reflex.verdict.figures import plain


def proposal_text(criteria: Criteria, limits: Limits, agents: Mapping[Step, str]) -> str:
    """Return the criteria as a table, the thresholds, the limits and the agents."""
    from tabulate import tabulate

    rows = [
        (
            rule.level.value,
            rule.id,
            rule.severity.value,
            plain(rule.weight),
            _checks(len(rule.checks)),
        )
        for rule in criteria.rules
    ]
    table = tabulate(
        rows,
        headers=("phase", "rule", "severity", "weight", "checks"),
        tablefmt="simple",
        disable_numparse=True,
    )
    bars = ", ".join(f"{level.value} {plain(bar)}" for level, bar in criteria.thresholds.items())
    return "\n".join(
        (
            f"Success criteria: {visible(criteria.name)} v{criteria.version} (thresholds: {bars})",
            table,
            f"Max iterations: {limits.max_iterations}",
            f"Budget: {_budget(limits.budget)}" + _uncapped(limits.wall_time),
            f"Agents: {_agents(agents)}",
            "",
        )
    )


def _checks(count: int) -> str:
    return str(count) if count else "PREPARE"


def _budget(budget: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {limit:g}" for name, limit in budget.items()) or "none"


def _uncapped(wall_time: int) -> str:
    return "" if wall_time else "\nWall time: NO CAP"


def _agents(agents: Mapping[Step, str]) -> str:
    if len(set(agents.values())) == 1:
        return f"{next(iter(agents.values()))} for all steps"
    return ", ".join(f"{step.value.lower()} {name}" for step, name in agents.items())
