"""``pytest-reflex runs``: the runs of all drivers in one list; it looks and writes nothing."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_reflex.cli.configured import configured
from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.watching import list_text, pause_and_name, show, watch_option
from pytest_reflex.errors import ReflexError, UsageError, did_you_mean
from pytest_reflex.model.plain import visible

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.catalog import ListRuns, RunRow
    from pytest_reflex.settings import Settings

_FURTHER = "common.record_file"
# module below `drivers` that has `list_runs`: the drivers whose runs it lists; none: any further.
LISTS = {
    "reflex.catalog": ("loop", "pytest-loop"),
    "iterate.catalog": ("iterate",),
    _FURTHER: (),
}
DRIVERS = tuple(name for names in LISTS.values() for name in names)


@click.command(short_help="List the runs of all drivers.")
@click.option("--driver", metavar="|".join(DRIVERS), help="Those of one driver.")
@json_option
@watch_option("no run is at work")
def runs(driver: str | None, as_json: bool, watch: str | None) -> int:
    """List the runs in this folder: of `loop`, `pytest --reflex-loop` and `iterate`.

    A terminal gets a table, a pipe lines with tabs between the fields. Runs that are damaged are
    listed with what is wrong. With --watch every change is shown; with --json too, only the end is.
    """
    pause, word = pause_and_name(watch, None)
    if word is not None:
        raise UsageError(f"--watch {word!r}: expected seconds, such as 2")
    settings = configured()
    further = [] if driver in (None, *DRIVERS) else _rows(_FURTHER, settings, "")
    if driver not in (None, *DRIVERS, *(one.driver for one in further)):
        raise UsageError(f"there is no driver {driver!r}", hint=did_you_mean(driver, DRIVERS))

    def look() -> list[RunRow]:
        return _found(settings, driver)

    return show(
        look,
        text=list_text,
        document=lambda rows: {"root": str(Path.cwd()), "runs": [row.to_json() for row in rows]},
        goes_on=lambda rows: any(row.driven for row in rows),
        pause=pause,
        as_json=as_json,
        nothing=lambda: f"There are no runs in {visible(str(Path.cwd()))}.",
    )


def _found(settings: Settings, driver: str | None) -> list[RunRow]:
    """Return the rows of one driver, or of all."""
    found: list[RunRow] = []
    for module, names in LISTS.items():
        if driver is None or driver in names or not names:
            found += _rows(module, settings, names[0] if names else "")
    return [one for one in found if driver in (None, one.driver)]


def _rows(module: str, settings: Settings, driver: str) -> list[RunRow]:
    """Return what a module lists; where its folder cannot be read, a row that says why."""
    from pytest_reflex.drivers.common.catalog import DAMAGED, RunRow

    listed: ListRuns = importlib.import_module(f"pytest_reflex.drivers.{module}").list_runs
    try:
        return list(listed(Path.cwd(), settings))
    except (ReflexError, OSError) as error:
        return [RunRow(driver=driver, name="", status=DAMAGED, problem=str(error))]
