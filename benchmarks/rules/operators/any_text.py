"""Faults of any artifact."""

from __future__ import annotations

from functools import partial

from benchmarks.rules.operators import Operator

FORMATS = {
    "api-spec": ("yaml", "json", "markdown"),
    "code": ("file", "folder"),
    "configuration": ("yaml", "json", "toml", "ini", "env", "compose", "workflow"),
    "documentation": ("markdown",),
    "guide": ("markdown",),
    "reference": ("markdown",),
    "changelog": ("markdown",),
    "adr": ("markdown",),
}


def leave(left: str, text: str) -> str:
    return left


OPERATORS = tuple(
    Operator(
        templates=(template,),
        rule="a.correctness.artifact-non-empty",
        formats=formats,
        name=name,
        change=partial(leave, left),
        each_file=True,
    )
    for template, formats in FORMATS.items()
    for name, left in (("nothing", ""), ("blanks only", "  \n"), ("line ends only", "\n\n\n"))
)
