"""Warnings about the commands of checks, also those that a shell cannot parse."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from pytest_reflex.criteria.diagnostics import Diagnostics, Table, quote
from pytest_reflex.criteria.linting.diagnostic import Diagnostic, warning
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.targets import CheckCommand, CompiledCheck, Decides
from pytest_reflex.process.run import run
from pytest_reflex.process.spawn import SpawnError

SECONDS = 5.0
LONGEST = 100_000

_PARSERS = ("", "bash", "bash-strict")
_PREFIX = re.compile(r"^.*?: (?:-c: )?line \d+: ")


def syntax_fault(command: str, shell: str) -> str:
    """Return what bash says against a command that it cannot parse; empty where it prints nothing.

    Other shells are not asked: what they understand is another language.
    """
    bash = shutil.which("bash")
    if shell not in _PARSERS or not bash or "\0" in command or len(command) > LONGEST:
        return ""
    return _fault(command, bash)


@lru_cache(maxsize=1000)
def _fault(command: str, bash: str) -> str:
    # Without these variables: BASH_ENV names a file that would be read first.
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    try:
        finished = run(
            [bash, "-n", "-c", command],
            cwd=Path.cwd(),
            env=environment,
            timeout=SECONDS,
            grace=0.5,
            hard_cap=1_000_000,
        )
    except (SpawnError, OSError):
        return ""
    if finished.stopped or finished.returncode in (0, None):
        return ""
    lines = finished.stderr.decode("utf-8", "replace").splitlines()
    return one_line(_PREFIX.sub("", lines[0]), 120) if lines else ""


LONG = 600

_SUCCEEDS = re.compile(
    r"\s*(?:true|:|exit\s+0)\s*|.*(?:\|\||;)\s*(?:true|:|exit\s+0)\s*", re.DOTALL
)
_SAYS_ALWAYS = re.compile(r"\s*(?:true|:|exit\s+0|(?:echo|printf)\b[^$`;&|<>]*)\s*")
_PASTED = re.compile(r"\{\w*\}|%s")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "busybox")
_PIPE = re.compile(r"(?<!\|)\|(?![|&])")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_GIVEN = ("PYTEST_REFLEX_ARTIFACT", "PYTEST_REFLEX_BLOCKS")


def command_warnings(
    check: CompiledCheck, table: Table, diagnostics: Diagnostics, rule_id: str
) -> Iterator[Diagnostic]:
    """Yield what is odd about the commands that a check runs as its author wrote them."""
    for command in check.commands:
        if command.written and command.decides:
            yield from _of_command(command, table, diagnostics, rule_id)


def _of_command(
    command: CheckCommand, table: Table, diagnostics: Diagnostics, rule_id: str
) -> Iterator[Diagnostic]:
    written, spot = command.written, table.at("command")
    if isinstance(written, str) and (fault := syntax_fault(written, command.shell)):
        message = f"bash cannot read {quote(written)}: {fault}"
        hint = "it fails for every artifact: fix the command"
        yield warning("broken-command", message, diagnostics, spot, hint=hint, rule_id=rule_id)
        return
    for code, message, hint in _odd(command):
        yield warning(code, message, diagnostics, spot, hint=hint, rule_id=rule_id)
    if command.timeout > LONG:
        message = f"the command may take {command.timeout:g} seconds at each evaluation"
        yield warning("long-timeout", message, diagnostics, table.at("timeout"), rule_id=rule_id)


def _odd(of_check: CheckCommand) -> Iterator[tuple[str, str, str]]:
    command = of_check.written
    text = command if isinstance(command, str) else " ".join(command)
    counted = of_check.decides is Decides.REPORT
    if counted and _SAYS_ALWAYS.fullmatch(text):
        hint = "let a tool look at the artifact"
        yield "cannot-fail", f"{quote(text)} reports the same for every artifact", hint
    elif of_check.decides is Decides.SUCCESS and _succeeds(command):
        hint = "leave out what hides the exit status"
        yield "cannot-fail", f"{quote(text)} succeeds for every artifact", hint
    elif not any(name in text for name in _GIVEN):
        message = f"{quote(text)} does not name the artifact"
        if found := _PASTED.search(text):
            message += f": nothing is put in place of {found[0]}"
        hint = 'its path is in "$PYTEST_REFLEX_ARTIFACT", its blocks in "$PYTEST_REFLEX_BLOCKS"'
        yield "ignores-artifact", message, hint
    elif not isinstance(command, str) and (word := _find_unexpanded(command)):
        message = f"a list sees no shell: {quote(word)} stays as it is"
        yield "no-shell", message, "write the command as a text"
    if counted or not isinstance(command, str):
        return
    if not of_check.shell and _PIPE.search(_QUOTED.sub("", command)):
        message = f"of {quote(text)} only the last part of the pipe decides"
        yield "hidden-failure", message, "add shell: bash-strict"


def _find_unexpanded(command: tuple[str, ...]) -> str:
    """Return the word that stands for the artifact in a list, which no shell fills in."""
    if any(word.rpartition("/")[2] in _SHELLS for word in command):
        return ""
    wanted = tuple(sign.format(name) for name in _GIVEN for sign in ("${}", "${{{}}}"))
    return next((word for word in command if any(w in word for w in wanted)), "")


def _succeeds(command: str | tuple[str, ...]) -> bool:
    if isinstance(command, str):
        return bool(_SUCCEEDS.fullmatch(command))
    return command[:1] == ("true",)
