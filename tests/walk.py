"""Through which modules one offline iteration of a loop goes: ``python -m tests.walk [--json]``.

A module counts when a function of it is called, or when it is imported on the way; a move is a call
in another module of the package than the call before. The process of EVALUATE is not followed.
It measures how much has to be read to understand an iteration; `test_walk` holds it to a bound.
With ``--rule`` it is the way of one rule, from its file to what its item runs, and with
``--evaluate`` that of `pytest-reflex evaluate`, from its arguments to the printed verdict; all that
they use is imported before, so only calls count.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest_reflex
from pytest_reflex.api import run_loop
from pytest_reflex.errors import ExitCode

PACKAGE = str(Path(pytest_reflex.__file__).parent) + os.sep
CRITERIA = """\
name: note
rules:
  - id: a.structure.usage
    description: It says how it is used
    severity: fail
    check: {type: content, search: '^## Usage'}
    fix: {append: {text: "\\n## Usage\\n\\nRun it.\\n"}}
  - id: a.style.no-todo
    description: Nothing is left to do
    severity: warn
    check: {type: content, search: TODO, negate: true}
    fix: {replace: {search: '^TODO.*', with: It is a note.}}
"""
RULE = """\
name: note
rules:
  - id: a.structure.usage
    description: It says how it is used
    severity: fail
    check: {type: content, search: '^## Usage'}
"""
RULES = (
    RULE
    + """\
  - id: a.style.no-todo
    description: Nothing is left to do
    severity: warn
    check: {type: content, search: TODO, negate: true}
  - id: b.structure.title
    description: It has a title
    severity: fail
    check: {type: content, search: '^# '}
"""
)
DRAFT = "# Note\n\nTODO write more\n"


@dataclass(slots=True)
class Walk:
    """The modules that were entered, and how often each was entered from another one."""

    modules: set[str] = field(default_factory=set)
    moves: Counter[str] = field(default_factory=Counter)
    _last: str = ""

    def call(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call; this is what `sys.setprofile` takes."""
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(PACKAGE):
            return
        module = path.removeprefix(PACKAGE)
        self.modules.add(module)
        if module != self._last:
            self.moves[module] += bool(self._last)
            self._last = module


@contextmanager
def walking(walk: Walk) -> Iterator[None]:
    """Note what is called by all threads of this process."""
    threading.setprofile(walk.call)
    sys.setprofile(walk.call)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def walk_an_iteration(folder: Path) -> Walk:
    """Begin a loop over a small note in `folder`, and return the walk of its first iteration."""
    (folder / "note.yaml").write_text(CRITERIA)
    (folder / "note.md").write_text(DRAFT)
    walk = Walk()
    events = run_loop(
        "A note", criteria=folder / "note.yaml", draft=folder / "note.md", project=folder
    )
    with walking(walk):
        for event in events:
            if event.kind == "iteration":
                break
        else:
            raise AssertionError("the loop ended in its first iteration")
    events.close()
    return walk


def walk_a_rule(folder: Path) -> Walk:
    """Return the walk of a file with one rule to its compiled check."""
    # Here: what is imported at the top is not on the way of an iteration.
    from pytest_reflex.checks.registry import built_in_registry, compile_checks
    from pytest_reflex.criteria.load import load_criteria
    from pytest_reflex.model.enums import Level

    path, registry = folder / "note.yaml", built_in_registry()
    path.write_text(RULE)
    for _ in range(2):  # the first time it imports
        walk = Walk()
        with walking(walk):
            criteria = load_criteria(path, registry=registry)
            checks = compile_checks(criteria, Level.A, registry)
    assert len(checks) == 1
    return walk


def walk_an_evaluation(folder: Path) -> Walk:
    """Return the walk of `pytest-reflex evaluate`: three rules over one document."""
    from pytest_reflex.cli.main import main as command_line

    (folder / "note.yaml").write_text(RULES)
    (folder / "note.md").write_text(DRAFT)
    argv = ["evaluate", str(folder / "note.md"), "--criteria", str(folder / "note.yaml")]
    for _ in range(2):  # the first time it imports
        walk, printed = Walk(), io.StringIO()
        with redirect_stdout(printed), walking(walk):
            assert command_line(argv) == ExitCode.GATE_FAILED
        assert "a.structure.usage" in printed.getvalue(), printed.getvalue()
    return walk


def as_text(walk: Walk) -> str:
    """Return how many modules and moves there were, and the modules that were entered most."""
    most = [f"{count:6} {module}" for module, count in walk.moves.most_common(20)]
    return "\n".join([f"{len(walk.modules)} modules, {walk.moves.total()} moves", *most])


def main() -> None:
    """Print the walk, the modules that are entered most first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print modules and moves as JSON")
    parser.add_argument("--rule", action="store_true", help="of a rule from its file to its item")
    parser.add_argument("--evaluate", action="store_true", help="of an artifact to its verdict")
    given = parser.parse_args()
    walk_it = walk_an_iteration
    if given.rule or given.evaluate:
        walk_it = walk_a_rule if given.rule else walk_an_evaluation
    with tempfile.TemporaryDirectory() as folder:
        walk = walk_it(Path(folder))
    found = {"modules": sorted(walk.modules), "moves": walk.moves}
    print(json.dumps(found) if given.json else as_text(walk))  # noqa: T201


if __name__ == "__main__":
    main()
