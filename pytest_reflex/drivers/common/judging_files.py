"""Which files hold the code that judges: of plugins, and of what the commands of checks name."""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_reflex.checks.registry import commands_of
from pytest_reflex.errors import is_transient
from pytest_reflex.integrity.outside import is_of_system
from pytest_reflex.integrity.patterns import ANY_DEPTH, escape_path
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.targets import CompiledCheck

Command = str | Sequence[str]

_SELF = "pytest_reflex"
_OUTPUTS = ("-o", "--out", "--output", "--output-file")


def sources_of(plugin: str) -> tuple[Path, ...]:
    """Return the source files of a plugin: its module, or every module of its package."""
    folders, origin = _places(plugin)
    found = tuple(path for folder in folders for path in sorted(folder.rglob("*.py")))
    return found or ((origin,) if origin else ())


def patterns_of(plugin: str) -> Iterator[str]:
    """Yield patterns of the same files, and of those that a package does not have yet."""
    folders, origin = _places(plugin)
    yield from (f"{escape_path(folder)}/{ANY_DEPTH}/*.py" for folder in folders)
    if origin and not folders:
        yield escape_path(origin)


def _places(plugin: str) -> tuple[list[Path], Path | None]:
    """Return the folders of a package, and the file that a module came from."""
    try:
        module = importlib.import_module(plugin)
    except ImportError:
        return [], None
    origin = Path(getattr(module, "__file__", None) or "")
    return [Path(folder) for folder in getattr(module, "__path__", ())], (
        origin.absolute() if origin.is_file() else None
    )


def find_loaded_sources(project: Path) -> Iterator[Path]:
    """Yield the sources of modules that this process has loaded from the project's own folders.

    Plugins import them. What is installed (also into an environment inside the project) is not
    the project's.
    """
    base = project.resolve()
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name.partition(".")[0] == _SELF:
            continue
        path = Path(file).absolute()
        inside = path.is_relative_to(base)
        if inside and "site-packages" not in path.parts and path.suffix == ".py":
            yield path


def commands_in(criteria: Criteria, checks: Iterable[CompiledCheck]) -> tuple[Command, ...]:
    """Return the commands of its checks, and those that an agent may call, as they are written."""
    declared = (command.get("argv") for command in criteria.commands.values())
    of_checks = (one.written for one in commands_of(checks))
    return (*of_checks, *(argv or () for argv in declared))


def files_of_commands(
    commands: Iterable[Command], *, project: Path, artifact: Path
) -> Iterator[str]:
    """Yield patterns, relative to the project, of the files that commands name.

    A folder that is named stands for its Python files, unless the artifact is in it.
    """
    seen = set()
    for word in _words(commands):
        path = project / word
        try:
            full = path.resolve()
            relative = full.relative_to(project.resolve())
            is_folder, is_file = full.is_dir(), full.is_file()
        except (OSError, ValueError, RuntimeError) as error:
            if is_transient(error):
                raise
            continue  # no path, or not one of the project
        if relative in seen or full == project.resolve():
            continue
        seen.add(relative)
        if is_file:
            yield escape_path(relative)
        elif is_folder and not artifact.resolve().is_relative_to(full):
            yield f"{escape_path(relative)}/{ANY_DEPTH}/*.py"


def files_beyond(commands: Iterable[Command], project: Path) -> Iterator[str]:
    """Yield patterns of the files outside the project that commands name, also through a link."""
    base = project.resolve()
    for word in _words(commands):
        if "/" not in word or is_of_system(word):
            continue
        try:
            full = (project / word).resolve()
            if not full.is_relative_to(base) and full.is_file():
                yield escape_path(full)
        except (OSError, ValueError, RuntimeError) as error:
            if is_transient(error):
                raise


def _words(commands: Iterable[Command]) -> Iterator[str]:
    """Yield the words of every command, and the file of a test that is named by its id.

    A place where a command writes to is none: it may write there each time.
    """
    for command in commands:
        for word, is_output in _read(command):
            if not is_output:
                yield from (word, word.partition("::")[0]) if "::" in word else (word,)


def outputs_of(command: Command) -> Iterator[str]:
    """Yield the places in the project that a command says it writes to."""
    for word, is_output in _read(command):
        if is_output and not word.startswith(("&", "/", "-")):
            yield word


def _read(command: Command) -> Iterator[tuple[str, bool]]:
    """Yield the words of a command, each with whether the command says that it writes there."""
    before = ""
    for word in _split(command):
        yield word, before in _OUTPUTS or before.endswith((">", ">|"))
        before = word


def _split(command: Command) -> Iterable[str]:
    if isinstance(command, str):
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        try:
            return list(lexer)
        except ValueError:  # the shell may read it all the same
            return command.split()
    return [word for word in command if isinstance(word, str)]
