"""Run a tool of the extra `code` over the Python files of an artifact."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_reflex.checks.code.sources import CodeInput
from pytest_reflex.model.targets import CheckCommand, CheckContext
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.guard import temporary_folder
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError

_MOST_OUTPUT = 20_000_000
_OWN_VARIABLES = ("PYTHONDONTWRITEBYTECODE", "NO_COLOR")
COPIES = "<a folder with copies of the Python files>"


class ToolError(Exception):
    """The tool gave no verdict; the message says why."""


@contextmanager
def copy_sources(reading: CodeInput, below: str = "") -> Iterator[Path]:
    """Yield a folder that holds copies of the Python files, and nothing that could configure.

    They lie in `below`, a relative path.
    The time of a copy is made of its content: a tool that remembers a file by its size and second
    does not take a new text for the one it knows.
    """
    with temporary_folder("reflex-code-") as folder:
        for source in reading.sources:
            path = folder / below / source.name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = source.text.encode("utf-8")
            path.write_bytes(data)
            os.utime(path, (second := _second_of(data), second))
        yield folder


def _second_of(data: bytes) -> int:
    """Return a time that belongs to the content, in the 31 bits that every file system keeps."""
    return int.from_bytes(hashlib.sha256(data).digest()[:4]) >> 1


def module_command(
    tool: str, arguments: Sequence[str], params: Mapping[str, Any], environment: Sequence[str] = ()
) -> CheckCommand:
    """Return what `run_module` starts: `python -m TOOL`, which imports nothing of its folder."""
    return python_command(("-P", "-m", tool, *arguments), params, environment=environment)


def python_command(
    arguments: Sequence[str],
    params: Mapping[str, Any],
    *,
    cwd: str = COPIES,
    environment: Sequence[str] = (),
    runs_artifact: bool = False,
) -> CheckCommand:
    """Return what is started for a tool: this Python with the arguments."""
    return CheckCommand(
        argv=(sys.executable, *arguments),
        cwd=cwd,
        timeout=params["timeout"],
        environment=(*_OWN_VARIABLES, *environment),
        runs_artifact=runs_artifact,
    )


def run_module(
    tool: str,
    arguments: Sequence[str],
    reading: CodeInput,
    context: CheckContext,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run `python -m TOOL`; raises ToolError where it did not come to its own end."""
    command = module_command(tool, arguments, reading.params)
    return run_tool(tool, command, context, folder, environment)


def run_tool(
    tool: str,
    command: CheckCommand,
    context: CheckContext,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run the command of a tool; raises ToolError where it did not come to its own end."""
    own = {**dict.fromkeys(_OWN_VARIABLES, "1"), **(environment or {})}
    timeout = command.timeout
    try:
        finished = run(
            command.argv,
            cwd=os.fspath(folder),
            env={**copy_environment(), **own},
            timeout=timeout,
            head=_MOST_OUTPUT,
            cancel=context.cancel,
        )
    except SpawnError as error:
        raise ToolError(str(error)) from None
    if finished.timed_out:
        raise ToolError(f"{tool} ran longer than {timeout:g} s and was stopped")
    if finished.stopped or finished.truncated:
        raise ToolError(f"{tool} was stopped, or wrote too much")
    if finished.returncode is None or finished.returncode < 0:
        raise ToolError(f"{tool} was ended from outside")
    return finished
