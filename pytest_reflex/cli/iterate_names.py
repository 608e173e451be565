"""The argument PROCEDURE of the verbs of `iterate`, completed by the shell with those that fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from pytest_reflex.cli.configured import configured


def procedure_argument(*, required: bool = True, resumable: bool = False) -> Callable[..., Any]:
    """Return the argument; `resumable` completes those whose run can go on."""
    complete = _resumable if resumable else _all
    return click.argument("procedure", required=required, shell_complete=complete)


def _all(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the names that fit what is begun; none where that fails: a shell asks."""
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.errors import ReflexError

    try:
        return [
            CompletionItem(name) for name in procedure_names(configured()) if _fits(name, begun)
        ]
    except (ReflexError, OSError):
        return []


def _resumable(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import procedures_with_state, standing_of
    from pytest_reflex.errors import ReflexError

    try:
        settings = configured()
        root, known = Path.cwd() / settings["iterate.root"], procedure_names(settings)
        found = [standing_of(root, name) for name in procedures_with_state(root)]
        return [
            CompletionItem(one.procedure, help=one.shown_status)
            for one in found
            if one.next_step and one.procedure in known and _fits(one.procedure, begun)
        ]
    except (ReflexError, OSError):
        return []


def _fits(name: str, begun: str) -> bool:
    return name.startswith(begun)
