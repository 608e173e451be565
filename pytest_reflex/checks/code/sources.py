"""The Python files of an artifact, each parsed once, by one thread at a time.

CPython counts how deep a tree is for the whole interpreter (gh-106905): threads that build trees at
the same time make each other fail with a SystemError. `warnings.catch_warnings` is not for threads
either.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from threading import Lock
from typing import Any

from pytest_reflex.checks.finding import Finding
from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact

_ONE_AT_A_TIME = Lock()
_TRIES = 5  # others build trees too: pytest does so when it imports a test


def parse_python(text: str, name: str = "<text>", *, compiles: bool = False) -> ast.Module:
    """Return the tree of a text; with `compiles` it is checked for what only the compiler refuses.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as the compiler does.
    """
    for left in reversed(range(_TRIES)):
        try:
            return _parse(text, name, compiles)
        except SystemError:
            if not left:
                raise
    raise AssertionError  # the last try has returned or raised


def _parse(text: str, name: str, compiles: bool) -> ast.Module:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text, name)
        if compiles:
            compile(tree, name, "exec", dont_inherit=True)
    return tree


_PYTHON = (".py", ".pyi")
PYTHON_FILES = tuple(f"*{ending}" for ending in _PYTHON)
_ANY_TEXT = ("", ".md", ".txt")
"""Endings without a meaning: a loop calls every artifact artifact.md."""

MAX_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class SourceFinding:
    """A finding and the file in which it was made."""

    file: str
    finding: Finding


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """One file: its name in the artifact, its text, and its tree or the problem that kept it.

    `name` is relative, and ends in .py or .pyi: a place that may be written to in another folder.
    `may_be_newer` where its parser, and no later step, does not take the text.
    """

    name: str
    text: str
    tree: ast.Module | None
    fault: Finding | None = None
    may_be_newer: bool = False

    @property
    def is_test(self) -> bool:
        stem = PurePath(self.name).stem
        return stem.startswith("test_") or stem.endswith("_test") or stem == "conftest"

    @property
    def is_program(self) -> bool:
        """Whether it is meant to be started: it prints to standard output."""
        if PurePath(self.name).stem == "__main__" or self.tree is None:
            return True
        return any(
            isinstance(node, ast.If) and "__name__" in ast.dump(node.test)
            for node in self.tree.body
        )

    def locate(self, finding: Finding) -> SourceFinding:
        return SourceFinding(self.name, finding)


@dataclass(frozen=True, slots=True)
class CodeReport:
    """What a judge saw: problems, or none and a `summary`.

    `unmeasured` says that something has to be installed before it can judge, and `needs` what;
    `problem` says why it could not.
    """

    found: Sequence[SourceFinding] = ()
    summary: str = ""
    unmeasured: str = ""
    needs: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CodeInput:
    """What a judge gets: the artifact, its Python files, and the settled parameters."""

    artifact: Artifact
    sources: tuple[SourceFile, ...]
    params: Mapping[str, Any]


def sources_of(artifact: Artifact, language: str) -> tuple[SourceFile, ...]:
    """Return the Python files; none where the language, or the ending of a file, is another.

    Raises ArtifactError where one is too long to be read.
    """
    if language != "python":
        return ()
    if artifact.is_folder:
        files = artifact.select(PYTHON_FILES)
        return tuple(_read(file, file.name) for file in files)
    path = PurePath(artifact.name)
    if path.suffix in _PYTHON:
        return (_read(artifact, path.name),)
    if path.suffix.lower() not in _ANY_TEXT:
        return ()
    return (_read(artifact, (path.stem if path.stem.isidentifier() else "artifact") + ".py"),)


def _read(file: Artifact, name: str) -> SourceFile:
    text = file.text
    if len(text) > MAX_CHARACTERS:
        raise ArtifactError(
            f"too large to read as Python: {name} has {len(text):,} characters, "
            f"the limit is {MAX_CHARACTERS:,}",
            hint="split it, or name a command",
            reading="Python",
            file=file.name,
        )
    try:
        tree = parse_python(text, name, compiles=True)
    except SyntaxError as error:
        message = f"not valid Python: {error.msg}"
        fault = Finding(message, error.lineno or 1, error.offset or 0)
        return SourceFile(name, text, None, fault, _cannot_be_parsed(text))
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"not valid Python: {error or 'nested too deeply'}"
        return SourceFile(name, text, None, Finding(message, 1))
    return SourceFile(name, text, tree)


def _cannot_be_parsed(text: str) -> bool:
    try:
        parse_python(text, "text")
    except SyntaxError:
        return True
    except (ValueError, RecursionError, MemoryError):
        pass
    return False
