"""Findings of ruff that are problems only in some places, which the syntax tree distinguishes.

Each rule was run over packages that are well kept: what is found there and is as it should be, is
left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PurePath

from pytest_reflex.checks.code.sources import SourceFile
from pytest_reflex.text.lines import bare

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Place = tuple[int, int]
"""Line and column, both from 1; the column in bytes."""
_Placed = tuple[ast.AST, tuple[ast.AST, ...]]
"""A node, and those above it."""

_KEEPS = frozenset({"append", "add", "insert", "setdefault", "connect", "register", "subscribe"})
_RUNS_SQL = re.compile(
    r"execute\w*|exec_driver_sql|raw|text|mogrify|query\w*|read_sql\w*|sql\w*|run\w*|scalars?"
    r"|prepare|fetch\w*",
    re.IGNORECASE,
)
_HOLE = "\0"
_VALUE = re.compile(
    r"""(?:[=<>]|\blike\b|\bin\s*\(|\bvalues\s*\([^()]*|\blimit\b|\boffset\b|\bbetween\b)\s*['"%]*\0"""
    r"|'[^'\0]*\0",
    re.IGNORECASE,
)
_MARKS = ("?", "%s", "(?)", "(%s)")
_PERCENT = re.compile(r"%%|%(?:\(\w+\))?[-#0 +]?\d*(?:\.\d+)?[sdrif]")
_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}")


def is_fault(code: str, source: SourceFile, place: _Place) -> bool:
    """Return whether a finding of ruff is a problem in its place; other rules: always."""
    judge = _JUDGES.get(code)
    return judge is None or source.tree is None or judge(source, _in_bytes(source, place))


def _in_bytes(source: SourceFile, place: _Place) -> _Place:
    """Return a place of ruff, which counts characters, as the syntax tree has it: in bytes."""
    line, column = place
    lines = bare(source.text)
    before = lines[line - 1][: column - 1] if 0 < line <= len(lines) else ""
    return line, len(before.encode()) + 1


def _checks_an_input(source: SourceFile, place: _Place) -> bool:
    """Whether an assert at the beginning of a public function compares a parameter of it."""
    private = any(part.startswith("_") for part in PurePath(source.name).with_suffix("").parts)
    if private and not source.name.endswith("__init__.py"):
        return False
    for node, above in _nodes(source):
        if isinstance(node, _Function) and not any(isinstance(n, _Function) for n in above):
            is_public = not node.name.startswith(("_", "test_")) and not any(
                isinstance(n, ast.ClassDef) and n.name.startswith("_") for n in above
            )
            for check in _leading_asserts(node) if is_public else ():
                if check.lineno == place[0]:
                    return _compares(check.test, _parameters(node))
    return False


def _leading_asserts(function: _Function) -> Iterator[ast.Assert]:
    for statement in function.body:
        if isinstance(statement, ast.Assert):
            yield statement
        elif not isinstance(statement, ast.Expr | ast.Import | ast.ImportFrom):
            return


def _compares(test: ast.expr, parameters: set[str]) -> bool:
    if isinstance(test, ast.BoolOp):
        return any(_compares(value, parameters) for value in test.values)
    if not isinstance(test, ast.Compare) or isinstance(test.ops[0], ast.Is | ast.IsNot):
        return False
    sides = [test.left, *test.comparators]
    sides = [s.args[0] if isinstance(s, ast.Call) and s.args else s for s in sides]
    return any(isinstance(side, ast.Name) and side.id in parameters for side in sides)


def _parameters(function: _Function) -> set[str]:
    named = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    return named - {"self", "cls"}


def _is_lost(source: SourceFile, place: _Place) -> bool:
    """Whether an expression has no effect: looking up a name or an attribute may have one."""
    for node, _ in _nodes(source):
        if isinstance(node, ast.Expr) and _at(node) == place:
            return not isinstance(node.value, ast.Name | ast.Attribute)
    return True


def _is_kept(source: SourceFile, place: _Place) -> bool:
    """Whether a function made in a loop outlives its turn, so that it sees the last value."""
    inner: _Function | ast.Lambda | None = None
    around: tuple[ast.AST, ...] = ()
    for node, above in _nodes(source):
        if isinstance(node, _Function | ast.Lambda) and _holds(node, place):
            inner, around = node, above
    if inner is None:
        return True
    if isinstance(inner, ast.Lambda):
        return _is_put_away(inner, around)
    uses = (
        (node, above)
        for node, above in _nodes(source)
        if isinstance(node, ast.Name) and node.id == inner.name
    )
    return any(_is_put_away(node, above) for node, above in uses)


def _is_put_away(node: ast.AST, above: tuple[ast.AST, ...]) -> bool:
    parent = above[-1] if above else None
    if isinstance(
        parent, ast.ListComp | ast.SetComp | ast.List | ast.Dict | ast.DictComp | ast.Yield
    ):
        return True
    if isinstance(parent, ast.Assign):
        return any(isinstance(target, ast.Subscript | ast.Attribute) for target in parent.targets)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func is not node and parent.func.attr in _KEEPS
    return False


def _is_forgotten_self(source: SourceFile, place: _Place) -> bool:
    """Whether `a = a` stands in a constructor, where `self.a = a` was meant."""
    return any(
        isinstance(node, _Function) and node.name == "__init__" and _holds(node, place)
        for node, _ in _nodes(source)
    )


def _runs_as_sql(source: SourceFile, place: _Place) -> bool:
    """Whether a text with values put in goes to a database; names of tables cannot be bound."""
    for node, above in _nodes(source):
        if isinstance(node, ast.expr) and _at(node) == place:
            text = _text_of(node, _marks(source))
            if text == _HOLE or isinstance(node, ast.Constant):
                continue  # around the text, or a part of it
            if not _VALUE.search(text):
                return False
            uses = (use for name in _names_of(above) for use in _uses(source).get(name, ()))
            return _is_run(node, above) or any(_is_run(use, over) for use, over in uses)
    return True


def _is_run(node: ast.AST, above: tuple[ast.AST, ...]) -> bool:
    """Return whether a call around an expression, or around a call of it, runs SQL."""
    for parent in reversed(above):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, ast.Call) and parent.func is not node:
            return bool(_RUNS_SQL.fullmatch(_called_name(parent)))
        node = parent
    return False


def _names_of(above: tuple[ast.AST, ...]) -> set[str]:
    """Return by what names an expression is known from its statement on: targets, a function."""
    statement = next((node for node in reversed(above) if isinstance(node, ast.stmt)), None)
    if isinstance(statement, ast.Return):
        function = next((n for n in reversed(above) if isinstance(n, _Function)), None)
        return {function.name, f"self.{function.name}"} if function else set()
    if isinstance(statement, ast.Assign):
        return {ast.unparse(target) for target in statement.targets}
    if isinstance(statement, ast.AugAssign | ast.AnnAssign):
        return {ast.unparse(statement.target)}
    return set()


def _text_of(node: ast.expr, marks: frozenset[str]) -> str:
    """Return the text that an expression makes, with a hole for everything that is put in.

    A row of marks for parameters, or one of the names in `marks` that hold one, is no such thing.
    """
    if _is_row_of_marks(node) or (isinstance(node, ast.Name) and node.id in marks):
        return "?"
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else _HOLE
    if isinstance(node, ast.FormattedValue):
        return _text_of(node.value, marks)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(value, marks) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text_of(node.left, marks) + _text_of(node.right, marks)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        hole = _hole(node.right.elts if isinstance(node.right, ast.Tuple) else [node.right], marks)
        return _PERCENT.sub(lambda m: "%" if m[0] == "%%" else hole, _text_of(node.left, marks))
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and isinstance(called, ast.Attribute) and called.attr == "format":
        hole = _hole([*node.args, *(keyword.value for keyword in node.keywords)], marks)
        escaped = {"{{": "{", "}}": "}"}
        return _BRACES.sub(lambda m: escaped.get(m[0], hole), _text_of(called.value, marks))
    return _HOLE


def _hole(given: list[ast.expr], marks: frozenset[str]) -> str:
    return "?" if given and all(_text_of(value, marks) == "?" for value in given) else _HOLE


@lru_cache(maxsize=8)
def _marks(source: SourceFile) -> frozenset[str]:
    """Return the names that hold rows of marks for parameters, and nothing else in the file."""
    rows: dict[str, bool] = {}
    for node, _ in _nodes(source):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = None if isinstance(node, ast.For | ast.AugAssign) else node.value
            is_row = value is not None and _is_row_of_marks(value)
            for name in (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
                rows[name] = rows.get(name, True) and is_row
        elif isinstance(node, ast.arg):
            rows[node.arg] = False
    return frozenset(name for name, is_row in rows.items() if is_row)


def _is_row_of_marks(node: ast.expr) -> bool:
    """Return whether an expression joins as many marks (`?`, `%s`) as there are parameters."""
    if not isinstance(node, ast.Call) or _called_name(node) != "join" or len(node.args) != 1:
        return False
    joined = node.args[0]
    if isinstance(joined, ast.BinOp) and isinstance(joined.op, ast.Mult):
        joined = joined.left if isinstance(joined.left, ast.Constant | ast.List) else joined.right
    if isinstance(joined, ast.GeneratorExp | ast.ListComp):
        joined = joined.elt
    elements = joined.elts if isinstance(joined, ast.List) else [joined]
    return bool(elements) and all(
        isinstance(e, ast.Constant) and e.value in _MARKS for e in elements
    )


def _runs_a_text(source: SourceFile, place: _Place) -> bool:
    """Whether `exec` runs something else than a compiled file: that runs as its import would."""
    for node, above in _nodes(source):
        if isinstance(node, ast.Call) and _at(node) == place and _called_name(node) == "exec":
            scope = next((n for n in reversed(above) if isinstance(n, _Function)), source.tree)
            has_namespace = len(node.args) > 1 or bool(node.keywords)
            return not (has_namespace and scope and _is_compiled_file(node.args[0], scope))
    return True


def _is_compiled_file(code: ast.expr, scope: ast.AST) -> bool:
    """Return whether code comes from `compile`, of a text that was read from a file of a name."""
    values = _values(code, scope)
    for value in values:
        if not (isinstance(value, ast.Call) and _called_name(value) == "compile"):
            return False
        if len(value.args) < 2 or not _is_read(value.args[0], scope):
            return False
        name = value.args[1]
        if isinstance(name, ast.Constant) and str(name.value).startswith("<"):
            return False
    return bool(values)


def _is_read(text: ast.expr, scope: ast.AST, seen: frozenset[ast.expr] = frozenset()) -> bool:
    """Return whether an expression is an open file, or the text of one."""
    values = [value for value in _values(text, scope) if value not in seen]
    for value in values:
        if not isinstance(value, ast.Call):
            return False
        called = _called_name(value)
        if called in ("read", "decode") and isinstance(value.func, ast.Attribute):
            if not _is_read(value.func.value, scope, seen | {value}):
                return False
        elif called == "open" and isinstance(value.func, ast.Attribute):
            owner = value.func.value
            module = isinstance(owner, ast.Name) and owner.id in ("io", "tokenize", "codecs")
            if not module and not all(isinstance(a, ast.Constant) for a in value.args):
                return False
        elif called not in ("open", "read_text", "read_bytes"):
            return False
    return bool(values)


def _values(node: ast.expr, scope: ast.AST) -> list[ast.expr]:
    """Return what a name is bound to within its function, by `=` and `with`; else the node."""
    if not isinstance(node, ast.Name):
        return [node]
    found: list[ast.expr] = []
    for inner in ast.walk(scope):
        if isinstance(inner, ast.Assign) and ast.unparse(inner.targets[0]) == node.id:
            found.append(inner.value)
        elif isinstance(inner, ast.withitem) and inner.optional_vars:
            found += [inner.context_expr] * (ast.unparse(inner.optional_vars) == node.id)
        elif isinstance(inner, ast.arg) and inner.arg == node.id:
            return []
    return found


def _called_name(node: ast.Call) -> str:
    called = node.func
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _at(node: ast.expr | ast.stmt) -> _Place:
    return node.lineno, node.col_offset + 1


def _holds(node: ast.expr | ast.stmt, place: _Place) -> bool:
    end = (node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1)
    return _at(node) <= place <= end


@lru_cache(maxsize=8)
def _uses(source: SourceFile) -> dict[str, list[_Placed]]:
    """Return the names and attributes of a file by how they are written."""
    found: dict[str, list[_Placed]] = {}
    for node, above in _nodes(source):
        if isinstance(node, ast.Name | ast.Attribute):
            found.setdefault(ast.unparse(node), []).append((node, above))
    return found


@lru_cache(maxsize=8)
def _nodes(source: SourceFile) -> list[_Placed]:
    """Return every node with those above it, outer ones first."""
    assert source.tree is not None
    found: list[_Placed] = []
    stack: list[_Placed] = [(source.tree, ())]
    while stack:
        node, above = stack.pop()
        found.append((node, above))
        around = (*above, node)
        stack.extend((child, around) for child in reversed(list(ast.iter_child_nodes(node))))
    return found


_JUDGES: dict[str, Callable[[SourceFile, _Place], bool]] = {
    "S101": _checks_an_input,
    "S102": _runs_a_text,
    "S608": _runs_as_sql,
    "B018": _is_lost,
    "B023": _is_kept,
    "PLW0127": _is_forgotten_self,
}
