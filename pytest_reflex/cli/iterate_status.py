"""``pytest-reflex iterate status``: where runs of procedures stand; it looks and writes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.iterate_names import iterate_root, known, procedure_argument
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.watching import list_text, pause_and_name, show, watch_option
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.status import Standing


@click.command(short_help="Show where a procedure stands, or all of them.")
@procedure_argument(required=False)
@json_option
@watch_option("no process drives a run")
def status(procedure: str | None, as_json: bool, watch: str | None) -> int:
    """Show where the run of PROCEDURE stands, or those of all procedures that have a state.

    A run whose process is gone is shown as "running (interrupted)". All of them are a table on a
    terminal, and lines with tabs between the fields in a pipe. With --watch every change is shown;
    with --json too, only the end is.
    """
    from pytest_reflex.drivers.iterate.status import procedures_with_state, standing_text

    pause, procedure = pause_and_name(watch, procedure)
    root = iterate_root()
    alone = known(procedure, root) if procedure is not None else None

    def look() -> list[Standing]:
        names = procedures_with_state(root) if alone is None else [alone]
        return [_standing(root, name) for name in names]

    def document(found: list[Standing]) -> Any:
        every = [one.to_json() for one in found]
        return {"root": str(root), "procedures": every} if alone is None else every[0]

    def text(found: list[Standing]) -> str:
        alike = [one.row() for one in found]
        return list_text(alike) if alone is None else standing_text(found[0])

    return show(
        look,
        text=text,
        document=document,
        goes_on=lambda found: any(one.driven for one in found),
        pause=pause,
        as_json=as_json,
        nothing=lambda: f"No procedure has a run under way in {visible(str(root))}.",
    )


def _standing(root: Path, name: str) -> Standing:
    """Return where a procedure stands; one that is no longer configured cannot go on."""
    from pytest_reflex.drivers.iterate.procedures import procedure_names
    from pytest_reflex.drivers.iterate.status import standing_of

    settings = configured()
    found = standing_of(root, name, budget=settings["iterate.budget"])
    return replace(found, configured=name in procedure_names(settings))
