"""Stopping a run from outside, and saying something of its artifact: by its lock, or by asking.

Promises: a run that no process drives changes under its lock, at once; of one that is driven only
the driver writes the history, and a request that got lost on the way is made again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.control import Requests, act_or_ask
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.reflex import finish
from pytest_reflex.drivers.reflex.decide import Action, decide
from pytest_reflex.drivers.reflex.evaluate_step import evaluate
from pytest_reflex.drivers.reflex.finish import Verified, evaluate_again
from pytest_reflex.drivers.reflex.history import evaluation_key
from pytest_reflex.drivers.reflex.named_files import deliver, not_written
from pytest_reflex.drivers.reflex.run_integrity import IntegrityWatch, watch_again
from pytest_reflex.drivers.reflex.run_status import RunOverview, read_run
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.statefile import (
    HISTORY,
    RUN,
    Pointer,
    change_pointer,
    read_pointer,
)
from pytest_reflex.errors import ReflexError, StateError, UsageError
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus, StopReason, is_extendable
from pytest_reflex.reports.lines import Line
from pytest_reflex.storage.files import read_object
from pytest_reflex.storage.journal import read_journal
from pytest_reflex.storage.lock import is_locked


@dataclass(frozen=True, slots=True, kw_only=True)
class StopResponse:
    """What came of a request: the state it led to; `done` is False where that is yet to come.

    Of a run that was ended here, `artifact` is the text that stands, `delivered` what became of it,
    and `failure` why it could not be delivered.
    """

    state: RunState
    done: bool
    artifact: str | None = None
    delivered: Line = field(default_factory=list)
    failure: StateError | None = None


Open = Callable[[Path], RunFiles]
Hooks = Callable[[], Any]


def stop(
    run: RunOverview,
    reason: str,
    *,
    now: bool,
    wait: float,
    project: Path,
    open_run: Open = RunFiles.open,
    hooks: Hooks | None = None,
) -> StopResponse:
    """End a run as `user_stop`; `wait` is how long to wait for a process that drives it.

    With `now` its agent is ended too. A run that ends by itself meanwhile keeps its reason.
    `open_run` takes the lock of a run of its kind; `hooks` gives what judges, where no process
    drives the run and its artifact was not evaluated yet.
    """
    return _settle(
        run,
        Requests(stop=reason, now=now),
        alone=lambda: _stop_idle(open_run(run.folder), reason, project, hooks),
        is_done=lambda: _has_ended(run),
        wait=wait,
    )


def give_feedback(
    run: RunOverview, text: str, *, wait: float, open_run: Open = RunFiles.open
) -> StopResponse:
    """Hand a person's critique to a run; raises UsageError where it cannot use it any more."""
    key = secrets.token_hex(6)
    return _settle(
        run,
        Requests(feedback={key: text}),
        alone=lambda: _report_idle(open_run(run.folder), key, text),
        is_done=lambda: _is_durable(run, key),
        wait=wait,
    )


def _settle(
    run: RunOverview,
    wanted: Requests,
    *,
    alone: Callable[[], StopResponse],
    is_done: Callable[[], bool],
    wait: float,
) -> StopResponse:
    """Act under the run's lock where it can be had, else ask its driver and wait."""
    return act_or_ask(
        alone,
        ask=lambda: _ask(run, wanted),
        is_driven=lambda: is_locked(run.folder / HISTORY),
        is_done=is_done,
        asked=lambda done: StopResponse(state=read_run(run.folder).state, done=done),
        wait=wait,
    )


def _ask(run: RunOverview, wanted: Requests) -> None:
    """Put a request where the driver looks, unless it stands there or no driver will look again."""
    run_id = run.state.run_id
    if _has_ended(run):
        return

    def add_request(pointer: Pointer) -> Pointer:
        named = pointer if pointer.run_id else pointer.with_run(run.state)
        return named.with_requests(run_id, named.requests_of(run_id) | wanted)

    change_pointer(run.folder.parent, add_request, run.folder)


def _has_ended(run: RunOverview) -> bool:
    """Return whether a run has ended; run.json says so quickly where it can be read."""
    written = read_object(run.folder / RUN)
    if written.get("run_id") == run.state.run_id and written.get("status") == RunStatus.RUNNING:
        return False
    return read_run(run.folder).state.status is not RunStatus.RUNNING


def _is_durable(run: RunOverview, key: str) -> bool:
    """Return whether feedback is in the history; while it stands in current.json it is not."""
    if key in read_pointer(run.folder.parent).requests_of(run.state.run_id).feedback:
        return False
    return any(
        record.get("event") == EventKind.FEEDBACK_GIVEN and record["payload"]["id"] == key
        for record in read_journal(run.folder / HISTORY).records
    )


def _stop_idle(held: RunFiles, reason: str, project: Path, hooks: Hooks | None) -> StopResponse:
    with closing(held) as files:
        if files.state.status is not RunStatus.RUNNING:
            return StopResponse(state=files.state, done=True)
        files.adopt_changes_by_hand()
        files.adopt_feedback(files.requests().feedback)
        verified: Verified = set()
        due = decide(files.state, stop_requested=reason, unverified=True)
        if hooks is not None and due.act in (Action.STEP, Action.VERIFY):
            reason += _evaluate_last(
                files, hooks, project, verified, again=due.act is Action.VERIFY
            )
        end = Stop(StopReason.USER_STOP, reason)
        files.commit(finish.end_run(files.state, end, files.latest_events(), verified))
        failure = None
        try:
            delivered = deliver(files, project)
        except StateError as error:
            failure, delivered = error, not_written(f": {error}")
        return StopResponse(
            state=files.state,
            done=True,
            artifact=files.artifact_text(),
            delivered=delivered,
            failure=failure,
        )


def _evaluate_last(
    files: RunFiles, hooks: Hooks, project: Path, verified: Verified, *, again: bool
) -> str:
    """Evaluate the artifact, or do so `again`; return why it could not be done, empty if it was."""
    why = IntegrityWatch(files.latest_events()[0].payload, project).find_tampering()
    if not why:
        try:
            watch = watch_again(files, project)
            judge = evaluate_again(files, hooks(), project, watch) if again else None
            for done in judge or (evaluate(files, hooks(), project, watch),):
                files.commit(done)
                why = done.payload.get("message", "")
        except ReflexError as error:
            why = error.problems[0].message
    if not why and files.state.evaluation:
        verified.add(evaluation_key(files.state.evaluation))
    return f" (the last artifact was not evaluated: {why})" if why else ""


def _report_idle(held: RunFiles, key: str, text: str) -> StopResponse:
    with closing(held) as files:
        state = files.state
        if files.has_feedback(key):  # its driver took it up, and may have ended since
            return StopResponse(state=state, done=True)
        if state.status is not RunStatus.RUNNING and not is_extendable(state.stop.reason):
            raise UsageError(
                f"loop {files.alias!r} has ended ({state.stop.to_json()['reason']}): "
                "there is no critique to come",
                hint="start over with `loop new`",
            )
        files.adopt_feedback(files.requests().feedback)
        if not files.has_feedback(key):
            files.give_feedback(key, text)
        return StopResponse(state=files.state, done=True)
