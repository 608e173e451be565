"""What `pytest-reflex doctor` prints: a section for each thing, problems last."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.model.plain import escape_control


def doctor_text(found: Mapping[str, Any]) -> str:
    """Return the findings as text."""
    versions = found["versions"]
    about = f"Python {versions['python']}, pytest {versions['pytest']}, {versions['system']}"
    lines = [f"pytest-reflex {versions['pytest_reflex']} ({about})"]
    sections: dict[str, tuple[str, Callable[[Any], Iterator[str]]]] = {
        "configuration": ("Configuration", _configuration),
        "agents": ("Agents", _agents),
        "tools": ("Tools", _tools),
        "extras": ("Extras", _extras),
        "state": ("State", _state),
    }
    for key, (title, write) in sections.items():
        if key in found:
            lines += ["", title, *(f"  {line}" for line in write(found[key]))]
    lines += ["", *_problems(found["problems"]), *_install_lines(found.get("extras", ()))]
    return escape_control("\n".join(lines)) + "\n"


def _configuration(found: Mapping[str, Any]) -> Iterator[str]:
    personal, workspace = found["global"], found["workspace"]["file"]
    yield f"your own file: {personal['file']}" + ("" if personal["used"] else " (nothing from it)")
    yield f"of the project: {workspace or 'none'}"
    for one in found["values"]:
        value = json.dumps(one["value"], ensure_ascii=False)
        where = f"{one['tier']}: {one['file']}" if one["file"] else one["tier"]
        yield f"{one['key']} = {value}  ({where})"
    if not found["values"]:
        yield "every value is the default"


def _agents(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for agent in found:
        steps = ", ".join(agent["steps"]) or "no step"
        yield f"{agent['name']}: {steps}"
        if agent.get("kind") == "command":
            yield f"  command: {json.dumps(agent['command'], ensure_ascii=False)}"
            if agent["edits"] is None:
                yield "  it cannot change files"
            elif agent["edits"] != agent["command"]:
                yield f"  to change files: {json.dumps(agent['edits'], ensure_ascii=False)}"
            yield f"  price: {agent['price']}; tokens: {agent['tokens']}"
            yield from _variables(agent["variables"])
        if probe := agent.get("probe"):
            price = "unknown cost" if probe["usd"] is None else f"${probe['usd']:.4f}"
            verdict = "it answers" if probe["answers"] else "it does not answer as it should"
            yield f"  probe: {verdict} ({probe['seconds']} s, {price})"


def _variables(variables: Mapping[str, bool]) -> Iterator[str]:
    there = [name for name, is_set in variables.items() if is_set]
    missing = [name for name, is_set in variables.items() if not is_set]
    if there:
        yield f"  passed on: {', '.join(there)}"
    if missing:
        yield f"  not set: {', '.join(missing)}"


def _tools(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for tool in found:
        if tool["path"]:
            version = tool["version"] or tool["problem"] or "reports no version"
            yield f"{tool['program']}: {version} ({tool['path']})"
    if missing := [tool["program"] for tool in found if not tool["path"]]:
        yield f"not installed: {', '.join(missing)}"


def _extras(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for extra in found:
        if extra["installed"]:
            yield f"{extra['name']}: installed ({', '.join(extra['parts'])})"
            continue
        yield f"{extra['name']}: not installed: {', '.join(extra['missing'])}"
        yield f"  without it: {extra['without']}"
        yield f"  to install it: {extra['install']}"


def _state(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{found['root']}: {'writable' if found['writable'] else 'not writable'}"
    kind = found["file_system"] or "not known"
    locks = {True: "hold", False: "do not hold", None: "were not tried"}[found["locks"]]
    yield f"file system: {kind}; locks {locks}"
    if found["remote"]:
        yield ("  WARNING: locks may not be seen by other machines; run a loop on one of them only")
    yield from (f"  WARNING: {line}" for line in found["recovered"])


def _install_lines(extras: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield, last of all, what is not installed, each with the command that installs it."""
    missing = [extra for extra in extras if not extra["installed"]]
    if missing:
        yield from ("", "Not installed")
    for extra in missing:
        yield f"  {', '.join(extra['missing'])}: {extra['install']}"


def _problems(problems: Sequence[str]) -> Iterator[str]:
    if not problems:
        yield "No problems."
        return
    yield "Problems"
    yield from (f"  - {problem}" for problem in problems)
