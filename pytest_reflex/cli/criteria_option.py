"""Which criteria a command means: one meaning of ``--criteria`` and ``--template`` everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from pytest_reflex.errors import UsageError
from pytest_reflex.settings import Settings


def criteria_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what to hold an artifact to."""
    for option in (
        click.option("--var", "variables", metavar="K=V", multiple=True, help="Set a variable."),
        click.option("--template", metavar="NAME|FILE", help="The same as --criteria."),
        click.option(
            "--criteria", metavar="NAME|FILE", help="A template's name or a criteria file."
        ),
    ):
        command = option(command)
    return command


def chosen_criteria(criteria: str | None, template: str | None, settings: Settings) -> str:
    """Return what was named, else the setting; raises UsageError for nothing, "" or two."""
    for flag, given in (("--criteria", criteria), ("--template", template)):
        if given == "":
            raise UsageError(f"{flag} names no criteria: it is empty", hint="is a variable unset?")
    if template and criteria:
        raise UsageError("--template and --criteria exclude each other", hint="name one of them")
    chosen = template or criteria or settings["loop.template"]
    if not chosen:
        from pytest_reflex.criteria.templates import stock_names

        hint = "--criteria FILE, or one of: " + ", ".join(stock_names())
        raise UsageError("no criteria were named", hint=hint)
    return str(chosen)


def parse_variables(pairs: Iterable[str]) -> dict[str, Any]:
    """Read K=V pairs; the criteria say of what kind each is."""
    from pytest_reflex.criteria.diagnostics import parse_variable

    return dict(parse_variable(pair) for pair in pairs)
