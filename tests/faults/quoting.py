"""T02: odd names on every way from a person to a process: nothing is run, everything arrives."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.errors import CriteriaError, ReflexError, StateError, UsageError
from pytest_reflex.model.enums import Level
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import Target
from pytest_reflex.storage.folders import run_folder
from tests.drivers.reflex.stage import Script, Stage
from tests.faults.figure import Figure
from tests.verdict.sets import criteria as set_of
from tests.verdict.sets import rule

NAMES = 2_000
SAMPLE = 60
PIECES = (
    *("'", '"', "`", "$(touch canary)", "${HOME}", "`touch canary`", "; touch canary"),
    *("| touch canary", "&& touch canary", "\n", "\ntouch canary\n", "-", "--help", "-rf"),
    *("*", "?", "[a-z]", "~", "!"),
    *("\\", "\\n", "%s", "{}", "{file}", "$0", "$PYTEST_REFLEX_ARTIFACT", "<", ">canary", "&", "#"),
    *(" ", "\t", "é", "日本", "\u202e", "\x1b[31m", "a", "README", "..", "=", ":", "::", "@"),
)  # fmt: skip
ROUTES = ("artifact", "alias", "rule id", "task")


def names(count: int) -> Iterator[str]:
    """Yield names of two to six pieces, the same ones each time."""
    chance = random.Random(7)
    for _ in range(count):
        yield "".join(chance.choices(PIECES, k=chance.randint(2, 6)))


def figure(full: bool) -> Figure:
    """Count the names that came through every route unchanged, or were refused as they must be."""
    failures: list[str] = []
    bad: list[str] = []
    total = NAMES if full else SAMPLE
    with tempfile.TemporaryDirectory() as folder:
        base, here = Path(folder), Path.cwd()
        os.chdir(base)  # where a canary would be made
        try:
            for number, name in enumerate(names(total)):
                routes = _routes(base, name, number)
                found = [f"{route} {name!r}: {wrong}" for route, wrong in routes if wrong]
                failures += found
                bad += [name] if found else []
        finally:
            os.chdir(here)
        if canaries := [path for path in base.rglob("canary") if path.is_file()]:
            failures.append(f"{len(canaries)} canaries: {canaries[0]}")
            bad.append("canary")
    return Figure(
        good=total - len(bad), total=total, failures=tuple(failures), note=", ".join(ROUTES)
    )


def _routes(base: Path, name: str, number: int) -> Iterator[tuple[str, str]]:
    yield "artifact", _artifact(base / "files" / str(number), name)
    yield "alias", _alias(base, name)
    yield "rule id", _rule_id(base, name)
    yield "task", _task(base / "tasks" / str(number), name)


def _artifact(folder: Path, name: str) -> str:
    """Judge a file of that name by a command that reports which path it was given."""
    folder.mkdir(parents=True)
    path = folder / name.replace("/", "").replace("..", ".")
    if path.name in ("", "."):
        return ""
    path.write_text("x\n")
    command = 'printf %s "$PYTEST_REFLEX_ARTIFACT" > told.txt && test -s "$PYTEST_REFLEX_ARTIFACT"'
    check = CheckSpec(type="executable", params={"command": command})
    judged = replace(rule("a.x.y"), checks=(check,))
    criteria = set_of(judged)
    target = Target(criteria=criteria, level=Level.A, artifact=path, root=folder, label=path.name)
    evaluation = evaluate(target, built_in_registry())
    told = (folder / "told.txt").read_text() if (folder / "told.txt").exists() else ""
    return "" if evaluation.passed and told == str(path) else f"{told!r} arrived"


def _alias(base: Path, name: str) -> str:
    try:
        folder = run_folder(base / "state", name)
    except (UsageError, StateError):
        return ""
    return "" if folder.parent == base / "state" and folder.name == name else f"{folder} was made"


def _rule_id(base: Path, name: str) -> str:
    rules = [{
        "id": f"a.x.{name}", "description": "d", "severity": "fail",
        "check": {"type": "content", "search": "x"},
    }]  # fmt: skip
    path = base / "criteria.json"
    path.write_text(json.dumps({"name": "n", "rules": rules}))
    try:
        found = load_criteria(path, registry=built_in_registry()).rules[0].id
    except CriteriaError as error:
        return "" if "\x1b" not in str(error) else "the message holds it raw"
    return "" if found == f"a.x.{name}" else f"{found!r} was read"


def _task(folder: Path, name: str) -> str:
    """Begin a loop with that task; ask a command with it, as the agents do."""
    folder.mkdir(parents=True)
    stage = Stage(folder)
    try:
        with stage.begin(Script(), task=name, alias=None) as loop:
            found, alias = loop.state.task, loop.files.folder
    except ReflexError as error:
        return "" if not name.strip() else str(error)
    if alias.parent != stage.root:
        return f"{alias} was made"
    return "" if found == name else f"{found!r} was recorded"
