"""Whether a person agrees to criteria and limits: asked on a terminal, or by `--reflex-yes`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import click
import pytest

from pytest_reflex.drivers.pytest_loop.survey import Survey
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.plain import visible
from pytest_reflex.reports.proposal import proposal_text

NOT_CONFIRMED = "criteria and max iterations are not confirmed"
QUESTION = "Start the loop with these criteria and limits?"


def refuse_unasked(config: pytest.Config) -> None:
    """Raise UsageError where nobody has agreed and nobody could be asked."""
    if config.option.reflex_yes:
        return
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    if capture is not None:  # it keeps the terminal from whoever reads
        capture.suspend_global_capture(in_=True)
    if not sys.stdin.isatty():
        raise UsageError(
            f"{NOT_CONFIRMED}, and there is no terminal to ask on",
            hint="add --reflex-yes; nothing was written",
        )


def confirmed(found: Survey, agents: Mapping[Step, str], say: Callable[[str], object]) -> str:
    """Show criteria, limits and files, and return how they were confirmed; raises UsageError."""
    order = found.order
    if not (order.quiet and order.yes):
        shown = proposal_text(found.criteria, found.limits, agents, of_text=False)
        say(shown.rstrip("\n"))
        may_change = (*found.territory.patterns, *found.may_change)
        say(f"May be changed: {visible(', '.join(may_change))}")
        if found.writes:
            say(f"Written by the session: {visible(', '.join(found.writes))}")
        say("".join(f"Warning: {visible(one)}\n" for one in found.warnings))
    if order.yes:
        return "--reflex-yes"
    return by_terminal(QUESTION)


def by_terminal(question: str) -> str:
    """Ask, and return how it was confirmed; raises UsageError where it was not."""
    if not click.confirm(question):
        raise UsageError(NOT_CONFIRMED, hint="nothing was written")
    return "terminal"
