"""`functions`: every function does something, and those that are wanted exist.

What leaves its work to others, or says that there is none, is not a stub: abstract methods, those
of protocols and of base classes, hooks that a class overrides, and what a comment explains.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_reflex.checks.code.sources import CodeInput, CodeReport, SourceFile
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckContext

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ABSTRACT = frozenset(
    {
        *("abstractmethod", "overload", "abstractproperty", "hookspec"),
        *("singledispatch", "singledispatchmethod", "group", "callback"),
        *("scenario", "given", "when", "then"),
    }
)
"""Decorators of functions that others fill in, or that have nothing to do but to have a name."""

_BASE_NAME = re.compile(r"(?:Base|Abstract)(?![a-z])|(?:Mixin|Interface|ABC)$")
_FOR_OTHERS = re.compile(
    r"subclass|sub-class|overrid|overload|inherit|derived|abstract|must (?:be )?implement|interface"
    r"|base class|hook",
    re.IGNORECASE,
)
_NO_ACTION = re.compile(r"_*(?:no_?op|nop|null|dummy|ignore\w*|do_nothing|pass_?)_*|__\w+__")
_CALLED_BY_OTHERS = re.compile(
    r"_*(?:on|visit|depart|leave|enter|exit|before|after|pre|post|handle|did|will)_\w+"
    r"|_*(?:setup|set_up|teardown|tear_down|setUp|tearDown)(?:_?\w+)?"
    r"|_*(?:callback|hook|listener|\w+_(?:callback|hook))"
)
"""Methods that a framework calls when something happens, and that may have nothing to do then."""

_NOT_YET = re.compile(
    r"todo|fixme|later|\byet\b|implement|stub|placeholder|to be (?:done|written)|your code",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a function: its class, whether others build on that, and the file."""

    owner: ast.ClassDef | None
    is_base: bool
    comments: Mapping[int, str]
    names: Counter[str]


def stubs(tree: ast.Module, comments: Mapping[int, str]) -> Iterator[Finding]:
    """Yield the functions that are stubs; `comments` are those of the file by their lines."""
    nodes = list(ast.walk(tree))
    based_on = {
        name for n in nodes if isinstance(n, ast.ClassDef) for b in n.bases for name in _names(b)
    }
    names = Counter(node.name for node in nodes if isinstance(node, _Function))
    outside = _Around(None, False, comments, names)
    stack: list[tuple[ast.AST, _Around]] = [(tree, outside)]
    while stack:
        node, around = stack.pop()
        if isinstance(node, ast.ClassDef):
            if any("Protocol" in _names(base) for base in node.bases):
                continue
            around = _Around(node, _is_base(node, based_on), comments, names)
        elif isinstance(node, _Function):
            if _is_stub(node, around):
                yield Finding(f"{node.name} has no body", node.lineno, node.col_offset + 1)
            around = outside
        children = ast.iter_child_nodes(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in _names(node.test):
            children = iter(node.orelse)
        stack.extend((child, around) for child in reversed(list(children)))


def _is_base(node: ast.ClassDef, based_on: set[str]) -> bool:
    """Return whether a class leaves something to those that inherit from it."""
    if node.name in based_on or _BASE_NAME.search(node.name):
        return True
    if _FOR_OTHERS.search(ast.get_docstring(node) or ""):
        return True
    methods = [n for n in node.body if isinstance(n, _Function) and not n.name.startswith("__")]
    has_base = any(
        name not in ("object", "ABC", "Generic") for b in node.bases for name in _names(b)
    )
    return not has_base and bool(methods) and all(map(_raises, methods))


def _is_stub(function: _Function, around: _Around) -> bool:
    if any(name in _ABSTRACT for mark in function.decorator_list for name in _names(mark)):
        return False
    body = _without_docstring(function)
    if not all(map(_does_nothing, body)):
        return False
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        return not _is_left_to_others(function, body[0], around)
    if body and any(not isinstance(statement, ast.Pass) for statement in body):
        return True
    return not _may_pass(function, around)


def _may_pass(function: _Function, around: _Around) -> bool:
    """Return whether a function without action is meant to have none."""
    if around.owner is not None and (around.is_base or around.owner.bases):
        return True
    last = (function.end_lineno or function.lineno) + 1
    comments = [around.comments[n] for n in range(function.lineno, last) if n in around.comments]
    if any(map(_NOT_YET.search, comments)):
        return False
    if _NO_ACTION.fullmatch(function.name) or around.names[function.name] > 1:
        return True
    if around.owner is not None and _CALLED_BY_OTHERS.fullmatch(function.name):
        return True
    return bool(comments)


def _is_left_to_others(function: _Function, error: ast.Raise, around: _Around) -> bool:
    """Return whether a method says that others have to have it, or that this class cannot."""
    if around.owner is None:
        return False
    if around.is_base or _is_called_by(around.owner, function.name):
        return True
    if _FOR_OTHERS.search(ast.get_docstring(function) or ""):
        return True
    arguments = error.exc.args if isinstance(error.exc, ast.Call) else []
    said = " ".join(ast.unparse(argument) for argument in arguments)
    if _FOR_OTHERS.search(said):
        return True
    return bool(said and around.owner.bases) and not _NOT_YET.search(said)


def _is_called_by(owner: ast.ClassDef, name: str) -> bool:
    """Return whether a class uses a method of its own, which is then for its subclasses to fill."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        for node in ast.walk(owner)
    )


def _raises(function: _Function) -> bool:
    body = _without_docstring(function)
    return len(body) == 1 and isinstance(body[0], ast.Raise) and _does_nothing(body[0])


def _without_docstring(function: _Function) -> list[ast.stmt]:
    return (
        function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    )


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


_NOTE = re.compile(r"#\s*(?:TODO|FIXME)\b|#\s*(?:todo|fixme):")
_OPEN = re.compile(
    r"#\s*(?i:(?:(?:todo|fixme):?\s*)?(?:your code|implementation goes"
    r"|(?:\.\.\.|…)\s*(?:the\s+)?(?:rest|remaining|more|other|your|existing|same|implement)"
    r"|(?:the )?rest of (?:the |your )?(?:code|file|function|class|methods?)"
    r"|(?:the )?(?:implementation|code|details?|body|logic) (?:(?:is|are|was|were) )?omitted\b"
    r"|(?:\w+ )?omitted for brevity|(?:existing|previous|original) code (?:here|goes|remains)"
    r"|implement(?: (?:me|this|here|later|it)\b|$)))"
)


def judge(reading: CodeInput, context: CheckContext) -> CodeReport:
    """Find stubs, comments that say that something is missing, and wanted names that are not."""
    sources = [source for source in reading.sources if not source.name.endswith(".pyi")]
    found = [source.locate(one) for source in sources for one in _in(source)]
    defined = {name for source in sources for name in _definitions(source)}
    missing = [name for name in reading.params.get("names", ()) if name not in defined]
    found += [reading.sources[0].locate(Finding(f"{name} is not defined")) for name in missing]
    return CodeReport(
        found, f"{len(defined)} functions and classes, none of them a stub{_notes(sources)}"
    )


def _notes(sources: list[SourceFile]) -> str:
    """Return how many notes to themselves people left, and where the first is: no problem."""
    notes = [
        f"line {line}" + (f" of {source.name}" if len(sources) > 1 else "")
        for source in sources
        for line, comment in sorted(_comments(source).items())
        if _NOTE.match(comment)
    ]
    return f"; comments that say TODO or FIXME: {len(notes)} ({notes[0]})" if notes else ""


def _comments(source: SourceFile) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}


def _in(source: SourceFile) -> Iterator[Finding]:
    assert source.tree is not None
    comments = _comments(source)
    yield from stubs(source.tree, comments)
    for line, comment in comments.items():
        if said := _OPEN.match(comment):
            yield Finding(f"a comment says that something is missing: {said[0]}", line)


def _definitions(source: SourceFile) -> Iterator[str]:
    """Yield the names of functions and classes, methods as Class.method."""
    stack: list[tuple[str, ast.AST]] = [("", source.tree)] if source.tree else []
    while stack:
        prefix, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Function | ast.ClassDef):
                yield prefix + child.name
                stack.append((f"{prefix}{child.name}.", child))
