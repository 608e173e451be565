"""The argument ALIAS of the verbs of a loop, completed by the shell with those that make sense."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.options import Completer, completing


def state_root() -> Path:
    """Return the folder of the loops' state, as it is configured here."""
    root: str = configured({})["loop.root"]
    return Path.cwd() / root


def alias_argument(wanted: str = "") -> Callable[..., Any]:
    """Return the argument; `wanted` names a test of `loops.survey` that a run has to pass."""
    return click.argument("alias", required=False, shell_complete=completer(wanted))


def completer(wanted: str = "") -> Completer:
    """Return what completes an alias."""

    def loops() -> Iterator[CompletionItem]:
        from pytest_reflex.drivers.reflex import survey
        from pytest_reflex.storage.folders import is_alias

        test = getattr(survey, wanted) if wanted else lambda found: found.run is not None
        for one in survey.survey(state_root()):
            if is_alias(one.alias) and test(one):
                yield CompletionItem(one.alias, help=one.status)

    return completing(loops)
