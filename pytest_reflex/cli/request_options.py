"""What verbs that ask something of a run share: options, and the question before a removal."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from pytest_reflex.cli.streams import say
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import visible

wait_option = click.option(
    "--wait",
    "patience",
    type=click.FloatRange(min=0),
    default=15.0,
    metavar="SECONDS",
    help="How long to wait for the process that drives it (default: 15; 0: do not).",
)
now_option = click.option("--now", is_flag=True, help="End the agent that runs, too.")
reason_option = click.option("--reason", metavar="TEXT", help="Why; it is recorded.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def confirm_removal(lost: Mapping[str, str], noun: str, *, yes: bool) -> None:
    """Say what will be lost, and ask on a terminal; elsewhere --yes must have been given.

    `lost` has what is lost of each thing that goes, by its name; `noun` says what they are.
    """
    if not lost or yes:
        return
    for name, what in lost.items():
        say(f"{visible(name)}: {what}")
    what = f"this {noun}" if len(lost) == 1 else f"these {len(lost)} {noun}s"
    confirm(f"Remove {what}?", "this was not confirmed", "removed")


def confirm(question: str, missing: str, done: str = "written") -> None:
    """Ask on a terminal; raises UsageError elsewhere, which says what is `missing`."""
    if not sys.stdin.isatty():
        raise UsageError(
            f"{missing}, and there is no terminal to ask on",
            hint=f"add --yes; nothing was {done}",
        )
    click.confirm(question, abort=True, err=True)
