"""``loop status --watch``: shows a loop each time it has changed, until nobody drives it."""

from __future__ import annotations

import sys
import time

import click

from pytest_reflex.cli.streams import give
from pytest_reflex.drivers.reflex.overview import Run, read_run, status_text
from pytest_reflex.errors import UsageError

_LEAST = 0.1


def pause_and_alias(watch: str | None, alias: str | None) -> tuple[float | None, str | None]:
    """Return the seconds between two looks, None without --watch, and the alias.

    The value is optional: a word after `--watch` that is no number is the alias.
    """
    if watch is None:
        return None, alias
    try:
        pause = float(watch)
    except ValueError:
        if alias is not None:
            raise UsageError(f"--watch {watch!r}: expected seconds, such as 2") from None
        return 1.0, watch
    if not _LEAST <= pause < 10_000:
        raise UsageError(f"--watch {watch}: expected at least {_LEAST} seconds")
    return pause, alias


def watched(run: Run, pause: float, *, quiet: bool) -> Run:
    """Show a run each time it changes (not with `quiet`); return it when nobody drives it."""
    shown = ""
    while True:
        text = status_text(run)
        if text != shown and not quiet:
            draw(text, again=bool(shown))
        shown = text
        if not run.alive:
            return run
        time.sleep(pause)
        run = read_run(run.folder)


def draw(text: str, *, again: bool) -> None:
    """Write over what stands on a terminal; elsewhere a blank line parts one from the next."""
    if again and sys.stdout.isatty():
        click.clear()
    elif again:
        give("")
    give(text)
    sys.stdout.flush()
