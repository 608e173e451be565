"""`annotations`: every function says which types it takes and returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_reflex.checks.code.sources import CodeInput, CodeReport, SourceFinding
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckContext

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def judge(reading: CodeInput, context: CheckContext) -> CodeReport:
    """Find functions with a parameter or a result that has no annotation; tests are left out."""
    found: list[SourceFinding] = []
    count = 0
    for source in reading.sources:
        if source.is_test or source.tree is None:
            continue
        for function, in_class in _functions(source.tree):
            count += 1
            if bare := _bare(function, in_class):
                message = f"{function.name} does not say the type of {', '.join(bare)}"
                found.append(
                    source.locate(Finding(message, function.lineno, function.col_offset + 1))
                )
    return CodeReport(found, f"{count} functions, all of them annotated")


def _functions(tree: ast.Module) -> Iterator[tuple[_Function, bool]]:
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Function):
                yield child, isinstance(node, ast.ClassDef)
            stack.append(child)


def _bare(function: _Function, in_class: bool) -> list[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args]
    static = any(
        isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list
    )
    if in_class and every and not static:
        every = every[1:]
    every += arguments.kwonlyargs
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
    bare = [argument.arg for argument in every if argument.annotation is None]
    if function.returns is None and function.name not in ("__init__", "__post_init__"):
        bare.append("its result")
    return bare
