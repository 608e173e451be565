"""What a check will run, shown without running it: engine, command line, folder, time-outs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.model.judged import Judge
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.targets import CheckCommand, CheckContext, CompiledCheck
from pytest_reflex.search.patterns import LONG, Engine, Pattern

ENGINE_WORDS = {
    Engine.TEXT: "the text is looked up as it stands",
    Engine.RE2: f"re2 beyond {LONG} characters, and where re could take long",
    Engine.RE: "re; in a worker process where it could take long",
    Engine.WORKER: "re in a worker process that is killed at its deadline",
}
_SECONDS = CheckContext(root=Path()).pattern_seconds
OF_COMMAND = ("command", "shell", "timeout", "retries")
"""Parameters that are reported with the command."""


def preview(check: CompiledCheck, rule: Rule, root: Path, judge: Judge | None) -> dict[str, Any]:
    """Return what will run for a check of a rule, as plain data; `type` says its kind.

    `root` is the working directory of commands, `judge` the LLM judge.
    """
    if check.alternatives:
        each = [preview(one, rule, root, judge) for one in check.alternatives]
        return {"type": check.spec.type, "one_of": each}
    known = check.preview or _parameters(check)
    found = {"type": check.spec.type, **known(rule, judge)}
    commands = [_describe_command(one, root) for one in check.commands]
    if len(commands) == 1:
        return found | commands[0]
    return found | ({"commands": commands} if commands else {})


def _parameters(check: CompiledCheck) -> Any:
    return lambda rule, judge: {"parameters": dict(check.spec.params)}


def without(params: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Return parameters but some."""
    return {key: value for key, value in params.items() if key not in keys}


def describe_search(pattern: Pattern) -> dict[str, Any]:
    """Return what is to be known of a search."""
    engine = pattern.engine
    return {
        "search": pattern.source,
        "engine": engine.value,
        "engine_is": ENGINE_WORDS[engine],
        "timeout": _SECONDS,
    }


def _describe_command(command: CheckCommand, root: Path) -> dict[str, Any]:
    return {
        "argv": list(command.argv),
        "cwd": command.cwd or str(root),
        "timeout": command.timeout,
        "retries": command.tries - 1,
        "environment": list(command.environment),
    }
