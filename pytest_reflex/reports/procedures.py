"""Procedures of the iteration loop for people: the list of all, and everything about one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.reports.tables import tab_lines, text_table

_ROOM = 72
_LONGEST = 2_000
_INDENT = 12


def table(procedures: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of procedures; under it what is wrong with those that cannot be used."""
    rows = [(one_line(one["name"]), _purpose(one, _ROOM), one["origin"]) for one in procedures]
    head = ("procedure", "what it does", "from")
    lines = [text_table(head, rows)]
    broken = [f"{one['name']}: {one['problem']}" for one in procedures if "problem" in one]
    return "\n".join([*lines, *(["", *map(visible, broken)] if broken else [])])


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
        ("BOUNDS", [_bound(one) for one in found["bounds"]]),
        ("GATES", [_gate(one) for one in found["gates"]] or ["none"]),
        *(
            (phase.upper(), [_fragment(one) for one in fragments])
            for phase, fragments in found["phases"].items()
        ),
    ]
    return "\n".join(line for label, lines in rows for line in _labelled(label, lines))


_FAILURE = {True: "stops the run: a person is needed", False: "is a failed iteration"}


def _labelled(label: str, lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{label if number == 0 else '':<{_INDENT}}{one_line(line, _LONGEST)}"


def _purpose(one: Mapping[str, Any], room: int) -> str:
    return one_line("(cannot be used)" if "problem" in one else one["description"], room)


def _bound(one: Mapping[str, Any]) -> str:
    value = one["value"]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:g}" if number else str(value).lower()
    return f"{one['name']} = {shown}  ({one['origin']})"


def _gate(one: Mapping[str, Any]) -> str:
    if "problem" in one:
        return str(one["problem"])
    needed = "required" if one["required"] else "told only"
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
