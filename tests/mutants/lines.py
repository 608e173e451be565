"""Which tests run which line: measured once, and again where a test or a module has changed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import coverage

from tests.mutants import core
from tests.mutants.contexts import NOTES
from tests.mutants.copies import digest, environment_of
from tests.mutants.core import CACHE, MODULES, ROOT

MOST_SECONDS = 20.0
MOST_TESTS = 400
"""What one mutant is given: the fastest tests of its line, up to so many."""

_FIRST_TESTS, _FIRST_FILES = 30, 3
_FASTEST = 60
"""The first turn: so many tests of the files that most of the fastest tests are in."""

_FOLDER = CACHE / "lines"
_CONFIGURATION = """\
[run]
core = ctrace
data_file = {data}
parallel = true
patch = subprocess,_exit
disable_warnings = no-data-collected,module-not-imported,module-not-measured
include =
{include}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The tests of each line of each module, and the seconds that each test takes."""

    tests: Mapping[str, Mapping[int, frozenset[str]]]
    seconds: Mapping[str, float]

    def choose(self, module: str, lines: Iterable[int]) -> list[list[str]]:
        """Return the tests to run, in two turns: some fast ones of few files, then the others.

        The first turn kills most, and has little to import. A line that no test runs is one of an
        import; then all tests of its module are meant.
        """
        of_module = self.tests.get(module, {})
        found = frozenset().union(*(of_module.get(line, ()) for line in lines))
        found = found or frozenset().union(*of_module.values())
        chosen = self._affordable(test for test in found if test in self.seconds)
        files = Counter(_file(test) for test in chosen[:_FASTEST])
        most = {file for file, _ in files.most_common(_FIRST_FILES)}
        first = [test for test in chosen if _file(test) in most][:_FIRST_TESTS]
        then = [test for test in chosen if test not in first]
        return [turn for turn in (first, then) if turn]

    def _affordable(self, found: Iterable[str]) -> list[str]:
        """Return as many tests as a mutant is given, the fastest first.

        The time is shared among the files: one of many fast tests gets as much of it as one of few
        slow ones, and none takes it all.
        """
        spent: dict[str, float] = {}
        ranked: list[tuple[float, str]] = []
        for test in sorted(found, key=self._pace):
            file = _file(test)
            spent[file] = spent.get(file, 0.0) + self.seconds[test]
            ranked.append((spent[file], test))
        chosen: list[str] = []
        left = MOST_SECONDS
        for _, test in sorted(ranked)[:MOST_TESTS]:
            if not chosen or self.seconds[test] <= left:
                chosen.append(test)
                left -= self.seconds[test]
        return sorted(chosen, key=self._pace)

    def _pace(self, test: str) -> tuple[float, str]:
        return round(self.seconds[test], 2), test


def _file(test: str) -> str:
    return test.partition("::")[0]


def lines_of(source: str, first: int, last: int) -> range:
    """Return the lines whose tests try a change of these lines of a module.

    Those are the lines of the innermost statement. Of `if`, `for` and so on only the head counts,
    of a function's own head its body. What stands in no function is run when the module is
    imported, whichever test does that: then all lines of the module are meant.
    """
    around = [
        node
        for node in ast.walk(ast.parse(source))  # the outer before the inner
        if isinstance(node, _STATEMENTS) and _start(node) <= first and last <= _end(node)
    ]
    if not any(isinstance(node, ast.FunctionDef) for node in around):
        return range(1, source.count("\n") + 2)
    inner = around[-1]
    body = getattr(inner, "body", None)
    if isinstance(inner, ast.FunctionDef):
        return range(_start(inner.body[0]), _end(inner) + 1)
    return range(_start(inner), _start(body[0]) if body else _end(inner) + 1)


_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def _start(node: Any) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    decorators = getattr(node, "decorator_list", [])
    return min(int(one.lineno) for one in [node, *decorators])


def _end(node: ast.AST) -> int:
    last: Any = node.body[-1] if isinstance(node, ast.match_case) else node
    return int(last.end_lineno)


def measured(folder: Path, jobs: int) -> Lines:
    """Return what is known of the tests; what is out of date is measured in this copy first."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    sources = digest([ROOT / module for module in MODULES])
    digests = {str(path.relative_to(ROOT)): sources + digest([path]) for path in core.test_files()}
    known = _read()
    old = {name for name, value in digests.items() if known.get(name, {}).get("digest") != value}
    known = {name: entry for name, entry in known.items() if name in digests and name not in old}
    if old:
        print(f"measuring which lines the tests of {len(old)} files run ...", flush=True)
    for _, some in groupby(sorted(old), key=os.path.dirname):
        known |= _measure(folder, list(some), digests, jobs)
        (_FOLDER / "known.json").write_text(json.dumps(known), "utf-8")  # an interrupt loses little
    return _merged(known)


def _read() -> dict[str, dict[str, Any]]:
    path = _FOLDER / "known.json"
    found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def _merged(known: Mapping[str, Mapping[str, Any]]) -> Lines:
    seconds: dict[str, float] = {}
    tests: dict[str, dict[int, set[str]]] = {}
    for entry in known.values():
        seconds |= entry["seconds"]
        for test, modules in entry["lines"].items():
            for module, lines in modules.items():
                for line in lines:
                    tests.setdefault(module, {}).setdefault(line, set()).add(test)
    frozen = {
        module: {line: frozenset(found) for line, found in lines.items()}
        for module, lines in tests.items()
    }
    return Lines(tests=frozen, seconds=seconds)


def _measure(
    folder: Path, files: list[str], digests: Mapping[str, str], jobs: int
) -> dict[str, dict[str, object]]:
    for path in _FOLDER.glob("data*"):
        path.unlink()
    data, notes, settings = (_FOLDER / name for name in ("data", "seconds.json", "coverage.ini"))
    include = "\n".join(f"    {folder / module}" for module in MODULES)
    settings.write_text(_CONFIGURATION.format(data=data, include=include), "utf-8")
    environment = environment_of(folder) | {NOTES: str(notes)}
    python = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
    options = ["-p", "tests.mutants.contexts", "-p", "no:cacheprovider", "-q", "--no-header"]
    options += ["--tb=no", "-n", str(jobs), "--dist", "loadfile", "-p", "no:randomly"]
    log = _FOLDER / "log"
    with log.open("w") as output:
        subprocess.run(
            [*python, *options, *files], cwd=folder, env=environment,
            stdout=output, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if not notes.exists():
        raise SystemExit(f"the tests could not be measured; see {os.path.relpath(log)}")
    collected = coverage.Coverage(config_file=str(settings))
    collected.combine()
    found: dict[str, dict[str, object]] = {
        name: {"digest": digests[name], "seconds": {}, "lines": {}} for name in files
    }
    for test, took in json.loads(notes.read_text("utf-8")).items():
        found[_file(test)]["seconds"][test] = took  # type: ignore[index]
    for module in MODULES:
        by_line = collected.get_data().contexts_by_lineno(str(folder / module))
        for line, contexts in by_line.items():
            for test in contexts:
                if _file(test) in found:
                    lines = found[_file(test)]["lines"].setdefault(test, {})  # type: ignore[attr-defined]
                    lines.setdefault(module, []).append(line)
    notes.unlink()
    return found
