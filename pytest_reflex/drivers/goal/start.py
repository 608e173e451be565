"""From the command line to a run of a goal: everything is looked at before anything is changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_reflex.checks.registry import Registry
from pytest_reflex.drivers.common import running
from pytest_reflex.drivers.common.events import DriverEvent
from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.kept_files import KeptFiles
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.common.record_file import ROOT, RunFile
from pytest_reflex.drivers.common.running import Events
from pytest_reflex.drivers.goal.driver import NAME, Ask, GoalDriver, Tell
from pytest_reflex.drivers.goal.loop_files import LoopFiles, as_written, status_of
from pytest_reflex.drivers.goal.model import GoalState, GoalStatus, Reversibility
from pytest_reflex.drivers.goal.plan import PlanOptions, plan_goal
from pytest_reflex.drivers.goal.protected_files import KEPT, find_verifying_files
from pytest_reflex.drivers.goal.run_state import Goal
from pytest_reflex.drivers.goal.show import lines_of, summary
from pytest_reflex.drivers.goal.verify import Approvals, Verifier
from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.host import agent_kinds, make_agent, open_host
from pytest_reflex.model.steps import Askable
from pytest_reflex.settings import Settings
from pytest_reflex.storage.files import names_in

BUDGET, MOST_BUDGET = 25.0, 100.0
ITERATIONS, MOST_ITERATIONS = 10, 50
_RUN = re.compile(r"goal-([1-9]\d{0,8})\.json")
Say = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalListeners:
    """Callbacks of a goal: `ask` asks a person at a gate (None: not interactive), `tell` gets
    the lines of the loop, `say` the warnings."""

    ask: Ask | None
    tell: Tell
    say: Say


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalLimits:
    """What bounds a run; `budget` is in US dollars."""

    budget: float = BUDGET
    max_iterations: int = ITERATIONS

    def validate(self) -> GoalLimits:
        """Return it; raises UsageError where it is beyond what any goal may have."""
        if not 0 < self.budget <= MOST_BUDGET:
            raise UsageError(f"--budget must be above 0 and at most {MOST_BUDGET:g} USD")
        if not 0 < self.max_iterations <= MOST_ITERATIONS:
            raise UsageError(f"--max-iterations must be between 1 and {MOST_ITERATIONS}")
        return self


def run_names(project: Path) -> list[str]:
    """Return the names of all runs of goals, the last one first."""
    names = names_in(project / ROOT / "runs" / NAME)
    numbers = [int(match[1]) for name in names if (match := _RUN.fullmatch(name))]
    return [f"goal-{number}" for number in sorted(numbers, reverse=True)]


def new_run(project: Path) -> str:
    """Return the name of the next run."""
    names = run_names(project)
    return f"goal-{int(names[0].rpartition('-')[2]) + 1 if names else 1}"


def last_run(project: Path) -> RunFile | None:
    """Return the last run, None where there is none."""
    names = run_names(project)
    return RunFile(project, NAME, names[0]) if names else None


def find_unfinished(project: Path) -> RunFile | None:
    """Return the run that can go on, None where there is none."""
    files = last_run(project)
    record = files.read() if files else None
    return files if record is not None and record.can_go_on else None


def prepare(
    spec: str, choices: PlanOptions, *, project: Path, agent: str, settings: Settings
) -> tuple[Goal, tuple[Path, ...], Registry]:
    """Return the goal of a spec; raises ReflexError where it cannot be begun."""
    registry = open_host(settings["plugins"], project).registry
    planned = plan_goal(spec, choices, project=project, registry=registry)
    refuse_agent(agent or settings["agent"], settings, project)
    if planned.goal.reversibility is Reversibility.CHECKPOINTED:
        refuse_no_git(project)
    return planned.goal, planned.files, registry


def refuse_agent(name: str, settings: Settings, project: Path) -> None:
    """Raise UsageError for an agent that cannot work on files."""
    kinds = agent_kinds(open_host(settings["plugins"], project))
    agent = make_agent(name, settings, kinds, otherwise="name another agent")
    if not isinstance(agent, Askable):
        raise UsageError(f"agent {name!r} cannot take a prompt", hint="name an AI tool: --agent")
    if not getattr(agent, "can_edit", True):
        hint = "name one that can: --agent NAME"
        raise UsageError(f"agent {name!r} cannot change files: it only answers", hint=hint)


def refuse_no_git(project: Path) -> None:
    """Raise UsageError where no checkpoints can be made."""
    try:
        Git(project).tree()
    except UsageError as error:
        problem = error.problems[0]
        raise UsageError(
            f"each step of a goal of type 2B has a checkpoint, and none can be made: "
            f"{problem.message}",
            hint="git needs a repository, a user.name, a branch and a commit; "
            "or --reversibility 2A, where it can be undone in a minute",
        ) from None


def begin(
    goal: Goal,
    *,
    project: Path,
    files: tuple[Path, ...],
    registry: Registry,
    limits: GoalLimits,
    agent: str,
    settings: Settings,
    people: GoalListeners,
) -> tuple[RunFile, Events]:
    """Begin the run of a goal that was prepared, and return its files and its events."""
    run = new_run(project)
    run_file = RunFile(project, NAME, run)
    own = {
        "run": run,
        "shape": goal.shape.value,
        "workflow": goal.workflow.value,
        "reversibility": goal.reversibility.value,
    }
    goal = replace(goal, state=replace(goal.state, own=own))
    relied = find_verifying_files(goal.state, project=project, registry=registry, files=files)
    folder = run_file.make_folder(people.say)
    kept = KeptFiles(project, folder / KEPT, relied)
    approvals = approve(goal.state, project, registry, people.say)
    driver = driver_of(goal, run_file, project, registry, approvals, settings, kept, people)
    events = running.run(
        driver,
        run,
        agent=agent or settings["agent"],
        budget={"usd": limits.budget},
        max_iterations=limits.max_iterations,
        wall_time=settings["goal.wall_time"],
        project=project,
        say=people.say,
    )
    return run_file, relay_events(events, run_file, project, people)


def driver_of(
    goal: Goal,
    run_file: RunFile,
    project: Path,
    registry: Registry,
    approvals: Approvals,
    settings: Settings,
    kept: KeptFiles,
    people: GoalListeners,
) -> GoalDriver:
    """Return what drives a goal."""
    is_checkpointed = goal.reversibility is Reversibility.CHECKPOINTED
    return GoalDriver(
        goal,
        project=project,
        run=run_file.run,
        verifier=Verifier(
            approvals=approvals, registry=registry, timeout=float(settings["goal.timeout"])
        ),
        kept=kept,
        git=Git(project) if is_checkpointed else None,
        ask=people.ask,
        tell=people.tell,
    )


def approve(state: GoalState, project: Path, registry: Registry, say: Say) -> Approvals:
    """Return the approvals with all that a goal runs, which a person has just begun."""
    approvals = Approvals.load(project)
    missing = approvals.find_missing(state.started, registry)
    try:
        return approvals.record(missing)
    except StateError as error:
        say(f"what was approved could not be recorded ({error}): it holds until this process ends")
        return replace(approvals, hashes=approvals.hashes | {one.sha256 for one in missing})


def relay_events(events: Events, run_file: RunFile, project: Path, people: GoalListeners) -> Events:
    """Yield the events of a run; the files in `.loop` and the lines of the loop follow them."""
    files = LoopFiles(project)

    def write() -> DriverRecord | None:
        record = run_file.read()
        try:
            if record is not None:
                write_files(files, record)
        except (StateError, OSError) as error:
            people.say(f"{files.folder} could not be written ({error}): going on")
        return record

    def follow() -> Generator[DriverEvent, None, None]:
        with files.hold():
            try:
                for event in events:
                    record = write()
                    if record is not None:
                        for line in lines_of(event, Goal.from_json(record.data), record):
                            people.tell(line)
                    yield event
            except BaseException:
                events.close()
                write()  # interrupted: no hook blocks until the run goes on
                raise

    return follow()


def write_files(files: LoopFiles, record: DriverRecord) -> None:
    """Write the files in `.loop` as a record has them; raises StateError and OSError."""
    goal = Goal.from_json(record.data)
    if goal.deletes and status_of(record)[0] is GoalStatus.COMPLETED:
        files.remove_state()
    else:
        files.write_state(as_written(goal, record))
    files.add_iteration(goal, record)
    if record.reason:
        files.write_summary(summary(goal, record))
