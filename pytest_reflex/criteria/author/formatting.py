"""Formatters: fixes that run a command of the criteria on a copy of the text.

Promises: only a command that the criteria declare is run, without a shell, on a copy in a private
folder that is removed; bounded in time and output, and its whole process group is ended. A command
that fails in any way leaves the text as it was, with the reason in one line; nothing that it was
given as a secret is reported, or comes into the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from pytest_reflex.checks.command import TIMEOUT, Command, find_argv, stop_message
from pytest_reflex.errors import ReflexError, did_you_mean
from pytest_reflex.fixes.kind import FILE, STDOUT, FixError
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import FORMAT, Fix, Rule
from pytest_reflex.model.targets import CheckCommand
from pytest_reflex.process.environment import copy_environment, redact, redact_ends, secrets
from pytest_reflex.process.guard import temporary_folder
from pytest_reflex.process.run import Finished, run
from pytest_reflex.storage.files import read_file

MOST_BYTES = 20_000_000
"""How large a formatted text may be."""

_FILE = "{file}"
_LAST_BYTES = 2_000  # bytes of what a command that failed said last


@dataclass(frozen=True, slots=True, kw_only=True)
class Formatting:
    """Runs the declared commands on texts that are called `name`, in the folder `root`.

    `cancel` ends a command that runs.
    """

    commands: Mapping[str, Any]
    name: str
    root: Path
    cancel: Event | None = None

    def __call__(self, params: Mapping[str, Any], text: str) -> str:
        """Return what the command of a fix makes of a text; raises FixError with the reason."""
        for _, message, hint in misfits(params, self.commands):
            raise FixError(message, hint=hint)
        hidden = secrets(ours := copy_environment(), ours, ())
        try:
            new = self._run_formatter(params, text, ours)
        except ReflexError as error:
            said = redact(error.problems[0].message, hidden)
            raise FixError(f"format: {params['command']}: {one_line(said, 300)}") from None
        for value, name in hidden.items():
            if redact(new, {value: name}) != new and redact(text, {value: name}) == text:
                raise FixError(f"format: {params['command']} put the value of {name} into the text")
        return new

    def _run_formatter(self, params: Mapping[str, Any], text: str, env: Mapping[str, str]) -> str:
        command = self.commands[params["command"]]
        by_stdout = params.get("output", FILE) == STDOUT
        with temporary_folder("reflex-format-") as folder, _open_folder(folder) as held:
            copy = folder / (Path(self.name).name or "artifact")
            copy.write_bytes(data := text.encode())
            argv = _argv(params, command, str(copy))
            finished = run(
                argv,
                cwd=self.root,
                env=env,
                stdin=data if by_stdout and _FILE not in command["argv"] else None,
                timeout=_timeout(command),
                head=MOST_BYTES,
                hard_cap=2 * MOST_BYTES,
                cancel=self.cancel,
            )
            try:
                _look_at(finished, Command(tuple(argv), params["command"]), _timeout(command))
                return _text(finished.stdout if by_stdout else _read(copy, held))
            except FixError as error:
                raise FixError(_without(folder, error.problems[0].message)) from None


def formatters_of(
    rules: Iterable[Rule], commands: Mapping[str, Any]
) -> Iterator[tuple[Rule, Fix, CheckCommand]]:
    """Yield what the fixes of rules run, each with its rule; `{file}` stands for the copy."""
    for rule in rules:
        for fix in rule.fixes:
            if fix.kind == FORMAT and not any(misfits(fix.params, commands)):
                command = commands[fix.params["command"]]
                argv = tuple(_argv(fix.params, command, _FILE))
                yield rule, fix, CheckCommand(argv=argv, written=argv, timeout=_timeout(command))


def misfits(
    params: Mapping[str, Any], commands: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield why a well-formed fix cannot call its command: a key of it, a message, a hint."""
    name, given = params["command"], params.get("args", {})
    command = commands.get(name)
    if not isinstance(command, Mapping):
        hint = did_you_mean(name, commands) if commands else "declare it under commands"
        yield "command", f"format: there is no command {name!r}", hint
        return
    argv, args = command.get("argv") or (), command.get("args") or ()
    if not _are_texts(argv) or not _are_texts(args):
        return  # reported where the command itself is read
    declared = [argument for argument in args if argument != "file"]
    for argument in given:
        if argument == "file":
            yield "args", "format: file is the copy of the artifact, and not given", ""
        elif argument not in declared:
            hint = did_you_mean(argument, declared)
            yield "args", f"format: the command {name} has no argument {argument!r}", hint
    if missing := [argument for argument in declared if argument not in given]:
        hint = f"args: {{{missing[0]}: ...}}"
        yield "args", f"format: the command {name} needs the argument {missing[0]}", hint
    if params.get("output", FILE) == FILE and _FILE not in argv:
        hint = f'"{_FILE}" in its argv and file in its args, or output: stdout'
        yield "command", f"format: the command {name} is not given the file to change", hint


def _are_texts(words: Any) -> bool:
    return isinstance(words, Sequence) and all(isinstance(word, str) for word in words)


def _argv(params: Mapping[str, Any], command: Mapping[str, Any], file: str) -> list[str]:
    given = dict(params.get("args", {}))
    if "file" in (command.get("args") or ()):
        given["file"] = file
    argv = find_argv({**command, "args": list(given)}, given)
    assert argv is not None  # else `misfits` has reported it
    return argv


def _timeout(command: Mapping[str, Any]) -> float:
    return float(command.get("timeout", TIMEOUT))


def _look_at(finished: Finished, command: Command, timeout: float) -> None:
    """Raise FixError where a command did not succeed."""
    if why := stop_message(finished, command, timeout):
        raise FixError(why)
    if finished.returncode == 0 and finished.stdout_total > MOST_BYTES:
        raise FixError(f"its output is larger than {MOST_BYTES:,} bytes")
    if finished.returncode == 0:
        return
    problem = command.problem(finished.returncode) or f"exit status {finished.returncode}"
    output = finished.stderr[-_LAST_BYTES:].decode("utf-8", "replace")
    hidden = secrets(os.environ, os.environ, ())
    lines = redact_ends(redact(output, hidden), hidden).strip().splitlines()
    raise FixError(f"{problem}: {lines[-1].strip()}" if lines else problem)


@contextmanager
def _open_folder(folder: Path) -> Iterator[int]:
    """Yield a descriptor of a folder, which stays that of this one whatever is put in its place."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(path: Path, folder: int) -> bytes:
    """Return what is in the file now; raises FixError where it is not a regular one any more."""
    try:
        return read_file(path, MOST_BYTES, folder=folder)
    except FileNotFoundError:
        raise FixError("it removed the file") from None
    except ReflexError as error:
        raise FixError(f"afterwards the file {error.why}") from None


def _without(folder: Path, message: str) -> str:
    """Return a message without the name of the folder, which is another one each time."""
    for place in (os.path.realpath(folder), str(folder)):
        message = message.replace(place + os.sep, "")
    return message


def _text(data: bytes) -> str:
    if b"\0" in data:
        raise FixError(f"its result is binary: a NUL byte at offset {data.index(0)}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FixError(f"its result is not UTF-8: byte 0x{data[error.start]:02x}") from None
    if not text.strip():
        raise FixError("its result is empty")
    return text
