"""What is confirmed before a loop begins: criteria, limits, procedures."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.plain import escape_control, one_line
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits
from pytest_reflex.reports.evaluation import judge_line
from pytest_reflex.reports.lines import tab_lines, text_table
from pytest_reflex.verdict.formatting import plain

_ROOM = 72
_LONGEST = 2_000
_INDENT = 12


def table(procedures: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of procedures; under it what is wrong with those that cannot be used."""
    rows = [(one_line(one["name"]), _purpose(one, _ROOM), one["origin"]) for one in procedures]
    head = ("procedure", "what it does", "from")
    lines = [text_table(head, rows)]
    broken = [f"{one['name']}: {one['problem']}" for one in procedures if "problem" in one]
    return "\n".join([*lines, *(["", *map(escape_control, broken)] if broken else [])])


def plain_lines(procedures: Sequence[Mapping[str, Any]]) -> str:
    """Return a line for each procedure, its fields separated by tabs."""
    return tab_lines(
        (one_line(one["name"]), _purpose(one, _LONGEST), one_line(one["origin"]))
        for one in procedures
    )


def procedure_text(found: Mapping[str, Any]) -> str:
    """Return a page about one procedure."""
    prompt, agent = found["prompt"], found["agent"]
    over = ", over the budget" if prompt["over"] else ""
    offered = "offered by the prompt" if found["success"] else "not offered"
    rows = [
        ("PROCEDURE", [found["name"], *([found["description"]] if found["description"] else [])]),
        ("FROM", [found["origin"]]),
        ("AGENT", [f"{agent['name']}  ({agent['origin']})"]),
        ("COMMAND", [agent["command"] or f"none: {agent['problem']}"]),
        ("PROMPT", [f"{prompt['tokens']:,} / {prompt['budget']:,} tokens{over}"]),
        ("SUCCESS", [f"<promise>SUCCESS</promise> is {offered}"]),
        ("FAILURE", [f"<promise>FAILURE</promise> {_FAILURE[found['failure']]}"]),
        ("BOUNDS", [_format_bound(one) for one in found["bounds"]]),
        ("GATES", [_gate(one) for one in found["gates"]] or ["none"]),
        *(
            (phase.upper(), [_fragment(one) for one in fragments])
            for phase, fragments in found["phases"].items()
        ),
    ]
    return "\n".join(line for label, lines in rows for line in _label_lines(label, lines))


_FAILURE = {True: "stops the run: a person is needed", False: "is a failed iteration"}


def _label_lines(label: str, lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{label if number == 0 else '':<{_INDENT}}{one_line(line, _LONGEST)}"


def _purpose(one: Mapping[str, Any], room: int) -> str:
    return one_line("(cannot be used)" if "problem" in one else one["description"], room)


def _format_bound(one: Mapping[str, Any]) -> str:
    value = one["value"]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:g}" if number else str(value).lower()
    return f"{one['name']} = {shown}  ({one['origin']})"


def _gate(one: Mapping[str, Any]) -> str:
    if "problem" in one:
        return str(one["problem"])
    needed = "required" if one["required"] else "reported only"
    needed += ", fewer failures are not a failure" if one["progress"] else ""
    protected = f", protects {', '.join(one['protect'])}" if one["protect"] else ""
    return f"{one['name']}: {gate_text(one)}  ({needed}{protected}, {one['origin']})"


def gate_text(one: Mapping[str, Any]) -> str:
    """Return what a gate runs, judges or limits."""
    command = one["command"]
    if command is not None:
        return shlex.join(command) if isinstance(command, list) else str(command)
    if one["criteria"]:
        return f"criteria {one['criteria']} over {', '.join(one['artifacts'])}"
    limits = [
        f"at most {one[key]} {noun}"
        for key, noun in (("max_files", "files"), ("max_lines", "lines"))
        if one[key] is not None
    ]
    denied = [f"none of {', '.join(one['deny'])}"] if one["deny"] else []
    return f"diff of {', '.join([*limits, *denied])}"


def _fragment(one: Mapping[str, Any]) -> str:
    """Return a fragment as its file, or its first words, and where it was declared."""
    what = one["path"] or f'"{one_line(one["begins"], 48)}"'
    parameters = (f'{name} = "{one_line(text, 40)}"' for name, text in one["parameters"].items())
    given = ", ".join(parameters)
    return f"{what}{f' with {given}' if given else ''}  ({one['origin']})"


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
            (
                f"Success criteria: {escape_control(criteria.name)} v{criteria.version} "
                f"(thresholds: {bars})"
            ),
            table,
            *([off] if (off := _off(criteria)) else []),
            f"Max iterations: {limits.max_iterations}",
            f"Budget: {_budget(limits.budget)}" + _no_cap_text(limits.wall_time),
            f"Agents: {_agents(agents)}",
            *(_calls(criteria, limits, agents) if of_text else ()),
            *([judge_line(judge, votes)] if judge else []),
            "",
        )
    )


def _off(criteria: Criteria) -> str:
    rules = ", ".join(map(str, criteria.switched_off))
    return f"Switched off: {escape_control(rules)}" if rules else ""


def permission_lines(may_change: Iterable[str], unprotected: Iterable[str]) -> list[str]:
    """Return what is to be known of files that an agent may change beside the artifact."""
    lines = []
    if globs := ", ".join(may_change):
        lines.append(f"Agents may change: {escape_control(globs)}")
    if paths := ", ".join(unprotected):
        lines.append(f"Warning: checks run what agents may change: {escape_control(paths)}")
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


def _no_cap_text(wall_time: int) -> str:
    return "" if wall_time else "\nWall time: NO CAP"


def _agents(agents: Mapping[Step, str]) -> str:
    if len(set(agents.values())) == 1:
        return f"{next(iter(agents.values()))} for all steps"
    return ", ".join(f"{step.value.lower()} {name}" for step, name in agents.items())
