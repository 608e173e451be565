"""``pytest-reflex iterate status``: where runs of procedures stand; it looks and writes nothing."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.iterate_names import procedure_argument
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ExitCode, UsageError, did_you_mean
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.status import Standing


@click.command(short_help="Show where a procedure stands, or all of them.")
@procedure_argument(required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def status(procedure: str | None, as_json: bool) -> int:
    """Show where the run of PROCEDURE stands, or those of all procedures that have a state.

    A run whose process is gone is shown as "running (interrupted)". All of them are a table on a
    terminal, and lines with tabs between the fields in a pipe.
    """
    from pytest_reflex.drivers.iterate import status as looking

    root = Path.cwd() / configured()["iterate.root"]
    if procedure is not None:
        standing = _standing(root, _known(procedure, root))
        if as_json:
            give_json(standing.to_json())
        else:
            give(looking.standing_text(standing))
        return ExitCode.OK
    found = [_standing(root, name) for name in looking.procedures_with_state(root)]
    if as_json:
        give_json({"root": str(root), "procedures": [one.to_json() for one in found]})
    elif not found:
        say(f"No procedure has a run under way in {visible(str(root))}.")
    else:
        give(looking.table(found) if sys.stdout.isatty() else looking.plain_lines(found))
    return ExitCode.OK


def _standing(root: Path, name: str) -> Standing:
    """Return where a procedure stands; one that is no longer configured cannot go on."""
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import standing_of

    return replace(standing_of(root, name), configured=name in procedure_names(configured()))


def _known(procedure: str, root: Path) -> str:
    """Return the name of a procedure that there is, or that has a state; raises UsageError."""
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import procedures_with_state

    names = dict.fromkeys((*procedure_names(configured()), *procedures_with_state(root)))
    if procedure not in names:
        raise UsageError(
            f"there is no procedure {procedure!r}", hint=did_you_mean(procedure, names)
        )
    return procedure
