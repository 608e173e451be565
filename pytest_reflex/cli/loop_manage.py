"""``pytest-reflex loop feedback``, ``clean``, ``stop``: what a person does to loops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.loop_look import hooks_of
from pytest_reflex.cli.options import (
    alias_argument,
    completer,
    json_option,
    nonempty_text,
    now_option,
    reason_option,
    remove_runs,
    state_root,
    wait_option,
    yes_option,
)
from pytest_reflex.cli.streams import give, give_artifact, give_json, width_of
from pytest_reflex.drivers.reflex.survey import (
    FoundRun,
    can_go_on,
    ended_error,
    find_running,
    is_idle,
    is_loop,
    is_running,
    look,
    remove,
    survey,
    tidy,
)
from pytest_reflex.errors import ExitCode, ReflexError, UsageError
from pytest_reflex.model.plain import one_line

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.run_status import RunOverview
    from pytest_reflex.drivers.reflex.runfiles import RunFiles
    from pytest_reflex.drivers.reflex.stop_request import StopResponse
    from pytest_reflex.model.run import RunState


def opener(state: RunState) -> Callable[[Path], RunFiles]:
    """Return what takes the lock of a run of this kind, and keeps its files in step."""
    from pytest_reflex.drivers.reflex.runfiles import RunFiles
    from pytest_reflex.drivers.reflex.statefile import is_of_session

    if not is_of_session(state):
        return RunFiles.open
    from pytest_reflex.drivers.pytest_loop.files import open_run

    return open_run


def stop_document(alias: str, state: Any, **more: Any) -> dict[str, Any]:
    document = {"alias": alias, "run_id": state.run_id, "status": state.status.value}
    return {**document, "stop": state.stop.to_json(), **more}


@click.command(short_help="Give feedback for the next critique.")
@alias_argument("takes_feedback")
@click.argument("text", required=False, metavar="TEXT")
@wait_option
@json_option
def feedback(alias: str | None, text: str | None, wait: float, as_json: bool) -> int:
    """Hand TEXT, your critique, to the loop ALIAS (default: the one that runs, else the newest).

    It joins the next CRITIQUE and the REFINE after it, once. A loop that has stopped keeps it for
    `loop extend`.
    """
    from pytest_reflex.drivers.common.control import check_text
    from pytest_reflex.drivers.reflex import stop_request
    from pytest_reflex.drivers.reflex.run_status import aliases, find_run

    root = state_root()
    if text is None:
        known = aliases(root)
        alias, text = None, nonempty_text(alias, known.__contains__, "loop feedback [ALIAS] TEXT")
    check_text("feedback", text)
    if not text.strip():
        raise UsageError("the feedback is empty")
    run = find_run(root, alias)
    answer = stop_request.give_feedback(run, text, wait=wait, open_run=opener(run.state))
    if as_json:
        give_json(stop_document(run.alias, answer.state, durable=answer.done))
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

    One that is running is refused, and without --force one that was interrupted and can be
    resumed; with --all they are named and left.
    """
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


def _what_is_lost(one: FoundRun) -> str:
    if one.run is None:
        return f"damaged: {one_line(one.problem)}"
    if one.run.interrupted:
        return "interrupted; it could still be resumed"
    return one.status


@click.command(short_help="Ask a loop to stop.")
@click.argument(
    "word", default="", metavar="[ALIAS|REASON]", shell_complete=completer("is_running")
)
@click.option("--alias", shell_complete=completer("is_running"), help="The loop to stop.")
@reason_option
@now_option
@wait_option
@json_option
def stop(
    word: str, alias: str | None, reason: str | None, now: bool, wait: float, as_json: bool
) -> int:
    """Stop the loop ALIAS, or the one that runs.

    A word that is the name of no loop is the REASON. A running loop stops before its next
    step; an artifact that was not evaluated yet is, and the best one is restored. An interrupted
    one is stopped at once. Exit status: 0 it has ended or, with --wait 0, was asked; 11 it goes on.
    """
    from pytest_reflex.drivers.common.control import check_text
    from pytest_reflex.drivers.reflex import stop_request
    from pytest_reflex.drivers.reflex.run_status import find_run
    from pytest_reflex.drivers.reflex.statefile import is_of_session
    from pytest_reflex.model.stop import RunStatus

    root = state_root()
    alias, reason = _parse_arguments(root, word, alias, reason)
    check_text("reason", reason)
    run = find_run(root, alias) if alias else _only_running(root)
    if run.state.status is not RunStatus.RUNNING:
        raise ended_error(run)
    answer = stop_request.stop(
        run,
        reason,
        now=now,
        wait=wait,
        project=Path.cwd(),
        open_run=opener(run.state),
        hooks=None if is_of_session(run.state) else lambda: hooks_of(run),
    )
    if as_json:
        give_json(stop_document(run.alias, answer.state, ended=answer.done))
    else:
        give(_end_text(answer.state) if answer.done else _still_running(run.alias, now))
        if answer.artifact is not None:
            _give_result(answer)
    if answer.failure:
        raise answer.failure
    return ExitCode.LOCKED if wait and not answer.done else ExitCode.OK


def _parse_arguments(
    root: Path, word: str, alias: str | None, reason: str | None
) -> tuple[str | None, str]:
    """Return the loop and the reason that were given; raises UsageError for what can be neither."""
    from pytest_reflex.drivers.reflex.run_status import aliases

    if not word:
        return alias, reason or ""
    if word in aliases(root):
        if alias and alias != word:
            raise UsageError(
                f"two loops are named: {word!r} and --alias {alias!r}",
                hint=f"if it is the reason: --reason {word}",
            )
        return word, reason or ""
    if reason is not None:
        raise UsageError(
            f"there is no loop named {one_line(word)!r} in {root}",
            hint="see `pytest-reflex loop list`; the reason is given by --reason",
        )
    return alias, word


def _only_running(root: Path) -> RunOverview:
    """Return the one loop that a process drives, else the one that was interrupted.

    Raises UsageError where there is none, or more than one.
    """

    runs = [one.run for one in survey(root) if one.run and is_running(one)]
    meant = [run for run in runs if run.alive] or runs
    if len(meant) > 1:
        raise UsageError(
            f"{len(meant)} loops are running: {', '.join(run.alias for run in meant)}",
            hint=f"name one: loop stop {meant[0].alias}",
        )
    return meant[0] if meant else find_running(root)


def _give_result(answer: StopResponse) -> None:
    """Print what a driver prints at the end of a run: the summary, then the artifact."""
    from pytest_reflex.drivers.common.console import style_lines
    from pytest_reflex.drivers.reflex.statefile import is_of_session
    from pytest_reflex.reports.iteration import summary

    advises = not is_of_session(answer.state)
    lines = summary(answer.state, answer.delivered, advises=advises)
    give(f"\n{style_lines(lines, width_of(sys.stdout))}\n\n")
    give_artifact(answer.artifact or "")


def _end_text(state: Any) -> str:
    from pytest_reflex.drivers.reflex.history import claims_pass
    from pytest_reflex.drivers.reflex.run_status import NOT_VERIFIED
    from pytest_reflex.model.stop import StopReason

    reason = state.stop.reason
    if reason is not StopReason.USER_STOP:
        claimed = f", {NOT_VERIFIED}" if claims_pass(state) else ""
        text = f"{state.alias} had ended by itself ({reason.value}{claimed})"
        return f"{text}; the request had no effect."
    back = state.stop.restored_from
    best = f"; the best artifact, of iteration {back['iteration']}, is restored" if back else ""
    return f"{state.alias} has stopped{best}."


def _still_running(alias: str, now: bool) -> str:
    if now:
        return f"{alias} was asked to stop now; it stops as soon as its step has ended."
    return f"{alias} was asked to stop; it does so before its next step. --now ends the agent too."
