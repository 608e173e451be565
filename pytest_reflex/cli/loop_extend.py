"""``pytest-reflex loop extend``: a loop that has stopped goes on under other limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_reflex.cli.loop_drive import (
    accept_changes_option,
    restore_agents,
    run_options,
    watch,
)
from pytest_reflex.cli.options import (
    alias_argument,
    budget_option,
    confirm,
    max_iterations_option,
    state_root,
)
from pytest_reflex.cli.streams import say


@click.command(short_help="Let a loop that has stopped go on.")
@alias_argument("extends_here")
@max_iterations_option(" in all; +N: so many more", "[+]N")
@budget_option(adds=True)
@click.option(
    "--allow",
    multiple=True,
    metavar="FILE",
    help="Let the agent keep a module that it added, for which the loop ended (repeatable).",
)
@accept_changes_option
@click.option("--yes", is_flag=True, help="Confirm the limits without a question.")
@run_options
def extend(
    alias: str | None,
    max_iterations: str | None,
    budgets: tuple[str, ...],
    allow: tuple[str, ...],
    accept_changes: bool,
    yes: bool,
    **given: Any,
) -> int:
    """Continue the loop ALIAS (default: the newest), which has stopped, and run it to its end.

    What counted towards a stop starts over. A restored artifact is evaluated again first. Loops
    that completed or were tampered with are not extended, unless all that an agent did was to add
    modules, and each is named by --allow.
    """
    from pytest_reflex.drivers.reflex.extend import ExtendRequest, extend_limits, reopen
    from pytest_reflex.drivers.reflex.run_status import find_run

    run = find_run(state_root(), alias)
    more = ExtendRequest(max_iterations=max_iterations, budget=budgets, allow=allow)
    limits = extend_limits(run.state, more)
    host, names = restore_agents(run, given)
    _confirm(run.state, limits, asked=not yes, quiet=given["quiet"])
    again = reopen(
        run.folder,
        more,
        confirmed_by="--yes" if yes else "terminal",
        project=Path.cwd(),
        hooks=host.hooks,
        agents=names,
        accept_changes=accept_changes,
    )
    return watch(again, host, given)


def _confirm(state: Any, limits: Any, *, asked: bool, quiet: bool) -> None:
    """Show the limits; on a terminal ask, elsewhere --yes must have been given."""
    budget = ", ".join(f"{key} {amount:g}" for key, amount in limits.budget.items()) or "none"
    if not (quiet and not asked):
        say(
            f"Loop {state.alias} ({state.stop.to_json()['reason']}) goes on after iteration "
            f"{state.iteration}\nMax iterations: {limits.max_iterations}\nBudget: {budget}\n"
        )
    if asked:
        confirm("Go on within these limits?", "the limits are not confirmed")
