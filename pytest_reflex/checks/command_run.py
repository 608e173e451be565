"""Running the command of a check: its keys, its environment, and why it may be no verdict."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.checks.blocks_folder import BlocksFolder
from pytest_reflex.checks.command import Command
from pytest_reflex.checks.options import REQUIRED, SECONDS, TEXT, TEXTS, Kind
from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import LEFT_CHILDREN
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckCommand, CheckContext, Decides
from pytest_reflex.process.capture import KEPT
from pytest_reflex.process.run import Finished, run

TIMEOUT = 60.0

ARTIFACT_VARIABLE = "PYTEST_REFLEX_ARTIFACT"
BLOCKS_VARIABLE = "PYTEST_REFLEX_BLOCKS"


def is_command(value: Any) -> bool:
    """Return whether a value is a text for a shell, or a list of program and arguments."""
    if isinstance(value, str):
        return bool(value.strip()) and "\0" not in value
    if not isinstance(value, Sequence) or not value:
        return False
    return all(isinstance(part, str) and "\0" not in part for part in value) and bool(value[0])


def _is_shell(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(shlex.split(value)) and "\0" not in value
    except ValueError:
        return False


COMMAND_KINDS = {
    "command": Kind(
        "a command for the shell, or a list of program and arguments",
        is_command,
        schema={
            "anyOf": [
                TEXT.schema,
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        },
    ).means("what is run; no shell sees a list", REQUIRED),
    "shell": Kind(
        "a program with its options, quoted as in a shell", _is_shell, schema=TEXT.schema
    ).means("the shell for a text; `bash-strict` is `bash -euo pipefail`", "`bash`, else `sh`"),
    "writes": TEXTS.means(
        "globs of the files in the project that it writes: in a loop it may change no others"
    ),
    "timeout": SECONDS.means(
        "after it the command and all it started are killed: an `error`", f"{TIMEOUT:g}"
    ),
}


def shell_problems(spec: CheckSpec, params: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with `shell` beside the command that it is for."""
    if "shell" in params and not isinstance(params.get("command", ""), str):
        yield Problem(
            message="shell goes with a command that is a text, not a list",
            place=spec.place,
            hint="a list is run without a shell",
            path=("shell",),
        )


def check_command(
    command: Command, params: Mapping[str, Any], decides: Decides, tries: int = 1
) -> CheckCommand:
    """Return what `run_command` starts for the settled parameters of a check."""
    written = params["command"]
    return CheckCommand(
        argv=command.argv,
        written=written if isinstance(written, str) else tuple(written),
        shell=params.get("shell", ""),
        decides=decides,
        timeout=float(params.get("timeout", TIMEOUT)),
        tries=tries,
        environment=(ARTIFACT_VARIABLE, BLOCKS_VARIABLE),
    )


def written_by(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return globs of the files that settled parameters say are written."""
    globs, report = params.get("writes", ()), params.get("report")
    return (*((globs,) if isinstance(globs, str) else globs), *((report,) if report else ()))


def in_words(params: Mapping[str, Any]) -> str:
    """Return the command of a check for people, on one line."""
    command = params.get("command")
    return command if isinstance(command, str) else shlex.join(map(str, command or ()))


def run_command(
    command: Command,
    environment: Mapping[str, str],
    timeout: float,
    artifact: Artifact,
    context: CheckContext,
    keep: int = KEPT,
) -> Finished:
    """Run a command on an artifact; `keep` bytes of the beginning of its output are kept.

    Raises SpawnError where it cannot be started.
    """
    files = [file.path for file in artifact.files or (artifact,)]
    if programs := [path for path in files if path.suffix == ".py"]:
        from pytest_reflex.process.bytecode import remove_stale

        remove_stale(programs)
    blocks = context.blocks or BlocksFolder(artifact)
    own = {ARTIFACT_VARIABLE: os.fspath(artifact.path), BLOCKS_VARIABLE: str(blocks())}
    return run(
        command.argv,
        cwd=context.root,
        env={**environment, **context.environment, **own},
        timeout=timeout,
        head=keep,
        cancel=context.cancel,
    )


def stopped(finished: Finished, command: Command, timeout: float) -> str:
    """Return why a command did not come to its end; empty where it did."""
    if finished.timed_out:
        return f"it ran longer than {timeout:g} s and was stopped ({command.text})"
    if finished.cancelled:
        return "it was stopped because the session ended"
    return "it wrote too much and was stopped" if finished.overflow else ""


LEFT_TEXT = f"{LEFT_CHILDREN}: processes that it started were still running, and were killed"


def remarks(finished: Finished) -> Iterator[str]:
    """Yield what else is to be told of a command that ran."""
    if finished.left_children:
        yield LEFT_TEXT
    if finished.truncated:
        total = finished.stdout_total + finished.stderr_total
        yield f"output truncated: {total} bytes, beginning and end were kept"
