"""The tests that are there when a goal begins: they verify it, although a command names no file.

Promises: no file that is not there yet is found, so that tests can be added.
Limits: data that tests read is not found, nor code of other tests than those in the usual places;
of more than 2,000 files those that come last by their path are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import islice
from pathlib import Path

from pytest_reflex.drivers.common.shell_words import simple_commands, with_variables
from pytest_reflex.drivers.goal.claims import words
from pytest_reflex.integrity.patterns import NOT_ENTERED

MOST = 2_000
_RUNNERS = words(
    """
    pytest py.test unittest nose2 trial tox nox hatch make npm npx pnpm yarn bun deno jest vitest
    mocha cargo go rake rspec mvn gradle ctest phpunit mix dotnet swift bazel
    """
)
_TEST = re.compile(r"tests?_.*|.*[_.-](?:tests?|spec)\.\w+|tests?\.\w+", re.IGNORECASE)
_FOLDERS = words("test tests __tests__ spec specs")
_CODE = re.compile(r".*\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kts?|php|cs|exs?|swift|sh|cc?|cpp)")


def held_tests(commands: Iterable[str], project: Path) -> list[Path]:
    """Return the tests that commands run, and what would be imported in their place."""
    found: dict[Path, None] = {}
    runs = False
    for command in commands:
        for argv in simple_commands(with_variables(command)):
            names = [os.path.basename(word) for word in argv]
            runs = runs or not _RUNNERS.isdisjoint(names)
            if "unittest" in names:
                for word in argv[names.index("unittest") + 1 :]:
                    found |= dict.fromkeys(_modules(word, project))
    if runs:
        found |= dict.fromkeys(islice(_tests_below(project), MOST))
    return list(found)


def _modules(name: str, project: Path) -> Iterator[Path]:
    """Yield the file of a module by its dotted name, and the places that come before it."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return
    for count in range(1, len(parts) + 1):
        stem = project.joinpath(*parts[:count])
        if stem.with_name(f"{stem.name}.py").is_file():
            yield from (stem.with_name(stem.name + end) for end in (".py", *EXTENSION_SUFFIXES))
            yield stem / "__init__.py"
        elif stem.is_dir():
            yield stem / "__init__.py"


def _tests_below(project: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(project):
        folders[:] = sorted(set(folders) - NOT_ENTERED)
        is_for_tests = not _FOLDERS.isdisjoint(Path(folder).relative_to(project).parts)
        for name in sorted(files):
            if _CODE.fullmatch(name) and (is_for_tests or _TEST.fullmatch(name)):
                yield Path(folder, name)
