"""A goal that goes on, is looked at or is given up: our own, or what another program left."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common import running
from pytest_reflex.drivers.common.arguments import settings_of
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.events import utc_now
from pytest_reflex.drivers.common.record import INTERRUPTED, DriverRecord
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.drivers.common.running import Events
from pytest_reflex.drivers.goal import statefile, transitions
from pytest_reflex.drivers.goal.driver import NAME
from pytest_reflex.drivers.goal.loop_files import LoopFiles, as_written
from pytest_reflex.drivers.goal.model import GoalState, GoalStatus, Reversibility, Shape, Workflow
from pytest_reflex.drivers.goal.plan import score_spec
from pytest_reflex.drivers.goal.protected_files import find_verifying_files, open_kept_files
from pytest_reflex.drivers.goal.run_state import Goal, GoalStep
from pytest_reflex.drivers.goal.spec import reversibility_of, workflow_of
from pytest_reflex.drivers.goal.start import (
    BUDGET,
    ITERATIONS,
    GoalLimits,
    GoalListeners,
    approve,
    driver_of,
    find_unfinished,
    last_run,
    new_run,
    refuse_agent,
    refuse_no_git,
    relay_events,
    write_files,
)
from pytest_reflex.drivers.goal.verify import Approvals, as_claim
from pytest_reflex.errors import LockedError, StateError, UsageError
from pytest_reflex.host import open_host
from pytest_reflex.model.stop import StopReason

NO_GOAL = "there is no goal in this project"
_ACTIVE = (GoalStatus.IN_PROGRESS, GoalStatus.PAUSED)
_AMOUNT = re.compile(r"\+?\d{1,6}(?:\.\d{1,4})?")
Say = Callable[[str], object]


def foreign_state(project: Path) -> GoalState | None:
    """Return the state that another program left in a project, None where there is none.

    While a goal is driven there is none: then its agent has written what stands in the file.
    Raises StateError where a state file cannot be used.
    """
    run_file = last_run(project)
    if run_file is not None and run_file.is_driven():
        return None
    files = LoopFiles(project)
    data = files.read_state()
    if data is None:
        return None
    record = run_file.read() if run_file else None
    if record is None:
        return statefile.load(data, files.state)
    try:
        state = statefile.load(data, files.state)
    except StateError:  # the record counts, and the file is written anew
        return None
    is_ours = state.spec == Goal.from_json(record.data).state.spec
    return None if is_ours or state.status not in _ACTIVE else state


def refuse_unfinished(project: Path) -> None:
    """Raise UsageError where a goal of this project is not finished.

    Raises LockedError where a process drives it.
    """
    if run_file := find_unfinished(project):
        if run_file.is_driven():
            raise LockedError(f"another process is running {run_file.run}")
        hint = "pytest-reflex goal continue, or goal cancel"
        raise UsageError(f"{run_file.run} is not finished", hint=hint)
    foreign = foreign_state(project)
    if foreign is not None and foreign.status in _ACTIVE:
        raise UsageError(
            f"{statefile.STATE_FILE} has a goal of another program",
            hint="pytest-reflex goal continue takes it over, goal cancel removes it",
        )


def go_on(
    *,
    project: Path,
    budget: str,
    max_iterations: str,
    agent: str,
    yes: bool,
    people: GoalListeners,
) -> tuple[RunFile, Events]:
    """Continue the goal of a project; return the files of its run, and its events."""
    settings = settings_of(project)
    chosen = agent or settings["goal.agent"] or settings["agent"]
    foreign = foreign_state(project)
    if foreign is not None and foreign.status in _ACTIVE:
        refuse_agent(chosen, settings, project)
        run_file = _adopt(foreign, project, chosen, people.say)
    elif found := last_run(project):
        run_file = found
    else:
        raise UsageError(NO_GOAL, hint="pytest-reflex goal start SPEC")
    record = run_file.load()
    if not record.can_go_on:
        # A process that was killed after the end may not have written the files.
        if record.reason != StopReason.CANCELLED:
            write_files(LoopFiles(project), record)
        raise UsageError(f"{run_file.run} has ended", hint="pytest-reflex goal start SPEC")
    limits = GoalLimits(
        budget=_more(budget, record.budget.get("usd", BUDGET), "--budget"),
        max_iterations=int(_more(max_iterations, record.max_iterations, "--max-iterations")),
    ).validate()
    refuse_agent(agent or record.agent, settings, project)
    goal = Goal.from_json(record.data)
    if record.reason:  # the end of a killed run was not reported yet
        goal = transitions.reopen(goal, is_asked=people.ask is not None)
    goal = replace(goal, is_confirmed=goal.is_confirmed or yes)
    if goal.reversibility is Reversibility.CHECKPOINTED:
        refuse_no_git(project)
    registry = open_host(settings["plugins"], project).registry
    kept = open_kept_files(
        project,
        run_file.make_folder(people.say),
        record,
        find_verifying_files(goal.state, project=project, registry=registry),
        is_driven=run_file.is_driven(),
        say=people.say,
    )
    approvals = _load_approvals(goal.state, project, registry, people.say, yes=yes)
    with run_file.own(people.say) as file:
        file.save(replace(file.read() or record, data=goal.to_json()))
    driver = driver_of(goal, run_file, project, registry, approvals, settings, kept, people)
    events = running.resume(
        driver,
        run_file.run,
        agent=agent or None,
        budget={"usd": limits.budget},
        max_iterations=limits.max_iterations,
        project=project,
        say=people.say,
    )
    return run_file, relay_events(events, run_file, project, people)


def _more(text: str, now: float, flag: str) -> float:
    """Return a limit as it is given: an amount, or with + what is added; raises UsageError."""
    if not text:
        return now
    if not _AMOUNT.fullmatch(text) or (flag == "--max-iterations" and "." in text):
        raise UsageError(f"{flag} {text!r} is not a number", hint=f"{flag} +5 adds 5 to the limit")
    return now + float(text) if text.startswith("+") else float(text)


def _load_approvals(
    state: GoalState, project: Path, registry: Registry, say: Say, *, yes: bool
) -> Approvals:
    """Return what may be run; what is not approved is shown, and approved by `yes` alone."""
    if yes:
        return approve(state, project, registry, say)
    approvals = Approvals.load(project)
    for one in approvals.find_missing(state.started, registry):
        say(f"not run unless it is approved (goal continue --yes): {one.text}")
    return approvals


def _adopt(state: GoalState, project: Path, agent: str, say: Say) -> RunFile:
    """Return the files of a run made of what another program left."""
    if not state.spec.strip() or not state.criteria:
        hint = "pytest-reflex goal start SPEC"
        raise UsageError(f"{statefile.STATE_FILE} has no spec or no criteria", hint=hint)
    reversibility = reversibility_of(state.spec)
    if reversibility is Reversibility.ONE_WAY:
        raise UsageError(
            "the goal of the state file cannot be rolled back (Type 1)",
            hint="pytest-reflex goal start SPEC --precheck FILE",
        )
    if reversibility is Reversibility.CHECKPOINTED:
        refuse_no_git(project)
    rubric = score_spec(state.spec)
    steps = state.steps or tuple(one.text for one in state.criteria)
    left = state.remaining_steps or tuple(one for one in steps if one not in state.completed_steps)
    criteria = tuple(as_claim(one) for one in state.criteria)
    state = replace(
        state,
        criteria=criteria,
        steps=steps,
        remaining_steps=left,
        exit_signal=False,
        status=GoalStatus.IN_PROGRESS,
        pause_reason="",
        own={**state.own, "run": new_run(project)},
    )
    goal = Goal(
        state=state,
        shape=Shape.TOOL if rubric.shape is Shape.TOOL else Shape.COLLEAGUE,
        workflow=workflow_of(state.spec) or Workflow.BUILD,
        reversibility=reversibility,
        rubric=rubric.to_json(),
        at=GoalStep.G1,
    )
    run_file, now = RunFile(project, NAME, state.own["run"]), utc_now()
    record = DriverRecord(
        driver=NAME,
        run=run_file.run,
        started_at=now,
        changed_at=now,
        data=transitions.begin_iteration(goal).to_json(),
        status=INTERRUPTED,
        iteration=state.iteration,
        max_iterations=ITERATIONS,
        budget={"usd": BUDGET},
        agent=agent,
    )
    with run_file.own(say) as file:
        file.save(record)
    say(f"{statefile.STATE_FILE} of another program is taken over as {run_file.run}")
    return run_file


def load_goal(project: Path) -> tuple[Goal | None, DriverRecord | None, GoalState]:
    """Return the goal of a project and its record, or the state that another program left.

    Raises UsageError where there is neither.
    """
    foreign = foreign_state(project)
    if foreign is not None:
        return None, None, foreign
    run_file = last_run(project)
    if run_file is None:
        raise UsageError(NO_GOAL, hint="pytest-reflex goal start SPEC")
    record = run_file.load()
    goal = Goal.from_json(record.data)
    return goal, record, goal.state


def cancel(project: Path, *, keeps: bool, say: Say) -> str:
    """End the goal of a project for good; return what was done.

    The state file goes, or says `cancelled` where the user `keeps` it; one that is not JSON goes.
    """
    files, name = LoopFiles(project), statefile.STATE_FILE
    try:
        foreign = foreign_state(project)
    except StateError as error:
        if keeps:
            raise
        files.remove_state()
        return f"Removed: {name}, which could not be read ({error.problems[0].message})"
    if foreign is not None:
        if keeps:
            files.write_state(replace(foreign, status=GoalStatus.CANCELLED))
        else:
            files.remove_state()
        return f"Cancelled: the goal in {name}"
    run_file = last_run(project)
    if run_file is None:
        raise UsageError(NO_GOAL)
    if run_file.is_driven():
        run_file.stop("cancelled", now=True, wait=30)
    with run_file.own(say) as file:
        record = file.read()
        goes_on = record is not None and record.can_go_on
        if record is not None and goes_on:
            record = record.end(Stop(StopReason.CANCELLED), utc_now())
            file.save(record)
    if not keeps:
        files.remove_state()
    elif record is not None:
        files.write_state(as_written(Goal.from_json(record.data), record))
    if goes_on:
        return f"Cancelled: {run_file.run}"
    return f"{run_file.run} has ended; {name} is {'kept' if keeps else 'removed'}"
