"""Whether an iteration loop goes on, and what an iteration came to (pure).

Failures come before the limit: a last iteration that failed does not count as reaching it.

A signal counts only where it is the last line of an answer that is not empty: a tool that repeats
its prompt, in which the signal is explained, gives no signal by that. What a terminal eats
(colours, a byte-order mark) is never in the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pytest_reflex.agents.command import BAD_EXIT, END, NOT_STARTED, TIMED_OUT
from pytest_reflex.contracts.limits import is_limit_notice, may_be_limit_notice
from pytest_reflex.drivers.common import drive
from pytest_reflex.drivers.common.drive import Inputs, Stop
from pytest_reflex.drivers.iterate.model import (
    Baseline,
    Bounds,
    CutIteration,
    FailureCause,
    GateResult,
    Iteration,
    State,
    Status,
)
from pytest_reflex.drivers.iterate.progress import Known, compare, failing_gates, last_of
from pytest_reflex.errors import ExitCode
from pytest_reflex.model.plain import one_line, strip_ansi
from pytest_reflex.model.steps import Reply
from pytest_reflex.model.stop import ENDS, RunStatus, StopReason

ENDINGS = (
    StopReason.SUCCESS,
    StopReason.FAILURES,
    StopReason.LIMIT,
    StopReason.USER_STOP,
    StopReason.BUDGET_EXCEEDED,
    StopReason.WALL_TIME,
    StopReason.UNCHANGED,
    StopReason.PERSON_NEEDED,
    StopReason.RATE_LIMIT,
    StopReason.DENIED,
    StopReason.INTERRUPTED,
)
"""The reasons for which an iteration loop ends or is left."""
BUDGET = "budget"
"""The `outcome` of a state whose budget was used up."""
PERSON = "person"
"""The `outcome` of a state that waits for what a person decides."""
_WAITS_FOR = {StopReason.BUDGET_EXCEEDED: BUDGET, StopReason.PERSON_NEEDED: PERSON}
_AT_WORK = (None, FailureCause.GATE, FailureCause.PROMISED_FAILURE)
_STATUS = {
    RunStatus.COMPLETED: Status.COMPLETED,
    RunStatus.FAILED: Status.ABORTED,
    RunStatus.STOPPED: Status.INTERRUPTED,
}


def decide(
    state: State,
    bounds: Bounds,
    inputs: Inputs | None = None,
    *,
    unchanged: int = 0,
    person: str | None = None,
    refused: str = "",
    denied: str = "",
) -> Stop | None:
    """Return why a loop ends before its next iteration, None where it goes on.

    `unchanged` is how many iterations in a row have left the working tree as it was; `person` is
    for what the last one needs a person, `refused` the notice of a limit that stayed in its way,
    `denied` what its tool was not allowed to do.
    """
    inputs = inputs or Inputs()
    if person is not None:
        return Stop(StopReason.PERSON_NEEDED, person)
    if reason := _find_own_end(state, bounds):
        return Stop(reason)
    if refused:
        return Stop(StopReason.RATE_LIMIT, refused)
    if denied:
        return Stop(StopReason.DENIED, denied)
    if stop := drive.find_reached(inputs, bounds.budget, state.spend, bounds.wall_time):
        return stop
    if bounds.stop_unchanged and bounds.unchanged and unchanged >= bounds.unchanged:
        return Stop(StopReason.UNCHANGED)
    return None


def _find_own_end(state: State, bounds: Bounds) -> StopReason | None:
    if state.outcome == StopReason.SUCCESS:
        return StopReason.SUCCESS
    if state.consecutive_failures >= bounds.failure_threshold:
        return StopReason.FAILURES
    if bounds.max_iterations and state.iteration >= bounds.max_iterations:
        return StopReason.LIMIT
    return None


def is_complete(state: State) -> bool:
    """Return whether there is no next iteration, nor one in a resume."""
    bounds = Bounds(max_iterations=state.max_iterations, failure_threshold=state.failure_threshold)
    return _find_own_end(state, bounds) in (StopReason.SUCCESS, StopReason.LIMIT)


def apply(state: State, done: Iteration | CutIteration | Baseline, at: str) -> State:
    """Return the state behind an iteration that is finished, or was cut short; `at` is its end.

    One that promised success is marked at once, so that it ends the loop after a crash too. One
    that was cut short was paid for, and does not count. Feedback was used where the tool did its
    work.
    """
    spend = state.spend.plus(done.cost)
    if isinstance(done, CutIteration):
        return replace(state, spend=spend)
    if isinstance(done, Baseline):
        return replace(state, spend=spend, known_failures=done.known, last=done.last)
    return replace(
        state,
        iteration=state.iteration + 1,
        consecutive_failures=state.consecutive_failures + 1 if done.failed else 0,
        last_iteration_at=at,
        elapsed=(*state.elapsed, done.seconds),
        outcome=StopReason.SUCCESS.value if done.promised_success else "",
        spend=spend,
        feedback={} if done.cause in _AT_WORK else state.feedback,
        last=last_of(done),
        failing=done.failing,
        known_failures=done.known or state.known_failures,
    )


def end(state: State, reason: StopReason) -> State:
    """Return the state in which a loop is left."""
    status = _STATUS[ENDS[reason].status]
    outcome = state.outcome
    if status is Status.COMPLETED:
        outcome = reason.value
    elif reason in _WAITS_FOR:
        outcome = state.outcome or _WAITS_FOR[reason]
    return replace(state, status=status, outcome=outcome)


def has_failed(state: State) -> bool:
    """Return whether the last iteration failed, or made progress only: a gate fails still."""
    return bool(state.consecutive_failures or state.failing)


def exit_code(reason: StopReason, state: State) -> ExitCode:
    """Return the exit status of an end (SPEC section 9); that of a signal is its own."""
    if reason is StopReason.LIMIT and has_failed(state):
        return ExitCode.ITERATION_LIMIT
    return ENDS[reason].exit_code


_SHOWN = 200


class Promise(StrEnum):
    """What an agent may say of its work in the last line of its answer."""

    SUCCESS = "<promise>SUCCESS</promise>"
    FAILURE = "<promise>FAILURE</promise>"


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationOutcome:
    """Why an iteration failed (None: it did not), and whether it promised that all is done.

    `limited` where a limit was in the way: that is not a failed iteration. `failing`, `progress`
    and `known` are those of a Round.
    """

    cause: FailureCause | None = None
    detail: str = ""
    promised_success: bool = False
    limited: bool = False
    failing: tuple[str, ...] = ()
    progress: str = ""
    known: Known = field(default_factory=dict)


def parse_promise(text: str) -> Promise | None:
    """Return what the last line of an answer promises, if it holds nothing but a signal.

    A SUCCESS with a FAILURE on any line before it counts as a failure.
    """
    lines = _lines(text)
    if not lines or lines[-1] not in set(Promise):
        return None
    return Promise.FAILURE if Promise.FAILURE in lines else Promise.SUCCESS


def _lines(text: str) -> list[str]:
    """Return the lines of an answer that hold anything, as a person reads them."""
    stripped = (line.strip() for line in strip_ansi(text).split("\n"))
    return [line for line in stripped if line]


def unread_feedback(text: str, *, offers_success: bool) -> str:
    """Return the message about a signal in an answer that counts for nothing; empty without one."""
    if parse_promise(text) is Promise.SUCCESS:
        return "" if offers_success else _NOT_OFFERED
    last = "".join(_lines(text)[-1:])
    bare = last.strip(_MARKS)
    is_near = bare != last and bare in set(Promise)
    text = f"The last line of the answer is not a signal, as it is not bare: {last}"
    return text if is_near else ""


def doubt(text: str, *, changed: bool | None) -> str:
    """Return the message about a good answer that may be a notice of a limit; empty for others.

    `changed` says whether the iteration changed the tree: then the tool was not limited.
    """
    if changed or not may_be_limit_notice(text):
        return ""
    said = one_line(strip_ansi(text).strip(), _SHOWN)
    return f"The answer may be a notice of a limit, and counts as work: {said}"


_NOT_OFFERED = "The success signal ends nothing: the procedure does not say success = true"
_MARKS = " \t\r`*_\"'.,;:!"


def outcome_of_answer(reply: Reply, *, offers_success: bool) -> IterationOutcome:
    """Return what an agent's answer alone comes to; a failed one is not put before the gates.

    `offers_success` says whether the prompt offers the signal that ends the loop.
    """
    if cause := _cause(reply):
        limited = cause is FailureCause.LIMIT_NOTICE
        return IterationOutcome(cause=cause, detail=_detail(cause, reply), limited=limited)
    said = parse_promise(reply.text)
    if said is Promise.FAILURE:
        return IterationOutcome(cause=FailureCause.PROMISED_FAILURE, detail=_reason(reply.text))
    return IterationOutcome(promised_success=offers_success and said is Promise.SUCCESS)


def _reason(text: str) -> str:
    """Return the last line before the FAILURE: there a tool says what it cannot decide."""
    lines = _lines(text)
    before = lines[: len(lines) - lines[::-1].index(Promise.FAILURE)]
    reason = next((line for line in reversed(before) if line not in set(Promise)), "")
    if lines[-1] == Promise.SUCCESS:
        reason = f"{reason} (followed by SUCCESS)".strip()
    return one_line(reason, _SHOWN)


def outcome_with_gates(
    answer: IterationOutcome, gates: Sequence[GateResult], known: Known
) -> IterationOutcome:
    """Return what an iteration comes to whose answer was good; a required gate decides over it.

    Gates that fail and have come nearer to a pass than is `known` fail no iteration, and end no
    loop.
    """
    missed = [found for found in gates if found.gate.required and not found.passed]
    compared = compare(gates, known)
    if not missed:
        return replace(answer, known=compared.known)
    text = "; ".join(f"{found.gate.name}: {found.summary}" for found in missed)
    if limit := next((found.limit for found in missed if found.limit), ""):
        return IterationOutcome(cause=FailureCause.LIMIT_NOTICE, detail=limit, limited=True)
    return IterationOutcome(
        cause=None if compared.better else FailureCause.GATE,
        detail=text,
        failing=failing_gates(gates),
        progress=compared.better,
        known=compared.known,
    )


def _cause(reply: Reply) -> FailureCause | None:
    """Return why there is no good answer; a limit before anything that it led to."""
    if reply.details.get("limited"):
        return FailureCause.LIMIT_NOTICE
    end = reply.details.get(END)
    if end in _CAUSES:
        return _CAUSES[end]
    if reply.details.get("silent"):
        return FailureCause.EMPTY
    if reply.error:
        return FailureCause.UNUSABLE
    if not _lines(reply.text):
        return FailureCause.EMPTY
    return FailureCause.LIMIT_NOTICE if is_limit_notice(reply.text) else None


_CAUSES = {
    TIMED_OUT: FailureCause.TIMED_OUT,
    NOT_STARTED: FailureCause.SPAWN_ERROR,
    BAD_EXIT: FailureCause.EXIT,
}


def _detail(cause: FailureCause, reply: Reply) -> str:
    error = one_line(reply.error, _SHOWN)
    if cause is FailureCause.EXIT:
        code = reply.details.get("exit")
        return f"signal {-code}" if isinstance(code, int) and code < 0 else f"exit {code}"
    if cause is FailureCause.EMPTY:
        return ""
    if cause is FailureCause.LIMIT_NOTICE:
        return error.removeprefix("the tool ran into a limit: ") or one_line(
            strip_ansi(reply.text).strip(), _SHOWN
        )
    return error
