"""``pytest-reflex goal status``, ``check`` and ``cancel``: look at a goal, and end it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.options import json_option
from pytest_reflex.cli.streams import give, give_json, say, verdict
from pytest_reflex.errors import ExitCode

if TYPE_CHECKING:
    from pytest_reflex.drivers.goal.model import GoalState


@click.command("status", short_help="Show where the goal stands.")
@json_option
def status(as_json: bool) -> int:
    """Show where the goal of this project stands."""
    from pytest_reflex.drivers.goal import continuing, opening
    from pytest_reflex.drivers.goal.show import criterion_line, status_lines

    project = Path.cwd()
    goal, record, state = continuing.standing(project)
    run_file = opening.last_run(project)
    driven = record is not None and run_file is not None and run_file.is_driven()
    if as_json:
        give_json(_document(state) if record is None else {**record.to_json(), "driven": driven})
    elif goal is None or record is None:
        rows = ["State:     of another program (goal continue takes it over)", ""]
        give("\n".join([*rows, *map(criterion_line, state.criteria)]))
    else:
        give("\n".join(status_lines(goal, record, driven=driven)))
    return ExitCode.OK


def _document(state: GoalState) -> Any:
    from pytest_reflex.drivers.goal.statefile import to_json

    return to_json(state)


@click.command("check", short_help="Verify the criteria now.")
@json_option
def check(as_json: bool) -> int:
    """Verify each criterion of the goal now, and say what is true that must not be. Nothing is
    written, and no agent is asked.

    Exit status: 0 all are met, 1 some are not or were not run, 5 the program can verify none.
    """
    from dataclasses import replace

    from pytest_reflex.drivers.common.arguments import settings_of
    from pytest_reflex.drivers.goal import continuing
    from pytest_reflex.drivers.goal.approvals import Approvals
    from pytest_reflex.drivers.goal.show import criterion_line
    from pytest_reflex.drivers.goal.statefile import to_json
    from pytest_reflex.drivers.goal.verify import Verifier, refused_of
    from pytest_reflex.host import open_host

    project = Path.cwd()
    _, _, state = continuing.standing(project)
    settings = settings_of(project)
    verifier = Verifier(
        approvals=Approvals.load(project),
        registry=open_host(settings["plugins"], project).registry,
        timeout=float(settings["goal.timeout"]),
    )
    state = replace(state, criteria=verifier.verify(state.criteria))
    broken = verifier.true_ones(state.must_not)
    looked_at = [one for one in state.criteria if one.plan.runs]
    refused = [one for one in looked_at if refused_of([one.plan], verifier)]
    code = _code(state, bool(broken or refused))
    if len(refused) == len(looked_at):
        code = ExitCode.NOTHING_MEASURED
    with verdict(code):
        if as_json:
            found = to_json(state)["criteriaStatus"]
            give_json({"criteria": found, "must_not": [one.text for one, _ in broken]})
        else:
            rows = [criterion_line(one) for one in state.criteria]
            rows += [f"✗ must not be true: {one.text}" for one, _ in broken]
            give("\n".join(rows))
    return code


def _code(state: GoalState, is_broken: bool) -> ExitCode:
    return ExitCode.OK if state.all_met and not is_broken else ExitCode.GATE_FAILED


@click.command("cancel", short_help="End the goal, and remove its state.")
@click.option("--keep-state", is_flag=True, help="Keep .loop/state.json, as cancelled.")
def cancel(keep_state: bool) -> int:
    """End the goal of this project for good; a process that drives it is stopped.

    The state file is removed; a terminal is asked whether to keep it.
    """
    from pytest_reflex.drivers.goal import continuing

    project = Path.cwd()
    if not keep_state and sys.stdin.isatty():
        keep_state = click.confirm("Keep .loop/state.json?", default=False, err=True)
    done = continuing.cancel(project, keeps=keep_state, say=lambda text: say(f"warning: {text}"))
    give(done)
    return ExitCode.OK
