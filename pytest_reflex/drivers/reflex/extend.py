"""Extending a run that ended, and taking over one that another program began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.drivers.common.drive import find_exhausted
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.new_modules import ALLOWED, refuse_tampered
from pytest_reflex.drivers.reflex.prepared_checks import WITHHELD, commands_made
from pytest_reflex.drivers.reflex.project_watch import PROJECT, ProjectWatch, WatchScope
from pytest_reflex.drivers.reflex.run_integrity import (
    accept_project,
    free_steps,
    inputs_of,
    manifest_of,
    rules_hash,
    watch_again,
)
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.setup import limits_of
from pytest_reflex.drivers.reflex.statefile import is_of_session, refuse_session
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.errors import UsageError
from pytest_reflex.integrity.tool_inputs import files_beside
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import Limits, RunState
from pytest_reflex.model.stop import RunStatus, StopReason, is_extendable
from pytest_reflex.reports.run_lines import extend_command
from pytest_reflex.settings import Settings, budget_changes


def adopt(
    files: RunFiles,
    *,
    project: Path,
    agents: Mapping[Step, str],
    settings: Settings,
    allow_commands: bool = False,
) -> Event:
    """Make durable that a run is ours from now on; its limits but the iterations are configured.

    Its rules, the code of plugins and the project are held as they are now. Where a person allows
    it, commands that agents make are run, those in its checks too.
    """
    state, plugins = files.state, settings["plugins"]
    holding = inputs_of(
        state.criteria,
        built_in_registry(),
        project=project,
        artifact=files.folder.parent,
        may_change=settings["loop.may_change"],
    )
    sealed = manifest_of(files=[], plugins=plugins, artifact=files.artifact_path, project=project)
    scope = WatchScope(
        project=project,
        apart=own_paths(project, files.folder.parent),
        may_change=holding.may_change,
        writes=holding.writes,
    )
    beside = files_beside(files.folder.absolute()) if holding.programs else ()
    watch = ProjectWatch.begin(scope, holding.programs, beside, state=files.folder.parent)
    held = [one for one in state.checks or () if one["type"] == WITHHELD]
    commands = commands_made(
        [{**one, "type": "executable"} for one in held],
        state.criteria,
        allow_commands=allow_commands,
    )
    limits = replace(limits_of(settings), max_iterations=state.limits.max_iterations)
    setup = {
        **state.setup,
        "agents": {step.value.lower(): name for step, name in agents.items()},
        "evaluator": settings["loop.evaluator"],
        "guard": settings["loop.guard"],
        "plugins": list(plugins),
        "judge": settings["judge"],
        "allow_agent_commands": allow_commands,
    }
    return files.adopt(
        {
            "limits": limits.to_json(),
            "setup": {key: value for key, value in setup.items() if value != ""},
            "seal": rules_hash(state.criteria, plugins),
            "sealed": sealed.to_json(),
            PROJECT: watch.record(),
            **({"agent_commands": commands} if commands else {}),
        },
        allow_commands=allow_commands,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendRequest:
    """What a person adds: amounts as they were typed, `+2` for two more, `6` for six in all.

    `allow` are modules that the agent had added, and may keep and change from now on.
    """

    max_iterations: str | None = None
    budget: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


def extend_limits(state: RunState, more: ExtendRequest) -> Limits:
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
    if spent := find_exhausted(limits.budget, state.spend):
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


def extension(state: RunState, more: ExtendRequest, confirmed_by: str) -> StepOutcome:
    """Return the event that a run goes on with `more`; raises UsageError where it would not."""
    payload: dict[str, Any] = {
        "limits": extend_limits(state, more).to_json(),
        "reason": state.stop.to_json()["reason"],
        "confirmation": {"by": confirmed_by, "at": datetime.now(UTC).isoformat()},
    }
    if state.stop.offered:
        payload[ALLOWED] = list(state.stop.offered)
    return StepOutcome(kind=EventKind.RUN_EXTENDED, step=state.step, payload=payload)


@contextmanager
def reopen(
    folder: Path,
    more: ExtendRequest,
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
        yield continue_loop(
            files,
            (event,),
            project=project,
            hooks=hooks,
            agents=agents or {},
            accept_changes=accept_changes,
        )
    finally:
        files.close()


def continue_loop(
    files: RunFiles,
    opening: tuple[Event, ...],
    *,
    project: Path,
    hooks: Any,
    agents: Mapping[Step, str],
    accept_changes: bool,
    leftovers: int = 0,
) -> ReflexLoop:
    """Return a run that goes on as it was set up; that the project is accepted is durable then."""
    setup = files.state.setup
    watch = watch_again(files, project)
    return ReflexLoop(
        files=files,
        opening=(*opening, *(accept_project(files, watch) if accept_changes else ())),
        leftovers=leftovers,
        hooks=hooks,
        project=project,
        watch=watch,
        free=free_steps(agents, setup.get("plugins", ())),
        agents=agents,
        sequential=setup.get("sequential", False),
        allow_agent_commands=setup.get("allow_agent_commands", False),
    )
