"""``pytest-reflex loop stop``: which loop is meant, and how it ended."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_reflex.cli.aliases import completer, state_root
from pytest_reflex.cli.loop_manage import opener, told
from pytest_reflex.cli.loop_verify import hooks_of
from pytest_reflex.cli.options import json_option, now_option, reason_option, wait_option
from pytest_reflex.cli.streams import give, give_artifact, give_json, width_of
from pytest_reflex.errors import ExitCode, UsageError
from pytest_reflex.model.plain import one_line

if TYPE_CHECKING:
    from pytest_reflex.drivers.reflex.overview import Run
    from pytest_reflex.drivers.reflex.stopping import Answer


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
    word: str, alias: str | None, reason: str | None, now: bool, patience: float, as_json: bool
) -> int:
    """Stop the loop ALIAS, or the one that runs.

    A word that is the name of no loop is the REASON. A loop that is driven stops before its next
    step; an artifact that was not evaluated yet is, and the best one is restored. An interrupted
    one is stopped at once. Exit status: 0 it
    has ended or, with --wait 0, was asked; 11 it goes on.
    """
    from pytest_reflex.drivers.common.asking import check_text
    from pytest_reflex.drivers.reflex import stopping
    from pytest_reflex.drivers.reflex.kinds import is_of_session
    from pytest_reflex.drivers.reflex.overview import find_run
    from pytest_reflex.drivers.reflex.survey import has_ended
    from pytest_reflex.model.stop import RunStatus

    root = state_root()
    alias, reason = _meant(root, word, alias, reason)
    check_text("reason", reason)
    run = find_run(root, alias) if alias else _only_running(root)
    if run.state.status is not RunStatus.RUNNING:
        raise has_ended(run)
    answer = stopping.stop(
        run,
        reason,
        now=now,
        patience=patience,
        project=Path.cwd(),
        open_run=opener(run.state),
        hooks=None if is_of_session(run.state) else lambda: hooks_of(run),
    )
    if as_json:
        give_json(told(run.alias, answer.state, ended=answer.done))
    else:
        give(_how_it_ended(answer.state) if answer.done else _still_running(run.alias, now))
        if answer.artifact is not None:
            _give_result(answer)
    if answer.failure:
        raise answer.failure
    return ExitCode.LOCKED if patience and not answer.done else ExitCode.OK


def _meant(root: Path, word: str, alias: str | None, reason: str | None) -> tuple[str | None, str]:
    """Return the loop and the reason that were given; raises UsageError for what can be neither."""
    from pytest_reflex.drivers.reflex.overview import aliases

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


def _only_running(root: Path) -> Run:
    """Return the one loop that a process drives, else the one that was interrupted.

    Raises UsageError where there is none, or more than one.
    """
    from pytest_reflex.drivers.reflex.survey import is_running, running, survey

    runs = [one.run for one in survey(root) if one.run and is_running(one)]
    meant = [run for run in runs if run.alive] or runs
    if len(meant) > 1:
        raise UsageError(
            f"{len(meant)} loops are running: {', '.join(run.alias for run in meant)}",
            hint=f"name one: loop stop {meant[0].alias}",
        )
    return meant[0] if meant else running(root)


def _give_result(answer: Answer) -> None:
    """Print what a driver prints at the end of a run: the summary, then the artifact."""
    from pytest_reflex.drivers.common.console import styled
    from pytest_reflex.drivers.reflex.kinds import is_of_session
    from pytest_reflex.reports.iteration import summary

    advises = not is_of_session(answer.state)
    lines = summary(answer.state, answer.delivered, advises=advises)
    give(f"\n{styled(lines, width_of(sys.stdout))}\n\n")
    give_artifact(answer.artifact or "")


def _how_it_ended(state: Any) -> str:
    from pytest_reflex.drivers.reflex.history import claims_pass
    from pytest_reflex.drivers.reflex.overview import NOT_VERIFIED
    from pytest_reflex.model.stop import StopReason

    reason = state.stop.reason
    if reason is not StopReason.USER_STOP:
        claimed = f", {NOT_VERIFIED}" if claims_pass(state) else ""
        told = f"{state.alias} had ended by itself ({reason.value}{claimed})"
        return f"{told}; the request had no effect."
    back = state.stop.restored_from
    best = f"; the best artifact, of iteration {back['iteration']}, is restored" if back else ""
    return f"{state.alias} has stopped{best}."


def _still_running(alias: str, now: bool) -> str:
    if now:
        return f"{alias} was asked to stop now; it stops as soon as its step has ended."
    return f"{alias} was asked to stop; it does so before its next step. --now ends the agent too."
