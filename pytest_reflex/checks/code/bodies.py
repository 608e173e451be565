"""`functions`: every function does something, and those that are wanted are there."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from pytest_reflex.checks.code.sources import Reading, Seen, Source
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckContext

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_OPEN = re.compile(r"#\s*(TODO|FIXME|XXX)\b|#\s*(?:\.\.\.|rest of|your code|implement)", re.I)
_ABSTRACT = frozenset({"abstractmethod", "overload", "abstractproperty", "hookspec"})


def judge(reading: Reading, context: CheckContext) -> Seen:
    """Find stubs, comments that say that something is missing, and wanted names that are not."""
    sources = [source for source in reading.sources if not source.name.endswith(".pyi")]
    found = [source.told(one) for source in sources for one in _in(source)]
    defined = {name for source in sources for name in _defined(source)}
    missing = [name for name in reading.params.get("names", ()) if name not in defined]
    found += [reading.sources[0].told(Finding(f"{name} is not defined")) for name in missing]
    return Seen(found, f"{len(defined)} functions and classes, none of them a stub")


def _in(source: Source) -> Iterator[Finding]:
    assert source.tree is not None
    yield from _stubs(source.tree)
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT and (said := _OPEN.match(token.string)):
            yield Finding(f"a comment says that something is missing: {said[0]}", token.start[0])


def _stubs(tree: ast.Module) -> Iterator[Finding]:
    """Yield functions that do nothing, but for those of a Protocol.

    A method that overrides another may pass: that is how it says that nothing has to be done.
    """
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, inherits = stack.pop()
        if isinstance(node, ast.ClassDef) and any("Protocol" in _names(b) for b in node.bases):
            continue
        if isinstance(node, _Function) and _is_stub(node, may_pass=inherits):
            yield Finding(f"{node.name} has no body", node.lineno, node.col_offset + 1)
        inherits = isinstance(node, ast.ClassDef) and bool(node.bases)
        stack.extend((child, inherits) for child in reversed(list(ast.iter_child_nodes(node))))


def _is_stub(function: _Function, *, may_pass: bool) -> bool:
    if any(name in _ABSTRACT for mark in function.decorator_list for name in _names(mark)):
        return False
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        documented = isinstance(body[0].value.value, str)
        body = body[1:] if documented else body
    if may_pass and len(body) == 1 and isinstance(body[0], ast.Pass):
        return False
    return not body or all(_does_nothing(statement) for statement in body)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return "NotImplementedError" in _names(statement.exc)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return statement.value.value is Ellipsis


def _names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr


def _defined(source: Source) -> Iterator[str]:
    """Yield the names of functions and classes, methods as Class.method."""
    stack: list[tuple[str, ast.AST]] = [("", source.tree)] if source.tree else []
    while stack:
        prefix, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Function | ast.ClassDef):
                yield prefix + child.name
                stack.append((f"{prefix}{child.name}.", child))
