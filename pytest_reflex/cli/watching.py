"""Showing runs: one, or a list, once or with ``--watch`` each time that something has changed."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pytest_reflex.drivers.common.catalog import RunRow

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
