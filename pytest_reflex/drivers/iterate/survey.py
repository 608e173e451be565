"""What `iterate list` and `iterate info` know: procedures as plain data, problems among it.

The list imports nothing that runs agents or gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.drivers.iterate.model import Fragment, IterationGate, Phase, Procedure
from pytest_reflex.drivers.iterate.procedures import (
    BUILT_IN,
    KEY,
    find_procedure,
    gates_of,
    is_over,
    procedure_names,
    resolve_agent,
    resolve_bounds,
    resolve_timeout,
    tokens_of,
)
from pytest_reflex.drivers.iterate.prompt import compose, text_of
from pytest_reflex.errors import ReflexError
from pytest_reflex.settings import Settings

if TYPE_CHECKING:
    from pytest_reflex.host import Host


def all_procedures(settings: Settings, project: Path) -> list[dict[str, Any]]:
    """Return a row for each procedure; one that cannot be used has a `problem`."""
    return [_row(name, settings, project) for name in procedure_names(settings)]


def _row(name: str, settings: Settings, project: Path) -> dict[str, Any]:
    try:
        found = find_procedure(name, settings, project)
    except ReflexError as error:
        origin = str(settings.origins.get(f"{KEY}.{name}", BUILT_IN))
        return {"name": name, "origin": origin, "description": "", "problem": str(error)}
    return {"name": name, "origin": found.origin, "description": found.description}


def one_procedure(name: str, settings: Settings, host: Host, project: Path) -> dict[str, Any]:
    """Return all that is known of a procedure before it runs; raises ReflexError where it cannot.

    An agent that cannot be used, and a gate that there is not, are reported and keep nothing back.
    """

    procedure = find_procedure(name, settings, project)
    bounds = (*resolve_bounds(procedure, settings), resolve_timeout(procedure, settings))
    total = next(one.value for one in bounds if one.name == "max_iterations")
    budget = settings["iterate.token_budget"]
    tokens = tokens_of(compose(procedure, number=1, total=total), host.hooks)
    return {
        "name": name,
        "description": procedure.description,
        "origin": procedure.origin,
        "success": procedure.success,
        "failure": procedure.failure,
        "agent": _agent(procedure, settings, host),
        "prompt": {"tokens": tokens, "budget": budget, "over": is_over(tokens, budget)},
        "bounds": [{"name": b.name, "value": b.value, "origin": b.origin} for b in bounds],
        "gates": gate_rows(procedure, settings),
        "phases": {
            phase.value: [_fragment(one) for one in procedure.phases[phase]] for phase in Phase
        },
    }


def _agent(procedure: Procedure, settings: Settings, host: Host) -> dict[str, Any]:
    from pytest_reflex.agents.probe import command_text
    from pytest_reflex.drivers.iterate.initial_state import IterateOptions
    from pytest_reflex.drivers.iterate.setup import agent_for

    chosen = resolve_agent(procedure, settings)
    found = {"name": chosen.value, "origin": chosen.origin, "command": None, "problem": None}
    try:
        agent = agent_for(procedure, IterateOptions(), settings, host)
        return found | {"command": command_text(agent, may_edit=True)}
    except ReflexError as error:
        return found | {"problem": str(error)}


def gate_rows(procedure: Procedure, settings: Settings) -> list[dict[str, Any]]:
    """Return what is known of the gates of a procedure; one that there is not has a `problem`."""
    try:
        gates = gates_of(procedure, settings)
    except ReflexError as error:
        return [{"name": problem.message, "problem": str(problem)} for problem in error.problems]
    return [_gate(gate, settings) for gate in gates]


def _gate(gate: IterationGate, settings: Settings) -> dict[str, Any]:
    command: Any = list(gate.command) if isinstance(gate.command, tuple) else gate.command
    return {
        "name": gate.name,
        "kind": gate.kind,
        "command": command,
        "criteria": gate.criteria or None,
        "artifacts": list(gate.artifacts),
        "required": gate.required,
        "timeout": gate.timeout,
        "protect": list(gate.protect),
        "progress": gate.progress,
        "max_files": gate.max_files,
        "max_lines": gate.max_lines,
        "deny": list(gate.deny),
        "origin": str(settings.origins[f"iterate.gates.{gate.name}"]),
    }


def _fragment(fragment: Fragment) -> Mapping[str, Any]:
    text = text_of(fragment)
    path = fragment.path
    return {
        "path": Path(path).name if path and fragment.origin == BUILT_IN else path,
        "characters": len(text),
        "begins": text.strip().partition("\n")[0],
        "parameters": dict(fragment.parameters),
        "origin": fragment.origin,
    }
