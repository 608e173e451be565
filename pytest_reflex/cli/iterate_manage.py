"""``pytest-reflex iterate stop``, ``feedback`` and ``clean``: what a person does to runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.iterate_options import (
    check_procedure,
    is_known,
    iterate_root,
    procedure_argument,
)
from pytest_reflex.cli.options import (
    json_option,
    nonempty_text,
    now_option,
    reason_option,
    remove_runs,
    wait_option,
    yes_option,
)
from pytest_reflex.cli.streams import give, give_json, say
from pytest_reflex.errors import ExitCode, ReflexError, UsageError
from pytest_reflex.model.plain import pluralize

if TYPE_CHECKING:
    from pytest_reflex.drivers.iterate.requests import FeedbackResult, StopResult


@click.command(short_help="Ask a run to stop.")
@procedure_argument(required=False, wanted="driven")
@reason_option
@now_option
@wait_option
@json_option
def stop(procedure: str | None, reason: str | None, now: bool, wait: float, as_json: bool) -> int:
    """Stop the run of PROCEDURE, or the only one that is running.

    It stops before its next iteration, and can be resumed. With --now its tool is ended too: that
    iteration is not counted. Exit status: 0 it has ended or, with --wait 0, was asked; 11 it goes
    on.
    """
    from pytest_reflex.drivers.common.control import check_text
    from pytest_reflex.drivers.iterate import requests

    root = iterate_root()
    check_text("reason", reason or "")
    name = check_procedure(procedure, root) if procedure else requests.driven_procedure(root)
    answer = requests.stop(root, name, reason or "", now=now, wait=wait)
    if as_json:
        give_json(_stop_json(answer))
    else:
        give(_stop_text(answer) if answer.done else _request_text(name, now))
    return ExitCode.LOCKED if wait and not answer.done else ExitCode.OK


def _stop_json(answer: StopResult) -> dict[str, Any]:
    return {
        "procedure": answer.procedure,
        "ended": answer.done,
        "outcome": answer.outcome or None,
        "iterations": answer.iterations,
        "resumable": answer.resumable,
    }


def _stop_text(answer: StopResult) -> str:
    from pytest_reflex.drivers.iterate.messages import RESUME
    from pytest_reflex.model.stop import StopReason

    name = answer.procedure
    if answer.outcome == StopReason.USER_STOP:
        text = f"{name} has stopped"
        text += (
            ""
            if answer.iterations is None
            else f" after {pluralize(answer.iterations, 'iteration')}"
        )
    elif answer.outcome:
        text = f"{name} had ended by itself ({answer.outcome}); the request changed nothing"
    else:
        text = f"{name} has ended; its log does not say why"
    return f"{text}. Resume with: {RESUME} {name}" if answer.resumable else f"{text}."


def _request_text(name: str, now: bool) -> str:
    if now:
        return f"{name} was asked to stop now; it stops as soon as its tool has ended."
    return f"{name} was asked to stop; it does so before its next iteration. --now ends its tool."


@click.command(short_help="Say what the next iteration has to take into account.")
@procedure_argument(required=False, wanted="resumable")
@click.argument("text", required=False, metavar="TEXT")
@wait_option
@json_option
def feedback(procedure: str | None, text: str | None, wait: float, as_json: bool) -> int:
    """Hand TEXT to the next iteration of PROCEDURE (default: the only one that has a run).

    It joins the prompt, once. A run that was interrupted or aborted has it when it is resumed.
    """
    from pytest_reflex.drivers.common.control import check_text
    from pytest_reflex.drivers.iterate import requests

    root = iterate_root()
    if text is None:
        usage = "iterate feedback [PROCEDURE] TEXT"
        procedure, text = None, nonempty_text(procedure, partial(is_known, root=root), usage)
    check_text("feedback", text)
    if not text.strip():
        raise UsageError("the feedback is empty")
    name = check_procedure(procedure, root) if procedure else requests.find_driven_procedure(root)
    answer = requests.give_feedback(root, name, text, wait=wait)
    if as_json:
        give_json({"procedure": name, "taken": answer.taken, "driven": answer.driven})
    else:
        give(_feedback_text(answer))
    return ExitCode.OK


def _feedback_text(answer: FeedbackResult) -> str:
    from pytest_reflex.drivers.iterate.messages import RESUME

    name = answer.procedure
    if answer.taken:
        return f"Recorded; it joins the next iteration of {name}."
    if answer.driven:
        return f"Handed to {name}; it joins the next iteration."
    return f"Recorded; it joins the next iteration after `{RESUME} {name}`."


@click.command(short_help="Remove state and logs of procedures.")
@procedure_argument(required=False, wanted="kept")
@click.option(
    "--all", "every", is_flag=True, help="Remove those of all procedures that are not running."
)
@yes_option
@json_option
def clean(procedure: str | None, every: bool, yes: bool, as_json: bool) -> int:
    """Remove all that is kept of PROCEDURE, or of all procedures: state, requests and logs.

    One that is running is refused (exit status 11); with --all it is named and left.
    """
    from pytest_reflex.drivers.iterate.catalog import find_procedures, remove, what_is_lost
    from pytest_reflex.drivers.iterate.state import is_driven

    root = iterate_root()
    if bool(procedure) == every:
        raise UsageError("name one procedure, or --all", hint="see `pytest-reflex iterate status`")
    kept = find_procedures(root)
    if procedure and check_procedure(procedure, root, kept) not in kept:
        raise UsageError(f"nothing is kept of {procedure} in {root}")
    found = [procedure] if procedure else kept
    unsure: dict[str, ReflexError] = {}
    held = []
    for name in found:
        try:
            held += [name] if is_driven(root, name) else []
        except ReflexError as error:
            unsure[name] = error

    def remove_all(names: Sequence[str]) -> Mapping[str, ReflexError]:
        left = {}
        for name in names:
            try:
                remove(root, name, say)
            except ReflexError as error:
                left[name] = error
        return left

    return remove_runs(
        found,
        noun="run",
        held=held,
        lost=partial(what_is_lost, root),
        remove=remove_all,
        unsure=unsure,
        every=every,
        stop=f"iterate stop {procedure}",
        yes=yes,
        as_json=as_json,
    )
