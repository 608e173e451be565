"""``pytest-reflex doctor``: what is installed, what the configuration comes to, what is wrong."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import json_option, secrets_of
from pytest_reflex.cli.streams import give, give_json, say, verdict
from pytest_reflex.errors import ExitCode, ReflexError

if TYPE_CHECKING:
    from pytest_reflex.model.steps import Agent
    from pytest_reflex.settings import Settings

PROBE_SECONDS = 14.0
"""With the end of a tool that ignores signals a probe takes less than 20."""


@click.command(short_help="Say what is installed, configured and wrong.")
@json_option
@click.option(
    "--probe",
    "probes",
    metavar="NAME",
    multiple=True,
    help="Ask this agent one question: it costs.",
)
def doctor(as_json: bool, probes: tuple[str, ...]) -> int:
    """Say which tools are there, what the configuration comes to and why, and what is wrong.

    No agent is asked unless it is named with --probe. Exit status: 0 all is well, 4 something has
    to be fixed.
    """
    found = examine(Path.cwd(), probes)
    status = ExitCode.USAGE if found["problems"] else ExitCode.OK
    with verdict(status):
        if as_json:
            give_json(found)
        else:
            from pytest_reflex.reports.doctor import doctor_text

            give(doctor_text(found))
    return status


def examine(project: Path, probes: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return everything that doctor has to say, as one JSON document without secrets."""
    from pytest_reflex.process.environment import redact
    from pytest_reflex.session.switched_off import find_reasons
    from pytest_reflex.settings import load

    found: dict[str, Any] = {"versions": _versions(), "problems": []}
    found["problems"] += find_reasons(project, os.environ)
    try:
        settings = load(project)
    except ReflexError as error:
        found["problems"] += map(str, error.problems)
        return found | {"extras": _extras()}
    found["problems"] += map(str, settings.unknown)
    found["configuration"] = _configuration(settings)
    _look_at_prompts(settings, project, found["problems"])
    _look_at_procedures(settings, project, found["problems"])
    with ThreadPoolExecutor(1) as pool:  # beside the probes, which wait for a model
        tools = pool.submit(_tools, settings)
        found["agents"] = _agents(settings, project, found["problems"], probes)
        found["tools"] = tools.result()
    found["extras"] = _extras()
    found["state"] = _state(project / settings["loop.root"], found["problems"])
    document: dict[str, Any] = json.loads(redact(json.dumps(found), secrets_of(settings)))
    return document


def _versions() -> dict[str, str]:
    import pytest

    from pytest_reflex import __version__

    return {
        "pytest_reflex": __version__,
        "python": platform.python_version(),
        "pytest": pytest.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "executable": sys.executable,
    }


def _configuration(settings: Settings) -> dict[str, Any]:
    from pytest_reflex.settings import Tier, global_path
    from pytest_reflex.settings.resolve import rows

    personal = global_path()
    given = [row.to_json() for row in rows(settings) if row.origin.tier is not Tier.DEFAULT]
    used = {one["file"] for one in given if one["tier"] == Tier.GLOBAL.value}
    return {
        "global": {"file": str(personal), "used": str(personal) in used},
        "workspace": {"file": str(settings.file) if settings.file else None},
        "values": given,
    }


def _look_at_prompts(settings: Settings, project: Path, problems: list[str]) -> None:
    from pytest_reflex.drivers.reflex.named_files import read_instructions

    for step, name in settings["loop.prompts"].items():
        try:
            read_instructions({step: name}, project)
        except ReflexError as error:
            problems += map(str, error.problems)


def _look_at_procedures(settings: Settings, project: Path, problems: list[str]) -> None:
    from pytest_reflex.drivers.iterate.procedures import find_procedure, gates_of, procedure_names

    found: list[str] = []
    for name in procedure_names(settings):
        try:
            gates_of(find_procedure(name, settings, project), settings)
        except ReflexError as error:
            found += map(str, error.problems)
    problems += dict.fromkeys(found)


def _agents(
    settings: Settings, project: Path, problems: list[str], probes: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the agents in use and those that are probed, with their steps."""
    from pytest_reflex.host import agent_kinds, agents_by_step, make_agent, open_host
    from pytest_reflex.model.steps import Askable

    steps: dict[str, list[str]] = {}
    for step, name in agents_by_step(settings, (), settings["loop.agents"]).items():
        steps.setdefault(name, []).append(step.value.lower())
    if settings["judge"]:
        steps.setdefault(settings["judge"], []).append("judge")
    found: list[dict[str, Any]] = []
    try:
        kinds = agent_kinds(open_host(settings["plugins"], project))
    except ReflexError as error:
        problems += map(str, error.problems)
        return [{"name": name, "steps": its} for name, its in steps.items()]
    asked: list[tuple[dict[str, Any], Agent]] = []
    for name in dict.fromkeys([*steps, *probes]):
        row: dict[str, Any] = {"name": name, "steps": steps.get(name, [])}
        found.append(row)
        try:
            agent = make_agent(name, settings, kinds)
        except ReflexError as error:
            problems += map(str, error.problems)
            continue
        row |= _agent(agent, problems)
        if name == settings["judge"] and not isinstance(agent, Askable):
            problems.append(f"LLM judge: agent {name!r} answers only the steps of a loop")
        if name in probes:
            asked.append((row, agent))
    for row, answer in zip((row for row, _ in asked), _probes(asked, problems), strict=True):
        row["probe"] = answer
    for name, table in settings["agents"].items():
        if name not in steps and name not in probes and table.get("kind", "") not in kinds:
            _look_at(name, settings, problems)
    return found


def _look_at(name: str, settings: Settings, problems: list[str]) -> None:
    """Name what is wrong with an agent that is configured and not in use."""
    from pytest_reflex.host import make_agent

    try:
        make_agent(name, settings, {})
    except ReflexError as error:
        problems += map(str, error.problems)


def _agent(agent: Agent, problems: list[str]) -> dict[str, Any]:
    """Return how an agent is run, and which variables it gets: names only."""
    from pytest_reflex.agents.command import CommandAgent
    from pytest_reflex.agents.environment import references

    if not isinstance(agent, CommandAgent):
        return {"kind": "built in or of a plugin"}
    referred = [name for item in agent.words for name in references(item)]
    for name in referred:
        if name not in os.environ:
            problems.append(
                f"agent {agent.name!r}: the command names ${name}, which is not set "
                "(set it in the environment)"
            )
    variables = {name: name in os.environ for name in (*agent.env, *referred)}
    return {
        "kind": "command",
        "command": list(agent.command_for(may_edit=False)),
        "edits": list(agent.command_for(may_edit=True)) if agent.can_edit else None,
        "timeout": agent.timeout,
        "price": "told" if agent.cost else "unknown",
        "tokens": "told" if agent.tokens else "unknown",
        "variables": variables,
    }


def _probes(
    asked: list[tuple[dict[str, Any], Agent]], problems: list[str]
) -> Iterable[dict[str, Any]]:
    """Ask agents side by side; a single one here, where Ctrl-C ends it at once."""
    agents = [agent for _, agent in asked]
    if len(agents) < 2:
        return [_probe(agent, problems) for agent in agents]
    with ThreadPoolExecutor(len(agents)) as pool:
        return list(pool.map(lambda agent: _probe(agent, problems), agents))


def _probe(agent: Agent, problems: list[str]) -> dict[str, Any]:
    """Ask an agent for a plan, once, for a few seconds and without waiting for a limit."""
    from pytest_reflex.agents.command import CommandAgent
    from pytest_reflex.agents.probe import ask_for_a_plan
    from pytest_reflex.agents.rate_limit import RetryPolicy
    from pytest_reflex.reports.run_lines import refusal

    say(f"Asking {agent.name} one question ...")
    if isinstance(agent, CommandAgent):
        if agent.timeout > PROBE_SECONDS:
            agent = replace(agent, timeout=PROBE_SECONDS, timeout_of="a probe does not wait longer")
        agent = replace(agent, retry=RetryPolicy(tries=1), grace=min(agent.grace, 1.0))
    answer, problem = ask_for_a_plan(agent)
    if problem:
        is_stream = answer.error and isinstance(agent, CommandAgent) and agent.answer.path
        reason = refusal(problem, "" if is_stream else answer.text)
        problems.append(f"agent {agent.name!r} did not answer as it should: {reason}")
    return {
        "answers": not problem,
        "seconds": round(answer.seconds, 1),
        "usd": answer.usd,
        "tokens": answer.tokens,
    }


def _tools(settings: Settings) -> list[dict[str, Any]]:
    """Return the programs of all presets and of the configured agents."""
    from pytest_reflex.agents.presets import preset, preset_names
    from pytest_reflex.agents.probe import look

    programs = [preset(name)["command"][0] for name in preset_names()]
    programs += _programs(settings["agents"].values())
    return [asdict(tool) for tool in look(programs)]


def _programs(tables: Any) -> Iterator[str]:
    import shlex

    for table in tables:
        command = table.get("command")
        try:
            words = shlex.split(command) if isinstance(command, str) else command
        except ValueError:
            continue
        first = words[0] if isinstance(words, list) and words else ""
        if isinstance(first, str) and first and "$" not in first and "{" not in first:
            yield first


def _extras() -> list[dict[str, Any]]:
    """Return every extra, with the parts of it that cannot be imported."""
    from pytest_reflex.model.extras import EXTRAS

    found = []
    for extra in EXTRAS:
        broken = extra.broken_distributions()
        row = {"name": extra.name, "installed": not broken, "parts": list(extra.parts.values())}
        found.append(
            {**row, "missing": list(broken), "install": extra.install, "without": extra.without}
        )
    return found


def _describe_recoveries(root: Path) -> list[str]:
    """Return what a crash left in histories of loops that took no event with it."""
    from pytest_reflex.drivers.reflex.survey import survey

    return [line for one in survey(root) if one.run for line in one.run.recovered]


def _state(root: Path, problems: list[str]) -> dict[str, Any]:
    """Return whether runs can be kept in their folder, or in what is there of the way to it."""
    from pytest_reflex.storage.files import is_remote, kind_of, nearest_folder, why_no_lock

    folder = nearest_folder(root)
    mode = os.W_OK | os.X_OK
    writable = os.access(folder, mode, effective_ids=os.access in os.supports_effective_ids)
    found: dict[str, Any] = {"root": str(root), "writable": writable, "locks": None}
    found["file_system"] = kind = kind_of(folder)
    found["recovered"] = _describe_recoveries(root)
    found["remote"] = is_remote(kind)
    if not writable:
        problems.append(f"{root}: no run can be kept there: {folder} is not writable")
        return found
    why = why_no_lock(folder)
    found["locks"] = not why
    if why:
        problems.append(f"{folder}: files cannot be locked there: {why} (set loop.root elsewhere)")
    return found
