"""What a check will run, told without running it: engine, command line, folder, time-outs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.checks import content, executable, findings, structure
from pytest_reflex.checks.command import command_of
from pytest_reflex.checks.options import settle
from pytest_reflex.checks.search.patterns import LONG, Engine, compile_pattern
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.process.environment import inherited

ENGINE_WORDS = {
    Engine.TEXT: "the text is looked up as it stands",
    Engine.RE2: f"re2 beyond {LONG} characters, and where re could take long",
    Engine.RE: "re; in a worker process where it could take long",
    Engine.WORKER: "re in a worker process that is killed at its deadline",
}
_SECONDS = CheckContext(root=Path()).pattern_seconds


def planned(spec: CheckSpec, variables: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Return what will run for a valid check, as plain data; `type` says which kind it is.

    `root` is the working directory of commands. Of a kind that a plugin brings, its parameters are
    all that is known.
    """
    if spec.type == "content":
        return {"type": spec.type, **_content(spec, variables)}
    if spec.type == "executable":
        return {"type": spec.type, **_executable(spec, variables, root)}
    if spec.type == "structure":
        return {"type": spec.type, **_structure(spec)}
    if spec.type == "findings":
        return {"type": spec.type, **_findings(spec, variables, root)}
    if alternatives := spec.alternatives:
        return {"type": spec.type, "one_of": [planned(a, variables, root) for a in alternatives]}
    return {"type": spec.type, "parameters": dict(spec.params)}


def _content(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    params = settle(spec, content.KINDS, variables, required=("search",))
    pattern = content.pattern_of(spec, params)
    others = {key: value for key, value in params.items() if key != "search"}
    return {**_searched(pattern.engine, pattern.source), "options": others}


def _searched(engine: Engine, source: str) -> dict[str, Any]:
    return {
        "search": source,
        "engine": engine.value,
        "engine_is": ENGINE_WORDS[engine],
        "timeout": _SECONDS,
    }


def _executable(spec: CheckSpec, variables: Mapping[str, Any], root: Path) -> dict[str, Any]:
    params = settle(spec, executable.KINDS, variables, required=("command",))
    command = command_of(params["command"], params.get("shell", ""), inherited())
    found: dict[str, Any] = {
        "argv": list(command.argv),
        "cwd": str(root),
        "timeout": float(params.get("timeout", executable.TIMEOUT)),
        "retries": params.get("retries", 0),
        "expect_exit": params.get("expect_exit", 0),
        "environment": [executable.ARTIFACT_VARIABLE, executable.BLOCKS_VARIABLE],
    }
    if output := params.get("expect_output"):
        pattern = compile_pattern(output, key="expect_output", place=spec.place)
        found["expect_output"] = _searched(pattern.engine, pattern.source)
    return found


def _findings(spec: CheckSpec, variables: Mapping[str, Any], root: Path) -> dict[str, Any]:
    params = settle(spec, findings.KINDS, variables, required=("command", "format"))
    command = command_of(params["command"], params.get("shell", ""), inherited())
    of_command = ("command", "shell", "timeout")
    return {
        "argv": list(command.argv),
        "cwd": str(root),
        "timeout": float(params.get("timeout", executable.TIMEOUT)),
        "environment": [executable.ARTIFACT_VARIABLE, executable.BLOCKS_VARIABLE],
        "options": {key: value for key, value in params.items() if key not in of_command},
    }


def _structure(spec: CheckSpec) -> dict[str, Any]:
    kind = next(key for key in spec.params if key in structure.KINDS)
    found: dict[str, Any] = {"engine": f"structure ({kind})", "parameters": dict(spec.params)}
    if isinstance(matches := spec.params.get("matches"), str):
        pattern = compile_pattern(matches, key="matches", place=spec.place)
        found["matches"] = _searched(pattern.engine, pattern.source)
    return found
