"""What a check will run, told without running it: engine, command line, folder, time-outs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks import content, executable, findings, structure
from pytest_reflex.checks.askings import asking
from pytest_reflex.checks.commands import commands_of
from pytest_reflex.model.judged import JUDGED
from pytest_reflex.model.rules import CheckSpec, Rule
from pytest_reflex.model.targets import CheckCommand, CheckContext
from pytest_reflex.search.patterns import LONG, Engine, compile_pattern

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

ENGINE_WORDS = {
    Engine.TEXT: "the text is looked up as it stands",
    Engine.RE2: f"re2 beyond {LONG} characters, and where re could take long",
    Engine.RE: "re; in a worker process where it could take long",
    Engine.WORKER: "re in a worker process that is killed at its deadline",
}
_SECONDS = CheckContext(root=Path()).pattern_seconds
_OF_COMMAND = ("command", "shell", "timeout", "retries")


def planned(
    spec: CheckSpec, rule: Rule, variables: Mapping[str, Any], root: Path, registry: Registry
) -> dict[str, Any]:
    """Return what will run for a valid check of a rule, as plain data; `type` says its kind.

    `root` is the working directory of commands. Of a kind that a plugin brings, its parameters and
    the commands that it says are all that is known.
    """
    if alternatives := spec.alternatives:
        each = [planned(one, rule, variables, root, registry) for one in alternatives]
        return {"type": spec.type, "one_of": each}
    if spec.type == JUDGED:
        return {"type": spec.type, **asking(spec, rule, variables, registry.judge).to_json()}
    found = {"type": spec.type, **_looked_at(spec, variables)}
    commands = [_started(one, root) for one in commands_of(spec, variables, registry)]
    if len(commands) == 1:
        return found | commands[0]
    return found | ({"commands": commands} if commands else {})


def _looked_at(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of a check beside its commands."""
    if spec.type == "content":
        return _content(spec, variables)
    if spec.type == "executable":
        return _executable(spec, variables)
    if spec.type == "structure":
        return _structure(spec, variables)
    if spec.type == "findings":
        return {"options": _without(findings.settled(spec, variables), _OF_COMMAND)}
    if spec.type == "code":
        from pytest_reflex.checks.code.check import settled

        return {"options": _without(settled(spec, variables), _OF_COMMAND)}
    return {"parameters": dict(spec.params)}


def _without(params: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key not in keys}


def _started(command: CheckCommand, root: Path) -> dict[str, Any]:
    return {
        "argv": list(command.argv),
        "cwd": command.cwd or str(root),
        "timeout": command.timeout,
        "retries": command.tries - 1,
        "environment": list(command.environment),
    }


def _content(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    params = content.settled(spec, variables)
    pattern = content.pattern_of(spec, params)
    return {
        **_searched(pattern.engine, pattern.source),
        "options": _without(params, ("search",)),
    }


def _searched(engine: Engine, source: str) -> dict[str, Any]:
    return {
        "search": source,
        "engine": engine.value,
        "engine_is": ENGINE_WORDS[engine],
        "timeout": _SECONDS,
    }


def _executable(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    params = executable.settled(spec, variables)
    found: dict[str, Any] = {"expect_exit": params["expect_exit"]}
    if output := params.get("expect_output"):
        pattern = compile_pattern(output, key="expect_output", place=spec.place)
        found["expect_output"] = _searched(pattern.engine, pattern.source)
    return found


def _structure(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    kind, params = structure.settled(spec, variables)
    found: dict[str, Any] = {"engine": f"structure ({kind.key})", "options": params}
    if isinstance(matches := params.get("matches"), str):
        pattern = compile_pattern(matches, key="matches", place=spec.place)
        found["matches"] = _searched(pattern.engine, pattern.source)
    return found
