"""Every command that a message or a help text names is one that there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

import pytest_reflex
from pytest_reflex.cli.groups import VERBS, LazyGroup

pytestmark = pytest.mark.long

ROOT = Path(pytest_reflex.__file__).parent
NAMED = re.compile(r"pytest-reflex ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?((?: --[a-z-]+)*)")
NO_COMMANDS = {"is", "was", "will", "cannot", "has", "does"}


def texts() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in documented:
                continue
            if isinstance(node.value, str):
                yield path.relative_to(ROOT).as_posix(), node.value


@cache
def command(*words: str) -> click.Command | None:
    found: click.Command | None = LazyGroup(VERBS, name="pytest-reflex")
    for word in words:
        if not isinstance(found, click.Group):
            break
        found = found.get_command(click.Context(found), word)
    return found


def test_commands_in_messages_exist() -> None:
    seen, wrong = 0, []
    for path, text in texts():
        for match in NAMED.finditer(text):
            verb, second, options = match.groups()
            if verb in NO_COMMANDS:
                continue
            if command(verb) is None:
                wrong.append((path, match[0]))
                continue
            seen += 1
            found = command(verb, *([second] if second else []))
            known = {name for p in (found.params if found else ()) for name in p.opts}
            if found is None or set(options.split()) - known - {"--help"}:
                wrong.append((path, match[0]))
    assert seen > 20
    assert wrong == []


@pytest.mark.parametrize("words", [("loop", "revive"), ("restore",), ("iterate", "again")])
def test_a_command_that_there_is_not_is_seen(words: tuple[str, ...]) -> None:
    assert command(*words) is None
