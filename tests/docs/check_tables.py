"""The tables of the page of checks, written from the declarations of the checks themselves.

A comment ``<!-- table: NAME -->`` in the page stands before each of them; the table that follows
it, up to the next blank line, is ours, everything else the author's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_reflex.checks import content
from pytest_reflex.checks.options import ParameterType
from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.selection import FileScope
from pytest_reflex.checks.structure import check
from pytest_reflex.checks.structure.check import StructureKind

PAGE = "docs/reference/checks.md"
TYPES: dict[str, Mapping[str, ParameterType]] = {
    **{
        kind.name: kind.parameters
        for kind in built_in_registry().for_authors.values()
        if hasattr(kind, "parameters")
    },
    "folders": check.COMMON,
}
_MARKED = re.compile(r"(<!-- table: ([\w ]+) -->\n\n)(?:\|.*\n)*")


def tables() -> dict[str, str]:
    """Return every table by its name: a type, `structure KIND`, and either with ` choices`."""
    scopes = [(scope.asks, scope.passes, scope.without) for scope in FileScope]
    meanings = {"content": content.TOGETHER}
    meanings |= {key: check.kind_of(key).together for key in check.KINDS}
    together = FileScope.TOGETHER
    scopes += [
        (f"{together.asks}, with `{key}`", f"{together.passes}: {meaning}", together.without)
        for key, meaning in meanings.items()
        if meaning
    ]
    scopes.remove((together.asks, together.passes, together.without))
    head = ("a check that", "passes where", "without `files`, it looks at")
    found = {"folder scopes": _table(head, iter(scopes))}
    for name, kinds in TYPES.items():
        found[name] = options_table(kinds)
        for key, kind in kinds.items():
            if kind.choices:
                found[f"{name} choices"] = choices_table(key, kind)
    for key in check.KINDS:
        shape = check.kind_of(key)
        if rows := dict(_of_structure(shape)):
            found[f"structure {key}"] = options_table(rows)
        if shape.value and shape.value.choices:
            found[f"structure {key} choices"] = choices_table(key, shape.value)
    return found


def options_table(kinds: Mapping[str, ParameterType]) -> str:
    """Return a row for each option: its name, what it may hold, what it means, its default."""
    rows = ((f"`{key}`", _held(kind), kind.help, kind.default) for key, kind in kinds.items())
    return _table(("option", "value", "meaning", "default"), rows)


def choices_table(key: str, kind: ParameterType) -> str:
    """Return a row for each word that an option may hold."""
    return _table((key, "finds"), ((f"`{word}`", said) for word, said in kind.choices.items()))


def written(page: str) -> str:
    """Return the page with the tables as the code has them; raises KeyError at a strange name."""
    found = tables()
    return _MARKED.sub(lambda mark: mark[1] + found[mark[2]], page)


def named(page: str) -> list[str]:
    """Return the names of the tables that a page asks for, in its order."""
    return [mark[2] for mark in _MARKED.finditer(page)]


def _of_structure(shape: StructureKind) -> Iterator[tuple[str, ParameterType]]:
    # What has no word but a table of its own is reported by the rows of that table.
    if shape.value and not (shape.value.choices and not shape.beside):
        yield shape.key, shape.value
    yield from shape.inside.items()
    yield from shape.beside.items()


def _held(kind: ParameterType) -> str:
    return "one of the words listed" if kind.choices else kind.words


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    told = [f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines]
    return "\n".join([told[0], "|" + "---|" * len(head), *told[1:]]) + "\n"
