"""What has to be confirmed before a loop begins: success criteria and limits (seed 000)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.plain import visible
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits
from pytest_reflex.reports.tables import text_table
from pytest_reflex.reports.votes import judge_line
from pytest_reflex.verdict.formatting import plain

_FREE = ("offline", "replay")


def proposal_text(
    criteria: Criteria,
    limits: Limits,
    agents: Mapping[Step, str],
    *,
    judge: str = "",
    votes: int = 0,
    of_text: bool = True,
) -> str:
    """Return the criteria as a table, the thresholds, the limits, the agents and the judge.

    The judge gives at most so many `votes` in one evaluation. A loop `of_text` has its calls
    counted; one over a session asks for fewer of the steps.
    """
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
    table = text_table(("phase", "rule", "severity", "weight", "checks"), rows)
    bars = ", ".join(f"{level.value} {plain(bar)}" for level, bar in criteria.thresholds.items())
    return "\n".join(
        (
            f"Success criteria: {visible(criteria.name)} v{criteria.version} (thresholds: {bars})",
            table,
            *([off] if (off := _off(criteria)) else []),
            f"Max iterations: {limits.max_iterations}",
            f"Budget: {_budget(limits.budget)}" + _uncapped(limits.wall_time),
            f"Agents: {_agents(agents)}",
            *(_calls(criteria, limits, agents) if of_text else ()),
            *([judge_line(judge, votes)] if judge else []),
            "",
        )
    )


def _off(criteria: Criteria) -> str:
    rules = ", ".join(map(str, criteria.switched_off))
    return f"Switched off: {visible(rules)}" if rules else ""


def allowed_lines(may_change: Iterable[str], unprotected: Iterable[str]) -> list[str]:
    """Return what is to be known of files that an agent may change beside the artifact."""
    lines = []
    if globs := ", ".join(may_change):
        lines.append(f"Agents may change: {visible(globs)}")
    if paths := ", ".join(unprotected):
        lines.append(f"Warning: checks run what agents may change: {visible(paths)}")
    return lines


def most_calls(criteria: Criteria, limits: Limits, agents: Mapping[Step, str]) -> int:
    """Return how many calls of agents that may cost something a run takes, without retries."""
    rounds = limits.max_iterations
    prose = {level: any(not r.checks for r in criteria.active(level)) for level in Level}
    switches = criteria.has(Level.A) and criteria.has(Level.B)
    times = {
        Step.PLAN: rounds,
        Step.PRODUCE: rounds if limits.produce == "always" else 1,
        Step.PREPARE: rounds * any(prose.values()) + (switches and prose[Level.A]),
        Step.CRITIQUE: rounds - 1,
        Step.REFINE: rounds - 1,
    }
    return sum(count for step, count in times.items() if agents[step] not in _FREE)


def _calls(criteria: Criteria, limits: Limits, agents: Mapping[Step, str]) -> Iterator[str]:
    """Yield the number of calls, and which of them do over what a REFINE made."""
    if all(name in _FREE for name in agents.values()):
        return
    count = most_calls(criteria, limits, agents)
    fewer = count - most_calls(criteria, replace(limits, produce="first"), agents)
    saves = f"; PRODUCE follows each REFINE: --produce first saves {fewer}" if fewer else ""
    yield f"Calls: up to {count} without retries{saves}"


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
