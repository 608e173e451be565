"""Runs and iterations for people: tables for a terminal, lines with tabs for a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_reflex.drivers.iterate.history import IterationRecord, RunRecord
from pytest_reflex.model.plain import counted, one_line, visible
from pytest_reflex.reports.tables import tab_lines, text_table
from pytest_reflex.verdict.formatting import lasted

_RUNS = ("procedure", "run", "iterations", "outcome", "time", "cost", "tokens")
_ITERATIONS = (
    *("iteration", "outcome", "time", "changed", "cost", "tokens", "failed gates", "cause"),
    *("gates", "files"),
)
_ROOM = 60
_LONGEST = 2_000
_CHANGED = {True: "yes", False: "no", None: ""}


def runs_table(runs: Sequence[RunRecord]) -> str:
    return text_table(_RUNS, [_run(one) for one in runs])


def runs_lines(runs: Sequence[RunRecord]) -> str:
    """Return a line for each run, its fields separated by tabs; what is unknown is empty."""
    return tab_lines(map(_run, runs))


def run_text(run: RunRecord) -> str:
    """Return a run on a terminal: how it ended, and a table of its iterations."""
    spent = ", ".join(filter(None, (_cost(run.usd), _tokens(run.tokens, " tokens"))))
    done = f"{counted(len(run.iterations), 'iteration')} in {lasted(run.seconds)}"
    head = f"{run.procedure}, run {run.run}: {one_line(run.shown_outcome)}, {done}"
    rows = [_iteration(one, _ROOM) for one in run.iterations]
    lines = [f"{head}, {spent}" if spent else head]
    return "\n".join([*lines, "", text_table(_ITERATIONS, rows)] if rows else lines)


def iteration_lines(run: RunRecord) -> str:
    """Return a line for each iteration of a run, its fields separated by tabs."""
    return tab_lines(_iteration(one, _LONGEST) for one in run.iterations)


def problem_texts(runs: Sequence[RunRecord]) -> list[str]:
    """Return what could not be read of the logs of some runs, a line for each log."""
    told = {}
    for run in runs:
        if run.problem:
            told[run.log] = visible(run.problem)
        elif run.unreadable:
            lines = counted(run.unreadable, "line")
            told[run.log] = f"{visible(str(run.log))}: {lines} left out, which no run has written"
    return list(told.values())


def _run(run: RunRecord) -> tuple[str, ...]:
    return (
        run.procedure,
        one_line(run.run),
        "" if run.problem else str(len(run.iterations)),
        one_line(run.shown_outcome),
        "" if run.problem else lasted(run.seconds),
        _cost(run.usd),
        _tokens(run.tokens),
    )


def _iteration(one: IterationRecord, room: int) -> tuple[str, ...]:
    detail = "" if one.detail.startswith(one.cause) else f"{one.cause}: "
    cause = f"{detail}{one.detail}" if one.detail else one.cause
    return (
        str(one.number),
        one_line(one.outcome),
        "" if one.seconds is None else lasted(one.seconds),
        _CHANGED[one.changed],
        _cost(one.usd),
        _tokens(one.tokens),
        one_line(", ".join(one.failed_gates), room),
        one_line(cause, room),
        one_line(_gates(one), room),
        one_line(_files(one), room),
    )


def _gates(one: IterationRecord) -> str:
    """Return how many gates passed: "2/3"; empty where none was tried."""
    passed = sum(outcome == "pass" for outcome in one.gates.values())
    return f"{passed}/{len(one.gates)}" if one.gates else ""


def _files(one: IterationRecord) -> str:
    """Return how many files changed, and which: "2: a.py, b.py"."""
    if not one.files_changed:
        return "" if one.files_changed is None else "0"
    more = ", ..." if len(one.files) < one.files_changed else ""
    return f"{one.files_changed}: {', '.join(one.files)}{more}"


def _cost(usd: float | None) -> str:
    return "" if usd is None else f"${usd:.4f}"


def _tokens(number: int | None, unit: str = "") -> str:
    return "" if number is None else f"{number}{unit}"
