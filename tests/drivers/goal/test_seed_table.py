"""What seed 003 states has its tests, and none of them is gone."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
TABLE: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("seed_statements.toml").read_text(encoding="utf-8")
)


@cache
def functions(module: str) -> frozenset[str]:
    """Return the names of the test functions of a module."""
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_each_statement_of_the_seed_has_its_tests() -> None:
    rows = [(row, tests) for part in TABLE.values() for row, tests in part.items()]
    assert len(rows) >= 45
    assert [row for row, tests in rows if not tests] == []
    named = [(row, test.partition("::")) for row, tests in rows for test in tests]
    gone = [(row, name) for row, (module, _, name) in named if name not in functions(module)]
    assert gone == []
