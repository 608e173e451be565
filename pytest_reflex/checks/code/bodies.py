"""`functions`: every function does something, and those that are wanted are there."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from pytest_reflex.checks.code.sources import Reading, Seen, Source
from pytest_reflex.checks.code.stubs import stubs
from pytest_reflex.checks.finding import Finding
from pytest_reflex.model.targets import CheckContext

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NOTE = re.compile(r"#\s*(?:TODO|FIXME)\b|#\s*(?:todo|fixme):")
_OPEN = re.compile(
    r"#\s*(?i:(?:(?:todo|fixme):?\s*)?(?:your code|implementation goes"
    r"|(?:\.\.\.|…)\s*(?:the\s+)?(?:rest|remaining|more|other|your|existing|same|implement)"
    r"|(?:the )?rest of (?:the |your )?(?:code|file|function|class|methods?)"
    r"|(?:the )?(?:implementation|code|details?|body|logic) (?:(?:is|are|was|were) )?omitted\b"
    r"|(?:\w+ )?omitted for brevity|(?:existing|previous|original) code (?:here|goes|remains)"
    r"|implement(?: (?:me|this|here|later|it)\b|$)))"
)


def judge(reading: Reading, context: CheckContext) -> Seen:
    """Find stubs, comments that say that something is missing, and wanted names that are not."""
    sources = [source for source in reading.sources if not source.name.endswith(".pyi")]
    found = [source.told(one) for source in sources for one in _in(source)]
    defined = {name for source in sources for name in _defined(source)}
    missing = [name for name in reading.params.get("names", ()) if name not in defined]
    found += [reading.sources[0].told(Finding(f"{name} is not defined")) for name in missing]
    return Seen(
        found, f"{len(defined)} functions and classes, none of them a stub{_notes(sources)}"
    )


def _notes(sources: list[Source]) -> str:
    """Return how many notes to themselves people left, and where the first is: no fault."""
    notes = [
        f"line {line}" + (f" of {source.name}" if len(sources) > 1 else "")
        for source in sources
        for line, comment in sorted(_comments(source).items())
        if _NOTE.match(comment)
    ]
    return f"; comments that say TODO or FIXME: {len(notes)} ({notes[0]})" if notes else ""


def _comments(source: Source) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    return {t.start[0]: t.string for t in tokens if t.type == tokenize.COMMENT}


def _in(source: Source) -> Iterator[Finding]:
    assert source.tree is not None
    comments = _comments(source)
    yield from stubs(source.tree, comments)
    for line, comment in comments.items():
        if said := _OPEN.match(comment):
            yield Finding(f"a comment says that something is missing: {said[0]}", line)


def _defined(source: Source) -> Iterator[str]:
    """Yield the names of functions and classes, methods as Class.method."""
    stack: list[tuple[str, ast.AST]] = [("", source.tree)] if source.tree else []
    while stack:
        prefix, node = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Function | ast.ClassDef):
                yield prefix + child.name
                stack.append((f"{prefix}{child.name}.", child))
