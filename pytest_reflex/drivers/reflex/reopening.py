"""Extending a run that ended: which may go on, under which limits, and the event that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.limits import exhausted
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.kinds import is_of_session, refuse_session
from pytest_reflex.drivers.reflex.offering import ALLOWED, refuse_tampered
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.seal import accepted, free_steps, watch_again
from pytest_reflex.drivers.reflex.steps import Done
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import Limits, RunState
from pytest_reflex.model.stop import RunStatus, StopReason, is_extendable
from pytest_reflex.reports.advice import extend_command
from pytest_reflex.settings import budget_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """What a person adds: amounts as they were typed, `+2` for two more, `6` for six in all.

    `allow` are modules that the agent had added, and may keep and change from now on.
    """

    max_iterations: str | None = None
    budget: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


def extended(state: RunState, more: More) -> Limits:
    """Return the limits under which a run goes on; raises UsageError where it would not."""
    _refuse(state, more.allow)
    prefix = "--reflex-" if is_of_session(state) else "--"
    budget = state.limits.budget
    limits = replace(
        state.limits,
        max_iterations=_iterations(state, more.max_iterations),
        budget={**budget, **budget_changes(more.budget, budget)},
    )
    judged = state.evaluated or state.stop.restored_from is not None
    if judged and limits.max_iterations <= state.iteration:
        raise UsageError(
            f"all {limits.max_iterations} iterations of {state.alias!r} are used up",
            hint=f"{prefix}max-iterations +2 allows two more",
        )
    if spent := exhausted(limits.budget, state.spend):
        key = spent.partition(":")[0]
        raise UsageError(
            f"the budget of {state.alias!r} is used up ({spent})",
            hint=f"{prefix}budget {key}=+N allows more",
        )
    return limits


def _refuse(state: RunState, allow: Iterable[str]) -> None:
    reason, alias = state.stop.reason, state.alias
    if state.status is RunStatus.RUNNING:
        raise UsageError(f"loop {alias!r} has not ended", hint=f"pytest-reflex loop resume {alias}")
    refuse_tampered(state, allow, extend_command(state, of_session=is_of_session(state)))
    if reason is not StopReason.TAMPERED and not is_extendable(reason):
        raise UsageError(
            f"loop {alias!r} has completed ({state.stop.to_json()['reason']})",
            hint="start over with `loop new`; --input takes its artifact",
        )


def _iterations(state: RunState, text: str | None) -> int:
    if text is None:
        return state.limits.max_iterations
    number = text.removeprefix("+")
    if not (number.isascii() and number.isdigit() and int(number) and len(number) < 7):
        raise UsageError(f"--max-iterations {text!r}: expected +N, or N in all", hint="such as +2")
    return int(number) + (state.limits.max_iterations if text.startswith("+") else 0)


def extension(state: RunState, more: More, confirmed_by: str) -> Done:
    """Return the event that a run goes on with `more`; raises UsageError where it would not."""
    payload: dict[str, Any] = {
        "limits": extended(state, more).to_json(),
        "reason": state.stop.to_json()["reason"],
        "confirmation": {"by": confirmed_by, "at": datetime.now(UTC).isoformat()},
    }
    if state.stop.offered:
        payload[ALLOWED] = list(state.stop.offered)
    return Done(kind=EventKind.RUN_EXTENDED, step=state.step, payload=payload)


@contextmanager
def reopen(
    folder: Path,
    more: More,
    *,
    confirmed_by: str,
    project: Path,
    hooks: Any,
    agents: Mapping[Step, str] | None = None,
    accept_changes: bool = False,
) -> Iterator[ReflexLoop]:
    """Yield a run that had ended, ready to go on; that it does is durable then.

    `agents` and `accept_changes` are those of `setup.take_up`.
    """
    files = RunFiles.open(folder)
    try:
        refuse_session(files.state, extend_command(files.state, of_session=True))
        event = files.commit(extension(files.state, more, confirmed_by))
        setup = files.state.setup
        watch = watch_again(files, project)
        more_events = accepted(files, watch) if accept_changes else ()
        yield ReflexLoop(
            files=files,
            opening=(event, *more_events),
            hooks=hooks,
            project=project,
            watch=watch,
            free=free_steps(agents or {}, setup.get("plugins", ())),
            agents=agents or {},
            sequential=setup.get("sequential", False),
            allow_agent_commands=setup.get("allow_agent_commands", False),
        )
    finally:
        files.close()
