"""``status --watch``: shows a run each time it has changed, until nobody drives it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from pytest_reflex.cli.streams import give
from pytest_reflex.errors import UsageError

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

    The value is optional: a word after `--watch` that is no number is the name.
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


def watched(
    look: Callable[[], Seen],
    *,
    show: Callable[[Seen], str],
    goes_on: Callable[[Seen], bool],
    pause: float,
    quiet: bool,
) -> Seen:
    """Show what is seen each time it changes (not with `quiet`); return it when nothing goes on."""
    shown = ""
    while True:
        seen = look()
        text = show(seen)
        if text and text != shown and not quiet:
            draw(text, again=bool(shown))
        shown = text
        if not goes_on(seen):
            return seen
        time.sleep(pause)


def draw(text: str, *, again: bool) -> None:
    """Write over what stands on a terminal; elsewhere a blank line parts one from the next."""
    if again and sys.stdout.isatty():
        click.clear()
    elif again:
        give("")
    give(text)
    sys.stdout.flush()
