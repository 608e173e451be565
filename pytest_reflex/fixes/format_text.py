"""`format`: what a program that the criteria's author declared makes of the text.

Who runs the program is given by the caller, so that nothing here is I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_reflex.fixes.kind import Fault, Field, FixError, Kind, Params
from pytest_reflex.model.rules import FORMAT

FILE, STDOUT = "file", "stdout"
OUTPUTS = (FILE, STDOUT)

Formatter = Callable[[Params, str], str]
"""Runs the command of a fix on a text and returns what became of it; raises FixError."""


def nobody(params: Params, document: str) -> str:
    """Run no program; raises FixError."""
    raise FixError(f"format: {params['command']} was not run: no program is run here")


def settled(params: Params, document: str, formatter: Formatter) -> str:
    """Return what the formatter makes of the document, which it leaves alone once it is made.

    Raises FixError where the formatter gives no text, or changes its own result.
    """
    once = formatter(params, document)
    if once != document and formatter(params, once) != once:
        raise FixError(f"format: {params['command']} changes its own result, without an end")
    return once


def faults(params: Params) -> Iterable[Fault]:
    """Find arguments that are not texts, or could be taken for options."""
    for name, value in params.get("args", {}).items():
        if not isinstance(value, str):
            yield "args", f"format: the argument {name} must be text, not {value!r}"
        elif value.startswith("-"):
            hint = "options go into argv"
            yield "args", f"format: the argument {name} must not begin with a hyphen; {hint}"


FORMAT_TEXT = Kind(
    name=FORMAT,
    fields={
        "command": Field(str, required=True, filled=True),
        "args": Field(dict),
        "output": Field(str, choices=OUTPUTS),
    },
    apply=nobody,
    faults=faults,
)
