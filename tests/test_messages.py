"""No module of the package works on a sentence of its own: what code needs stands in fields."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import pytest_reflex

PACKAGE = Path(pytest_reflex.__file__).parent
SENTENCES = {"message", "hint"}
READING = {
    *("startswith", "endswith", "partition", "rpartition", "split", "removeprefix"),
    *("replace", "find", "index", "search", "match", "fullmatch", "findall", "sub"),
}
# What other programs say, and what shows a message in a shorter form; a line here needs a reason.
ALLOWED = {
    "checks/structure/configuration/required.py": "jsonschema names the key in its message only",
    "checks/findings/report.py": "the white space of what a tool reports is folded",
    "drivers/iterate/setup.py": "a flag is named in place of a table that nobody wrote",
    "session/items.py": "an evidence that repeats the message is not shown twice",
}


def _is_sentence(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in SENTENCES


def _reads(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        parts = [node.func.value, *node.args]
        return node.func.attr in READING and any(map(_is_sentence, parts))
    if isinstance(node, ast.Compare):
        looks = any(isinstance(one, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for one in node.ops)
        return looks and any(map(_is_sentence, [node.left, *node.comparators]))
    return False


def readers(source: str) -> list[str]:
    """Return the expressions in a source that look into a message or a hint."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if _reads(node)]


@pytest.mark.parametrize(
    "source",
    [
        "problem.message.startswith('x')",
        "'x' in problem.message",
        "PATTERN.search(error.problems[0].message)",
        "found.hint == 'x'",
    ],
)
def test_a_look_into_a_sentence_is_seen(source: str) -> None:
    assert len(readers(source)) == 1


@pytest.mark.long
def test_no_module_looks_into_a_sentence() -> None:
    found, allowed = {}, set()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        seen = readers(path.read_text(encoding="utf-8"))
        if seen and name in ALLOWED:
            allowed.add(name)
        elif seen:
            found[name] = seen
    assert found == {}
    assert allowed == set(ALLOWED)
