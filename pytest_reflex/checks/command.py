"""The command line of an executable check: an argv, or a text for a shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.model.plain import one_line

NOT_EXECUTABLE, NOT_FOUND = 126, 127
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]*")
# What a shell does itself, or reads as its own word.
_SHELL_WORDS = """
alias bg bind break builtin case cd command continue declare dirs disown do done echo elif else
enable esac eval exec exit export false fc fg fi for function getopts hash help history if jobs kill
let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt
source suspend test then time times trap true type typeset ulimit umask unalias unset until wait
while
"""
_OF_SHELL = frozenset(_SHELL_WORDS.split())
# Ends with the first command that fails, the unset variable, the failure within a pipeline.
_STRICT = {"bash-strict": "bash -euo pipefail"}


@dataclass(frozen=True, slots=True)
class Command:
    """What is run: `argv` as it goes to the system; `text` is how the rule wrote it.

    `is_text` where a shell runs it, which tells the death of its commands as 128 + signal.
    """

    argv: tuple[str, ...]
    text: str
    is_text: bool = False

    def trouble(self, returncode: int | None) -> str:
        """Return why an exit status is not a verdict of the command, empty where it is one."""
        if returncode is None:
            return "its exit status was lost: another part of this process reaped it"
        if returncode < 0:
            return f"it was ended by {signal_name(-returncode)}"
        if returncode == NOT_FOUND:
            return "exit status 127: a command was not found"
        if returncode == NOT_EXECUTABLE:
            return "exit status 126: a command could not be executed"
        if self.is_text and returncode - 128 in signal.valid_signals():
            return (
                f"exit status {returncode}: a command was ended by {signal_name(returncode - 128)}"
            )
        return ""


def command_of(value: str | Sequence[str], shell: str, environment: Mapping[str, str]) -> Command:
    """Return the command for a text (run as `SHELL -c TEXT`) or a list (run as it is).

    `shell` may have options ("bash -o pipefail"), or be "bash-strict"; without it, bash is taken
    where it is on the PATH, else sh. Nothing is ever put into the text: braces, dollars and percent
    signs reach the shell byte for byte.
    """
    path = environment.get("PATH")
    if not isinstance(value, str):
        argv = tuple(value)
        return Command(argv, one_line(" ".join(argv)))
    if not shell:
        shell = "bash" if shutil.which("bash", path=path) else "sh"
    argv = (*shlex.split(_STRICT.get(shell, shell)), "-c", value)
    return Command(argv, one_line(value), is_text=True)


def named_argv(command: Mapping[str, Any], args: Mapping[str, Any]) -> list[str] | None:
    """Return the argv of a declared command; None where the arguments are not the declared ones.

    Only a whole item such as ``{file}`` is replaced, and never through a shell.
    """
    names = command.get("args", [])
    if set(args) != set(names) or not all(isinstance(value, str) for value in args.values()):
        return None
    if any(value.startswith("-") for value in args.values()):
        return None
    places = {"{" + name + "}": args[name] for name in names}
    return [places.get(item, item) for item in command["argv"]]


def missing_program(value: str | Sequence[str], path: str | None = None) -> str:
    """Return the program that a command begins with where it is not installed, else nothing.

    Of a text for a shell that is its first word, where that is plainly a program; one given by its
    path may be made before it is run.
    """
    if isinstance(value, str):
        word = value.split(None, 1)[0] if value.strip() else ""
        program = word if _PROGRAM.fullmatch(word) and word not in _OF_SHELL else ""
    else:
        program = value[0] if value else ""
    if not program.strip() or os.sep in program or "\0" in program:
        return ""
    return "" if shutil.which(program, path=path) else program


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
