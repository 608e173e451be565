"""Runs on the command line: one, or a list, once or watched; ``pytest-reflex runs`` lists those of
all drivers.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pytest_reflex.cli.options import json_option, load_settings
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ExitCode, ReflexError, UsageError, did_you_mean
from pytest_reflex.model.plain import escape_control

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.record import ListRuns, RunRow
    from pytest_reflex.settings import Settings


Seen = TypeVar("Seen")
_LEAST = 0.1


def watch_option(until: str) -> Callable[..., Any]:
    """Return the option --watch; `until` says when the watching ends."""
    return click.option(
        "--watch",
        metavar="[SECONDS]",
        is_flag=False,
        flag_value="1",
        help=f"Look again every second, or so many, until {until}.",
    )


def pause_and_name(watch: str | None, name: str | None) -> tuple[float | None, str | None]:
    """Return the seconds between two looks, None without --watch, and the name of what is watched.

    The value is optional: a word after `--watch` that is not a number is the name.
    """
    if watch is None:
        return None, name
    try:
        pause = float(watch)
    except ValueError:
        if name is not None:
            raise UsageError(f"--watch {watch!r}: expected seconds, such as 2") from None
        return 1.0, watch
    if not _LEAST <= pause < 10_000:
        raise UsageError(f"--watch {watch}: expected at least {_LEAST} seconds")
    return pause, name


def show(
    look: Callable[[], Seen],
    *,
    text: Callable[[Seen], str],
    document: Callable[[Seen], Any],
    goes_on: Callable[[Seen], bool],
    pause: float | None,
    as_json: bool,
    nothing: Callable[[], str] = str,
) -> int:
    """Print what is seen: once, or with a `pause` each time it changes until nothing goes on.

    As JSON only the end is printed; where there is no text, `nothing` says so on stderr.
    """
    seen, shown = look(), ""
    while pause is not None:
        now = text(seen)
        if now and now != shown and not as_json:
            draw(now, again=bool(shown))
        shown = now
        if not goes_on(seen):
            break
        time.sleep(pause)
        seen = look()
    if as_json:
        give_json(document(seen))
    elif not (now := text(seen)):
        say(nothing())
    elif pause is None:
        give(now)
    return ExitCode.OK


def list_text(rows: Sequence[RunRow]) -> str:
    """Return a list of runs: a table for a terminal, lines with tabs for a pipe."""
    from pytest_reflex.reports.runs import plain_lines, table

    found = [row.to_json() for row in rows]
    if not sys.stdout.isatty():
        return plain_lines(found)
    return table(found, shutil.get_terminal_size().columns) if found else ""


def draw(text: str, *, again: bool) -> None:
    """Write over what stands on a terminal; elsewhere a blank line parts one from the next."""
    if again and sys.stdout.isatty():
        click.clear()
    elif again:
        give("")
    give(text)
    sys.stdout.flush()


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
    settings = load_settings()
    further = [] if driver in (None, *DRIVERS) else _rows(_FURTHER, settings, "")
    if driver not in (None, *DRIVERS, *(one.driver for one in further)):
        raise UsageError(f"there is no driver {driver!r}", hint=did_you_mean(driver, DRIVERS))

    def look() -> list[RunRow]:
        return _find_rows(settings, driver)

    return show(
        look,
        text=list_text,
        document=lambda rows: {"root": str(Path.cwd()), "runs": [row.to_json() for row in rows]},
        goes_on=lambda rows: any(row.driven for row in rows),
        pause=pause,
        as_json=as_json,
        nothing=lambda: f"There are no runs in {escape_control(str(Path.cwd()))}.",
    )


def _find_rows(settings: Settings, driver: str | None) -> list[RunRow]:
    """Return the rows of one driver, or of all."""
    found: list[RunRow] = []
    for module, names in LISTS.items():
        if driver is None or driver in names or not names:
            found += _rows(module, settings, names[0] if names else "")
    return [one for one in found if driver in (None, one.driver)]


def _rows(module: str, settings: Settings, driver: str) -> list[RunRow]:
    """Return what a module lists; where its folder cannot be read, a row that says why."""
    from pytest_reflex.drivers.common.record import DAMAGED, RunRow

    listed: ListRuns = importlib.import_module(f"pytest_reflex.drivers.{module}").list_runs
    try:
        return list(listed(Path.cwd(), settings))
    except (ReflexError, OSError) as error:
        return [RunRow(driver=driver, name="", status=DAMAGED, problem=str(error))]
