"""The messages of the iteration loop, as seed 004 has them, with figures of durations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.iterate.model import (
    Bounds,
    FailureCause,
    GateResult,
    Iteration,
    State,
    Status,
)
from pytest_reflex.model.plain import one_line, pluralize, strip_ansi
from pytest_reflex.model.stop import ENDS, StopReason
from pytest_reflex.verdict.formatting import format_duration

_SAID_AT_MOST = 200
_REASON = 400
_MOST_COMMITS = 10
RESUME = "pytest-reflex iterate resume"


def place_text(number: int, total: int) -> str:
    """Return which iteration it is; `total` 0 is not an end: "Iteration 3/10", "Iteration 3"."""
    return f"Iteration {number}/{total}" if total else f"Iteration {number}"


def start_text(procedure: str, bounds: Bounds) -> str:
    limit = f"max {pluralize(bounds.max_iterations, 'iteration')}"
    return f"Starting procedure: {procedure} ({limit if bounds.max_iterations else _ENDLESS})"


_ENDLESS = "unlimited iterations"


def unpassable(gate: str, why: str) -> str:
    """Return what is reported at the start of a gate whose files an earlier sitting left
    modified.
    """
    return f"Quality gate {gate} cannot pass: {why}; put back what it was, or begin with --fresh"


def caps_text(bounds: Bounds) -> str:
    """Return what ends a run without a limit on its own; empty where it has a limit."""
    if bounds.max_iterations:
        return ""
    caps = [f"after {format_duration(bounds.wall_time)} of wall time"] if bounds.wall_time else []
    if bounds.stop_unchanged and bounds.unchanged:
        rounds = pluralize(bounds.unchanged, "iteration")
        caps.append(f"after {rounds} in a row without a change of the working tree")
    if not caps:
        return "No caps: it ends by failures, by its success signal, or by Ctrl-C"
    return f"It also ends {' or '.join(caps)}; --no-caps lifts that"


def resume_text(state: State) -> str:
    """Return from where a run goes on; `state.max_iterations` is the limit that holds now."""
    limit = f"max {state.max_iterations}" if state.max_iterations else _ENDLESS
    number = state.iteration + 1
    return f"Resuming procedure: {state.procedure_name} from iteration {number} ({limit})"


def previous_text(state: State) -> str:
    done = pluralize(state.iteration, "iteration")
    return f"Previous session: {done} completed in {format_duration(sum(state.elapsed))}"


def failure_text(round_: Iteration) -> str:
    """Return why an iteration failed: "AI CLI failed (exit 1)"; empty where it did not.

    `detail` says more than the cause: "exit 1" for an exit status. What gates found is reported
    below.
    """
    cause, detail = round_.cause, round_.detail
    if cause is None:
        return ""
    if cause is FailureCause.GATE:
        return f"Quality gates failed: {', '.join(map(one_line, round_.failing))}"
    if not detail or cause is FailureCause.EXIT or detail.startswith(cause.value):
        return f"AI CLI failed ({detail or cause.value})"
    return f"AI CLI failed ({cause.value}: {detail})"


def failure_line(round_: Iteration, failures: int, threshold: int) -> str:
    if round_.cause is FailureCause.GATE:
        return failure_text(round_)
    return f"{failure_text(round_)}, {_in_a_row(failures, threshold)}"


def _in_a_row(failures: int, threshold: int) -> str:
    return f"consecutive failures: {failures}/{threshold}"


def gate_reasons(round_: Iteration, failures: int, threshold: int) -> str:
    """Return what stands below the names of gates that failed: each reason, and the count."""
    count = _in_a_row(failures, threshold) if round_.failed else ""
    return "\n".join(filter(None, (*_reasons(round_), count)))


def _reasons(round_: Iteration) -> list[str]:
    missed = (one for one in round_.gates if one.gate.required and not one.passed)
    return [one_line(f"{one.gate.name}: {one.summary}", _REASON) for one in missed]


def progress_text(round_: Iteration) -> str:
    """Return that gates fail still, which is not a failure, since they came nearer to a pass."""
    return f"Quality gates not passed yet: {', '.join(round_.failing)} (better: {round_.progress})"


def last_words(round_: Iteration) -> str:
    """Return the last line of what a failed tool wrote; empty where it is the reason."""
    if round_.cause in (FailureCause.PROMISED_FAILURE, FailureCause.GATE):
        return ""
    lines = strip_ansi(round_.output).strip().splitlines()
    said = one_line(lines[-1].strip(), _SAID_AT_MOST) if lines else ""
    return "" if said in round_.detail else said


def partial_text(number: int, path: Path | None, problem: str) -> str:
    """Return where the output of a tool is that did not come to its end."""
    what = f"What the tool had written in iteration {number}"
    return f"{what} is kept in {path}" if path else f"{what} could not be kept: {problem}"


def answer_text(number: int, length: int, shown: int) -> str:
    """Return what stands above the answer of a tool, the end of which is `shown`."""
    cut = f", the last {shown:,}" if shown < length else ""
    return f"The tool answered in iteration {number} ({length:,} characters{cut})"


def spend_text(number: int, cost: str, spend: str) -> str:
    """Return what an iteration cost, and the run so far."""
    return f"Spent in iteration {number}: {cost}; in the run: {spend}"


def outcome_text(round_: Iteration) -> str:
    """Return what an iteration came to, for the message of its commit and for the next prompt."""
    if round_.progress:
        return f"made progress, and quality gates fail still: {', '.join(round_.failing)}"
    return f"failed: {failure_text(round_)}" if round_.failed else "succeeded"


def commit_text(number: int, commit: str, files: int) -> str:
    undo = f"undo: git revert --no-edit {commit}"
    return f"Committed iteration {number} as {commit}: {pluralize(files, 'file')} ({undo})"


def undo_text(commits: Sequence[str]) -> str:
    """Return how the commits of a sitting are undone, the last one first."""
    shown = " ".join(reversed(commits[-_MOST_COMMITS:]))
    last = f"last {_MOST_COMMITS} " if len(commits) > _MOST_COMMITS else ""
    return f"To undo the {last}commits since start or resume: git revert --no-edit {shown}"


def completion_text(round_: Iteration, total: int) -> str:
    return f"{place_text(round_.number, total)} completed in {format_duration(round_.seconds)}"


def gate_text(result: GateResult) -> str:
    """Return what a gate came to: "Quality gate lint: pass in 1.2s (exit 0)"."""
    optional = "" if result.gate.required else ", not required"
    text = f": {result.summary}" if result.summary else ""
    name, seconds = result.gate.name, format_duration(result.seconds)
    return f"Quality gate {name} {_SAID[result.outcome]} ({seconds}{optional}){text}"


def gate_outcome(result: GateResult) -> str:
    """Return what a gate came to, for the next prompt: "failed (exit status 1: 2 tests fail)"."""
    return _SAID[result.outcome] + (f" ({result.summary})" if result.summary else "")


_SAID = {"pass": "passed", "fail": "failed", "error": "could not be evaluated"}


def unchanged_text(count: int, limit: int) -> str:
    of_limit = f"/{limit}" if limit else ""
    return f"The working tree is as it was before: unchanged iterations: {count}{of_limit}"


def feedback_text(count: int) -> str:
    return f"Feedback for the next iteration: {pluralize(count, 'message')}"


def unread_feedback_text(count: int) -> str:
    return f"Feedback came too late for an iteration: {pluralize(count, 'message')}"


def end_text(
    ending: StopReason, state: State, *, seconds: float, saved: bool, detail: str = ""
) -> str:
    """Return the last line of a run that began `seconds` ago.

    `saved` says whether the state could be written; `detail` is the reason that was given to stop
    it, or what of the budget is used up.
    """
    name, total = state.procedure_name, format_duration(seconds)
    done = f"{pluralize(state.iteration, 'iteration')} completed, total: {total}"
    resume = f"Resume with: {RESUME} {name}" if saved else "The state could NOT be saved"
    why = one_line(detail, _SAID_AT_MOST)
    match ending:
        case StopReason.LIMIT:
            return f"Reached max iterations: {state.max_iterations} (total: {total})"
        case StopReason.SUCCESS:
            return f"Success signal in iteration {state.iteration} (total: {total})"
        case StopReason.FAILURES:
            failures = f"{state.consecutive_failures} consecutive failures"
            if state.consecutive_failures == 1:
                failures = "1 failure"
            return f"Aborting after {failures} ({done})"
        case StopReason.INTERRUPTED:
            return f"Interrupted. {'State saved. ' if saved else ''}{resume}"
        case StopReason.USER_STOP:
            text = f"Stopped by the user{f': {why}' if why else ''} ({done})"
        case StopReason.BUDGET_EXCEEDED:
            text = f"The budget is used up: {detail} ({done})"
            key = detail.partition(":")[0]
            resume = f"{resume} --budget {key}=+N" if saved else resume
        case StopReason.WALL_TIME:
            text = f"Reached the wall time ({done})"
        case StopReason.DENIED:
            text = f"Stopped, since {one_line(detail, 3 * _SAID_AT_MOST)} ({done})"
        case StopReason.UNCHANGED:
            text = f"Stopping: the working tree does not change any more ({done})"
        case StopReason.PERSON_NEEDED:
            text = f"Stopped: the tool needs a person{f': {why}' if why else ''} ({done})"
        case StopReason.RATE_LIMIT:
            text = f"Paused: the tool ran into a limit: {why} ({done})"
        case _:
            text = f"Ended: {ENDS[ending].sentence} ({done})"
    return f"{text}. {resume}" if state.status is Status.INTERRUPTED else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Count, smallest, largest and mean of some seconds, and their standard deviation.

    The deviation is that of the population: the iterations are all there are. All but `count` are 0
    where there are none.
    """

    count: int = 0
    minimum: float = 0.0
    maximum: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0

    def __str__(self) -> str:
        figures = (("min", self.minimum), ("max", self.maximum), ("mean", self.mean))
        text = ", ".join(f"{name} {format_duration(value)}" for name, value in figures)
        deviation = format_duration(self.deviation)
        return f"{pluralize(self.count, 'iteration')}, {text}, stddev {deviation}"

    def to_json(self) -> dict[str, Any]:
        """Return the wire form, in seconds."""
        return {
            "count": self.count,
            "min": round(self.minimum, 3),
            "max": round(self.maximum, 3),
            "mean": round(self.mean, 3),
            "stddev": round(self.deviation, 3),
        }


def statistics_of(seconds: Iterable[float]) -> Statistics:
    """Return the figures of some durations, each looked at once."""
    count, mean, squares = 0, 0.0, 0.0
    least, most = math.inf, -math.inf
    for value in seconds:
        count += 1
        before = value - mean
        mean += before / count
        squares += before * (value - mean)
        least, most = min(least, value), max(most, value)
    if not count:
        return Statistics()
    deviation = math.sqrt(squares / count)
    return Statistics(count=count, minimum=least, maximum=most, mean=mean, deviation=deviation)
