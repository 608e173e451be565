"""What a person asks of a run of a procedure: to stop, or to take something into account.

Promises: of a run that is driven only the driver writes the state; a request that was lost on the
way is made again, and taken once; what will not be taken is refused and not left behind.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_reflex.drivers.common.control import ControlFile, Requests, act_or_ask
from pytest_reflex.drivers.iterate.history import MOST_BYTES, last_run, read_records
from pytest_reflex.drivers.iterate.initial_state import RUN
from pytest_reflex.drivers.iterate.logfile import log_path
from pytest_reflex.drivers.iterate.messages import RESUME
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.state import is_driven, read_state, state_path
from pytest_reflex.drivers.iterate.status import procedures_with_state
from pytest_reflex.errors import LockedError, StateError, UsageError
from pytest_reflex.storage.files import read_file


@dataclass(frozen=True, slots=True, kw_only=True)
class StopResult:
    """What came of a request to stop. `done` is False where the run goes on.

    `outcome` is why the run ended, empty where its log has no end: its process was killed.
    `iterations` are those that are done, None where nothing says so.
    """

    procedure: str
    done: bool
    outcome: str = ""
    iterations: int | None = None
    resumable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackResult:
    """What came of feedback: whether a driver has taken it, and whether one drives the run."""

    procedure: str
    taken: bool
    driven: bool


def driven_procedure(root: Path) -> str:
    """Return the procedure that is driven; raises UsageError where it is none, or not the only one.

    The refusal names what can be done instead.
    """
    names = procedures_with_state(root)
    driven = [name for name in names if is_driven(root, name)]
    if len(driven) > 1:
        raise _several(driven, "are running", "stop")
    if not driven:
        left = [name for name in names if _state_of(root, name)]
        hint = f"go on with: {RESUME} {left[0]}" if left else f"begin with: {RUN} PROCEDURE"
        raise UsageError("no procedure is running", hint=hint)
    return driven[0]


def find_driven_procedure(root: Path) -> str:
    """Return the procedure that feedback is meant for: that which is driven, or can go on.

    Raises UsageError where it is none, or not the only one.
    """
    names = procedures_with_state(root)
    found = [name for name in names if is_driven(root, name)]
    found = found or [name for name in names if _can_go_on(_state_of(root, name))]
    if len(found) > 1:
        raise _several(found, "have a run", "feedback")
    if not found:
        raise UsageError("no procedure has a run under way", hint=f"begin with: {RUN} PROCEDURE")
    return found[0]


def stop(root: Path, procedure: str, reason: str, *, now: bool, wait: float) -> StopResult:
    """Ask the process that drives a procedure to stop, and wait so many seconds.

    With `now` its tool is ended too. Raises UsageError where no process drives it.
    """
    control = ControlFile.beside(state_path(root, procedure))
    wanted = Requests(stop=reason, now=now)
    began = _run_of(root, procedure)
    asked = False

    def ask() -> None:
        nonlocal asked
        control.ask(wanted)
        asked = True

    def act() -> StopResult:
        if is_driven(root, procedure):
            raise LockedError(f"another process is running {procedure}")
        if not asked:
            raise _undriven(procedure, read_state(root, procedure))
        control.drop_stop()
        return _stop_result(root, procedure, began)

    return act_or_ask(
        act,
        ask=ask,
        is_driven=partial(is_driven, root, procedure),
        is_done=lambda: bool(began) and _run_of(root, procedure) not in ("", began),
        asked=lambda done: (
            _stop_result(root, procedure, began)
            if done
            else StopResult(procedure=procedure, done=False)
        ),
        wait=wait,
    )


def give_feedback(root: Path, procedure: str, text: str, *, wait: float) -> FeedbackResult:
    """Hand what a person says to the next iteration of a procedure, and wait so many seconds.

    A run that no process drives has it when it is resumed. Raises UsageError where there is none.
    """
    control = ControlFile.beside(state_path(root, procedure))
    key = secrets.token_hex(6)
    wanted = Requests(feedback={key: text})
    began = _run_of(root, procedure)

    def is_taken() -> bool:
        return key not in control.read().feedback and _is_taken(root, procedure, key, began)

    def act() -> FeedbackResult:
        if is_driven(root, procedure):
            raise LockedError(f"another process is running {procedure}")
        if is_taken():
            return FeedbackResult(procedure=procedure, taken=True, driven=False)
        if not _can_go_on(read_state(root, procedure)):
            control.take([key])
            raise UsageError(
                f"there is no run of {procedure} that could take feedback",
                hint=f"begin with: {RUN} {procedure}",
            )
        control.ask(wanted)
        return FeedbackResult(procedure=procedure, taken=False, driven=False)

    return act_or_ask(
        act,
        ask=lambda: control.ask(wanted),
        is_driven=partial(is_driven, root, procedure),
        is_done=is_taken,
        asked=lambda done: FeedbackResult(procedure=procedure, taken=done, driven=True),
        wait=wait,
    )


def _several(names: Sequence[str], what: str, verb: str) -> UsageError:
    listed = ", ".join(names)
    hint = f"name one: iterate {verb} {names[0]}"
    return UsageError(f"{len(names)} procedures {what}: {listed}", hint=hint)


def _state_of(root: Path, procedure: str) -> State | None:
    """Return the state of a procedure, None also where it cannot be read."""
    try:
        return read_state(root, procedure)
    except StateError:
        return None


def _run_of(root: Path, procedure: str) -> str:
    state = _state_of(root, procedure)
    return state.run if state else ""


def _can_go_on(state: State | None) -> bool:
    return state is not None and state.status is not Status.COMPLETED


def _undriven(procedure: str, state: State | None) -> UsageError:
    """Return the refusal to stop what no process drives."""
    message = f"{procedure} is not running"
    if not _can_go_on(state):
        return UsageError(message, hint=f"begin with: {RUN} {procedure}")
    return UsageError(f"{message}; its run can go on", hint=f"go on with: {RESUME} {procedure}")


def _stop_result(root: Path, procedure: str, began: str) -> StopResult:
    """Return how the run that began at a time has ended."""
    state = _state_of(root, procedure)
    same = state if state and state.run == began else None
    run = last_run(root, procedure, began) if began else None
    return StopResult(
        procedure=procedure,
        done=True,
        outcome=run.outcome if run else "",
        iterations=same.iteration if same else len(run.iterations) if run else None,
        resumable=_can_go_on(same),
    )


def _is_taken(root: Path, procedure: str, key: str, began: str) -> bool:
    """Return whether a driver has made feedback durable; its log says so for good."""
    state = _state_of(root, procedure)
    if state and key in state.feedback:
        return True
    starts = {began, state.run if state else ""} - {""}
    return any(_is_logged(log_path(root, procedure, start), key) for start in starts)


def _is_logged(log: Path, key: str) -> bool:
    try:
        data = read_file(log, MOST_BYTES)
    except (StateError, OSError):
        return False
    if key.encode() not in data:
        return False
    taken = (one.get("ids") for one in read_records(data)[0] if one["event"] == "feedback")
    return any(isinstance(ids, list) and key in ids for ids in taken)
