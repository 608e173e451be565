"""The house keeps its shape: layers, sizes, who may start processes, what ARCHITECTURE.md says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pytest_reflex"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module imports its own room or a lower rank, never an equal or a higher one.
RANKS = {
    "errors": 0,
    "model": 1,
    "documents": 2, "process": 2, "verdict": 2, "contracts": 2, "seals": 2,
    "store": 3, "search": 3, "settings": 3,
    "checks": 4, "fixes": 4,
    "criteria": 5, "agents": 5,
    "hookspecs": 6,
    "reports": 7,
    "session": 8,
    "host": 9,
    "drivers/common": 10,
    "drivers/reflex": 11, "drivers/iterate": 11,
    "drivers/pytest_loop": 12,
    "api": 13, "drivers": 13,
    "plugin": 14,
    "cli": 15, "__main__": 16,
}  # fmt: skip


def room(module: str) -> str:
    """Return the room of ``pytest_reflex.room.module``; the package itself is no room.

    Each driver is a room of its own.
    """
    parts = module.split(".")
    if parts[1:2] == ["drivers"] and len(parts) > 2:
        return "/".join(parts[1:3]).removesuffix("/__init__")
    return parts[1] if len(parts) > 1 else ""


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a file imports at run time, at whatever depth."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "pytest_reflex":
                yield from (f"pytest_reflex.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_downwards(path: Path) -> None:
    own = room(name_of(path))
    if path.name == "__init__.py" and path.parent == PACKAGE:
        return
    for module in imports(path):
        other = room(module) if module.startswith("pytest_reflex.") else ""
        if other in RANKS and other != own:
            assert RANKS[other] < RANKS[own], f"{own} (rank {RANKS[own]}) imports {module}"


def test_every_room_has_a_rank() -> None:
    assert {room(name_of(path)) for path in MODULES} - {"__init__"} == set(RANKS)


def test_one_room_starts_processes() -> None:
    found = {
        room(name_of(path))
        for path in MODULES
        if {"subprocess", "multiprocessing"} & set(imports(path))
    }
    assert found == {"process"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_stays_small(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [
        n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    longest = max((f.end_lineno - f.lineno + 1 for f in functions if f.end_lineno), default=0)
    assert longest <= 60
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


FORBIDDEN = re.compile(r"\bimport pickle\b|\beval\(|\bexec\(|yaml\.load\(|\bshell=True")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_evaluated_as_code(path: Path) -> None:
    assert not FORBIDDEN.search(path.read_text(encoding="utf-8"))


def test_architecture_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    missing = [
        name for name in RANKS if f"`{name}" not in text and f"`pytest_reflex/{name}" not in text
    ]
    assert missing == ["__main__"]
