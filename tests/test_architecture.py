"""The house keeps its shape: layers, sizes, who may start processes, what ARCHITECTURE.md says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pytest_reflex.checks.registry import built_in_registry

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pytest_reflex"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A module imports its own room or a lower rank, never an equal or a higher one.
RANKS = {
    "errors": 0,
    "model": 1,
    "text": 2, "process": 2, "verdict": 2, "contracts": 2, "integrity": 2,
    "storage": 3, "search": 3, "settings": 3,
    "checks": 4, "fixes": 4,
    "criteria": 5, "agents": 5,
    "hookspecs": 6,
    "reports": 7,
    "session": 8,
    "host": 9,
    "drivers/common": 10,
    "drivers/reflex": 11, "drivers/iterate": 11, "drivers/flow": 11,
    "drivers/goal": 11,
    "drivers/pytest_loop": 12,
    "api": 13, "drivers": 13,
    "activation": 14,
    "plugin": 15,
    "cli": 16, "__main__": 17,
}  # fmt: skip


_HOLD_STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")
_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def room(module: str) -> str:
    """Return the room of ``pytest_reflex.room.module``; the package itself is no room.

    Each driver is a room of its own.
    """
    parts = module.split(".")
    if parts[1:2] == ["drivers"] and len(parts) > 2:
        return "/".join(parts[1:3]).removesuffix("/__init__")
    return parts[1] if len(parts) > 1 else ""


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the modules of the package that a file imports at run time, at whatever depth."""
    return tuple(_imports_below(tree_of(path)))


def _imports_below(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        if node.module == "pytest_reflex":
            yield from (f"pytest_reflex.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    # An import is a statement, and no expression holds one.
    for name in _HOLD_STATEMENTS:
        for child in getattr(node, name, ()):
            if isinstance(child, _STATEMENTS):
                yield from _imports_below(child)


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_a_module_imports_downwards() -> None:
    upwards = []
    for path in MODULES:
        own = room(name_of(path))
        if path.name == "__init__.py" and path.parent == PACKAGE:
            continue
        for module in imports(path):
            other = room(module) if module.startswith("pytest_reflex.") else ""
            if other in RANKS and other != own and RANKS[other] >= RANKS[own]:
                upwards.append(f"{name_of(path)} (rank {RANKS[own]}) imports {module}")
    assert upwards == []


def test_every_room_has_a_rank() -> None:
    assert {room(name_of(path)) for path in MODULES} - {"__init__"} == set(RANKS)


def test_one_room_starts_processes() -> None:
    found = {
        room(name_of(path))
        for path in MODULES
        if {"subprocess", "multiprocessing"} & set(imports(path))
    }
    assert found == {"process"}


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def test_a_module_stays_small() -> None:
    long_functions = [
        f"{name_of(path)}.{function.name}: {length} lines"
        for path in MODULES
        for function in functions_of(path)
        if (length := (function.end_lineno or function.lineno) - function.lineno + 1) > 60
    ]
    assert long_functions == []
    long_modules = [
        f"{name_of(path)}: {length} lines"
        for path in MODULES
        if (length := len(text_of(path).splitlines())) > 350
    ]
    assert long_modules == []


def test_a_module_says_what_it_is_for() -> None:
    assert [name_of(path) for path in MODULES if not ast.get_docstring(tree_of(path))] == []


FORBIDDEN = re.compile(r"\bimport pickle\b|\beval\(|\bexec\(|yaml\.load\(|\bshell=True")


def test_nothing_is_evaluated_as_code() -> None:
    assert [name_of(path) for path in MODULES if FORBIDDEN.search(text_of(path))] == []


def test_architecture_names_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    missing = [
        name for name in RANKS if f"`{name}" not in text and f"`pytest_reflex/{name}" not in text
    ]
    assert missing == ["__main__"]


def test_what_was_rendered_is_not_read_again() -> None:
    """Reports give pieces with a tone: one module styles them, and none looks at their text."""
    styling = [name_of(path) for path in MODULES if "click.style(" in text_of(path)]
    assert styling == ["pytest_reflex.drivers.common.console"]
    reading = [
        name_of(path)
        for path in MODULES
        if room(name_of(path)).partition("/")[0] in ("cli", "drivers")
        and any(module.startswith("pytest_reflex.reports") for module in imports(path))
        and ("re" in imports(path) or "unstyle" in text_of(path))
    ]
    assert reading == []
    parameters = [
        (function.name, ast.unparse(function.args))
        for function in functions_of(PACKAGE / "drivers/common/console.py")
        if function.name == "style_lines"
    ]
    assert parameters == [("style_lines", "lines: Iterable[Line], width: int=0")]


def test_every_module_on_the_way_of_an_iteration_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = text.partition("### One iteration, module by module")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/]+\.py)`", part)
    assert len(named) > 40
    assert [name for name in named if not (PACKAGE / name).is_file()] == []
    tables = part.split("| module |")[1:]
    driver = tuple(
        f"drivers/{name}/" for name in ("reflex", "iterate", "flow", "goal", "pytest_loop")
    )
    for table, own in zip(tables, driver, strict=True):
        assert "`drivers/common/drive.py`" in table
        assert table.count(f"`{own}") > 3


def test_every_file_that_is_named_by_its_path_is_there() -> None:
    """A path may begin at the package, at `drivers/`, or at the root."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = dict.fromkeys(re.findall(r"`([\w.-]+/[\w./-]+\.(?:py|toml|md|txt))", text))
    bases = (PACKAGE, PACKAGE / "drivers", PACKAGE / "drivers/common", ROOT)
    missing = [name for name in named if not any((base / name).exists() for base in bases)]
    assert missing == []


TYPES = {kind.name: type(kind) for kind in built_in_registry()}
TYPE_CONSTANTS = {"ALTERNATIVES", "JUDGED"}
# What a check is, its compiled form says. Who asks for its type all the same, and why.
ASK_FOR_TYPES = {
    "checks.registry": "the kinds are registered there",
    "checks.code.check": "a command in place of our tools is run as an executable check",
    "checks.structure.openapi.document": "`content` is a key of OpenAPI, too",
    "model.rules": "on the wire a list of alternatives is a check of that type",
    "criteria.checks": "a rule may write any_of without a type; each alternative has its own place",
    "contracts.steps": "PREPARE is answered with checks of two types, each with its own pattern",
    "drivers.reflex.prepared_checks": "of what an agent gives, only commands have to be allowed",
    "drivers.reflex.agent_checks": "of what an agent gives, only searches are kept for a retry",
}


def _words(node: ast.expr | None) -> set[str]:
    """Return texts, and names of constants that stand for the name of a check type."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.Name) and node.id in TYPE_CONSTANTS:
        return {node.id}
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return {word for one in node.elts for word in _words(one)}
    if isinstance(node, ast.Dict):
        return {word for key in node.keys for word in _words(key)}
    return set()


def _asks_for_a_type(node: ast.AST) -> bool:
    """Return whether code compares the name of a check type, has a table of them, or its class."""
    named = TYPES.keys() | TYPE_CONSTANTS
    if isinstance(node, ast.Compare):
        return bool(named & {w for one in (node.left, *node.comparators) for w in _words(one)})
    if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
        return len(named & _words(node)) > 1
    return isinstance(node, ast.Name) and node.id in {kind.__name__ for kind in TYPES.values()}


def test_nobody_asks_which_type_a_check_is() -> None:
    own = {kind.__module__ for kind in TYPES.values()}
    asking = {
        name_of(path).removeprefix("pytest_reflex.")
        for path in MODULES
        if any(map(_asks_for_a_type, ast.walk(tree_of(path))))
        and (name_of(path) not in own or name_of(path) == "pytest_reflex.checks.code.check")
    }
    assert asking == set(ASK_FOR_TYPES)


def _rows_where() -> list[str]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = text.partition("## Where does a new thing go?")[2].partition("\n## ")[0]
    return [line for line in part.splitlines() if line.startswith("| ")][1:]


def _paths_in(row: str) -> list[str]:
    """Return the files and folders in a row's code, those in a command line too."""
    words = " ".join(re.findall(r"`([^`]+)`", row)).split()
    return [word for word in words if word.endswith(("/", ".py", ".toml", ".json", ".md"))]


def _places(path: str) -> list[Path]:
    """Return what a path stands for, which begins at the package or at the root."""
    found = next((base / path for base in (PACKAGE, ROOT) if (base / path).exists()), None)
    if found is None or found.is_file():
        return [] if found is None else [found]
    return [found, *found.rglob("*.py")]


def test_where_a_new_thing_goes_is_there() -> None:
    """Each row names a place that exists, and the names in it are in one of these places."""
    rows = _rows_where()
    assert len(rows) > 20
    assert [row for row in rows if not _paths_in(row)] == []
    missing = [path for row in rows for path in _paths_in(row) if not _places(path)]
    assert missing == []
    unknown = []
    for row in rows:
        files = [one for path in _paths_in(row) for one in _places(path) if one.is_file()]
        words = {word for one in files for word in re.findall(r"\w+", text_of(one))}
        unknown += [name for name in re.findall(r"`(\w+)`", row) if name not in words]
    assert unknown == []


def test_a_walk_names_a_module_once() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    twice = []
    for table in text.split("| module |")[1:]:
        rows = table.partition("\n\n")[0].splitlines()
        first = re.findall(r"^\| `([\w/]+\.py)` \|", "\n".join(rows), re.MULTILINE)
        twice += [name for name in dict.fromkeys(first) if first.count(name) > 1]
    assert text.count("| module |") == 8
    assert twice == []


def test_the_table_of_rooms_has_their_ranks() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| `([\w/]+?)(?:/|\.py)` \|", text, re.MULTILINE)
    ranks = {name: rank for name, rank in RANKS.items() if name not in ("drivers", "__main__")}
    assert {name: int(rank) for rank, name in rows} == ranks
    assert [int(rank) for rank, _ in rows] == sorted(ranks.values())
