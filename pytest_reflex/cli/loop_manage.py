"""``pytest-reflex loop feedback`` and ``clean``: what a person does to loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.aliases import alias_argument, state_root
from pytest_reflex.cli.options import json_option, remove_runs, text_alone, wait_option, yes_option
from pytest_reflex.cli.streams import give, give_json
from pytest_reflex.drivers.reflex.survey import Found
from pytest_reflex.errors import ExitCode, ReflexError, UsageError
from pytest_reflex.model.plain import one_line

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.runfiles import RunFiles
    from pytest_reflex.model.run import RunState


def opener(state: RunState) -> Callable[[Path], RunFiles]:
    """Return what takes the lock of a run of this kind, and keeps its files in step."""
    from pytest_reflex.drivers.reflex.kinds import is_of_session
    from pytest_reflex.drivers.reflex.runfiles import RunFiles

    if not is_of_session(state):
        return RunFiles.open
    from pytest_reflex.drivers.pytest_loop.files import open_run

    return open_run


def told(alias: str, state: Any, **more: Any) -> dict[str, Any]:
    told = {"alias": alias, "run_id": state.run_id, "status": state.status.value}
    return {**told, "stop": state.stop.to_json(), **more}


@click.command(short_help="Give feedback for the next critique.")
@alias_argument("takes_feedback")
@click.argument("text", required=False, metavar="TEXT")
@wait_option
@json_option
def feedback(alias: str | None, text: str | None, patience: float, as_json: bool) -> int:
    """Hand TEXT, your critique, to the loop ALIAS (default: the one that runs, else the newest).

    It joins the next CRITIQUE and the REFINE after it, once. A loop that has stopped keeps it for
    `loop extend`.
    """
    from pytest_reflex.drivers.common.asking import check_text
    from pytest_reflex.drivers.reflex import stopping
    from pytest_reflex.drivers.reflex.overview import aliases, find_run

    root = state_root()
    if text is None:
        known = aliases(root)
        alias, text = None, text_alone(alias, known.__contains__, "loop feedback [ALIAS] TEXT")
    check_text("feedback", text)
    if not text.strip():
        raise UsageError("the feedback is empty")
    run = find_run(root, alias)
    answer = stopping.tell(run, text, patience=patience, open_run=opener(run.state))
    if as_json:
        give_json(told(run.alias, answer.state, durable=answer.done))
    else:
        give(_where_it_goes(run.alias, answer.state, durable=answer.done))
    return ExitCode.OK


def _where_it_goes(alias: str, state: Any, *, durable: bool) -> str:
    from pytest_reflex.model.stop import RunStatus, is_extendable

    if not durable:
        return f"Handed to {alias}; it is taken up before the next step."
    if state.status is RunStatus.RUNNING:
        return f"Recorded; it joins the next critique of {alias}."
    if not is_extendable(state.stop.reason):
        return f"Recorded; {alias} has ended meanwhile ({state.stop.reason.value})."
    return f"Recorded; it joins the next critique after `pytest-reflex loop extend {alias}`."


@click.command(short_help="Remove the files of loops.")
@alias_argument("is_idle")
@click.option("--all", "every", is_flag=True, help="Remove all that are not running.")
@click.option("--force", is_flag=True, help="Remove what could still be resumed, too.")
@yes_option
@json_option
def clean(alias: str | None, every: bool, force: bool, yes: bool, as_json: bool) -> int:
    """Remove all files of the loop ALIAS, or of all loops.

    One that a process drives is refused, and without --force one that was interrupted and can be
    resumed; with --all they are named and left.
    """
    from pytest_reflex.drivers.reflex.cleaning import remove, tidy
    from pytest_reflex.drivers.reflex.survey import can_go_on, is_idle, is_loop, look, survey
    from pytest_reflex.storage.folders import run_folder

    root = state_root()
    if bool(alias) == every:
        raise UsageError("name one loop, or --all", hint="see `pytest-reflex loop list`")
    if alias and not is_loop(run_folder(root, alias)):
        raise UsageError(f"there is no loop named {alias!r} in {root}")
    found = {one.alias: one for one in ([look(root, alias)] if alias else survey(root))}

    def remove_all(names: Sequence[str]) -> Mapping[str, ReflexError]:
        going = [found[name] for name in names]
        left = remove(root, going)
        tidy(root, going)
        return left

    return remove_runs(
        list(found),
        noun="loop",
        held=[name for name, one in found.items() if not is_idle(one)],
        lost=lambda name: _what_is_lost(found[name]),
        remove=remove_all,
        unsure={},
        resumable=[] if force else [name for name, one in found.items() if can_go_on(one)],
        every=every,
        stop=f"loop stop --alias {alias}",
        yes=yes,
        as_json=as_json,
    )


def _what_is_lost(one: Found) -> str:
    if one.run is None:
        return f"damaged: {one_line(one.problem)}"
    if one.run.interrupted:
        return "interrupted; it could still be resumed"
    return one.status
