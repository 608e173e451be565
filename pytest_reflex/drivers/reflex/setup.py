"""Beginning a run, and taking one up again.

A new run goes through a `Proposal` that touches nothing: criteria are read and compiled, and the
draft is read. Only a confirmed proposal is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_reflex.checks.registry import Registry
from pytest_reflex.checks.run import compile_checks
from pytest_reflex.criteria.load import read_criteria
from pytest_reflex.drivers.common.control import check_text
from pytest_reflex.drivers.common.workspace import own_paths
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.drivers.reflex.named_files import (
    read_draft,
    read_instructions,
    refuse_record,
    unusable,
)
from pytest_reflex.drivers.reflex.project_watch import PROJECT, ProjectWatch, WatchScope
from pytest_reflex.drivers.reflex.run_integrity import (
    ProtectedInputs,
    free_steps,
    holds_rules,
    inputs_of,
    manifest_of,
    rule_files,
    rules_hash,
)
from pytest_reflex.drivers.reflex.run_status import RunOverview, find_interrupted, find_run
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.statefile import ARTIFACT, SCHEMA_VERSION, refuse_session
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.drivers.reflex.survey import ended_error
from pytest_reflex.errors import UsageError
from pytest_reflex.integrity.tool_inputs import files_beside
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.rules import Criteria, ideal_of
from pytest_reflex.model.run import Limits
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.process.group import kill_abandoned
from pytest_reflex.settings import OWN_FILE, Settings, load


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLoop:
    """What a person asks for. `confirmed_by` says how criteria and limits were confirmed.

    `record` is the file that the agents' calls go to, `replay` the recording that answers them.
    `judge` names who judges what no program can, with the command of it where it is one: the files
    that it names are sealed like those of checks; `judge_when` is when, if not as the settings say.
    """

    task: str
    criteria: str
    confirmed_by: str = ""
    alias: str | None = None
    draft: Path | None = None
    output: Path | None = None
    ideal: str | None = None
    sequential: bool = False
    allow_agent_commands: bool = False
    variables: Mapping[str, Any] = field(default_factory=dict)
    record: str | None = None
    replay: str | None = None
    judge: str = ""
    judge_command: tuple[str, ...] = ()
    judge_when: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A run that could begin: everything is read and nothing is written.

    `sources` are the files that the criteria were read from, `instructions` a person's own texts
    for the prompts of steps, `holding` the files that are protected for the checks.
    """

    request: NewLoop
    criteria: Criteria
    limits: Limits
    level: Level
    draft: str | None
    seal: str
    sources: tuple[Path, ...] = ()
    holding: ProtectedInputs = field(default_factory=ProtectedInputs)
    instructions: Mapping[str, str] = field(default_factory=dict)


def propose(request: NewLoop, *, settings: Settings, registry: Registry, project: Path) -> Proposal:
    """Read what a request names; `project` is where its output and the state will be.

    Raises UsageError, CriteriaError or ArtifactError where the run could not begin.
    """
    if not request.task.strip():
        raise UsageError("the task is empty", hint="say what the artifact has to be")
    check_text("task", request.task)
    check_text("ideal result", request.ideal or "")
    root = project / settings["loop.root"]
    if request.output is not None and (why := unusable(project / request.output, root)):
        raise UsageError(f"no result can be written to {request.output}: {why}")
    criteria, sources = read_criteria(
        request.criteria, registry=registry, variables=request.variables
    )
    level = Level.A if criteria.has(Level.A) else Level.B
    compile_checks(criteria, level, registry)
    prompts = settings["loop.prompts"]
    _refuse_output(request, [*sources, *(project / p for p in prompts.values())], settings, project)
    draft = None
    if request.draft is not None:
        draft = read_draft(request.draft).raw_text
    holding = inputs_of(
        criteria,
        registry,
        project=project,
        artifact=root,
        may_change=settings["loop.may_change"],
        judges=[request.judge_command] if request.judge_command else [],
    )
    return Proposal(
        request=request,
        criteria=criteria,
        limits=limits_of(settings),
        level=level,
        draft=draft,
        seal=rules_hash(criteria, settings["plugins"]),
        sources=sources,
        holding=holding,
        instructions=read_instructions(prompts, project),
    )


def _refuse_output(
    request: NewLoop, rules: Sequence[Path], settings: Settings, project: Path
) -> None:
    """Raise UsageError where a result or a recording would be written over what holds the run."""
    root = project / settings["loop.root"]
    refuse_record(request.record, project, root)
    if request.output is None:
        return
    held = rule_files(
        files=[*rules, project / OWN_FILE],
        plugins=settings["plugins"],
        artifact=root / "new" / ARTIFACT,
        project=project,
        link_base=request.draft.resolve().parent if request.draft else None,
    )
    if holds_rules(project / request.output, held, project):
        raise UsageError(
            f"no result can be written to {request.output}: the loop must not change it",
            hint="give another --output",
        )


def limits_of(settings: Settings) -> Limits:
    """Return the limits that the settings in force give a run."""
    names = (
        "max_iterations", "no_major_issues", "produce", "blocker_stagnation", "oscillation",
        "wall_time",
    )  # fmt: skip
    return Limits(**{n: settings[f"loop.{n}"] for n in names}, budget=settings["loop.budget"])


@contextmanager
def begin(
    proposal: Proposal, *, settings: Settings, project: Path, hooks: Any, agents: Mapping[Step, str]
) -> Iterator[ReflexLoop]:
    """Write a confirmed proposal and yield the loop; the run stays resumable when left early."""
    request = proposal.request
    if not request.confirmed_by:
        raise UsageError("criteria and limits were not confirmed", hint="confirm with --yes")
    files = RunFiles.create(project / settings["loop.root"], request.task, request.alias)
    try:
        begun = start_event(proposal, files.alias, project, settings, agents)
        sealed = manifest_of(
            files=[
                *proposal.sources,
                *(project / name for name in settings["loop.prompts"].values()),
            ],
            plugins=settings["plugins"],
            artifact=files.artifact_path,
            project=project,
        )
        scope = WatchScope(
            project=project,
            apart=own_paths(
                project, files.folder.parent, request.draft, request.output, request.record
            ),
            may_change=proposal.holding.may_change,
            writes=proposal.holding.writes,
        )
        beside = files_beside(files.folder.absolute()) if proposal.holding.programs else ()
        watch = ProjectWatch.begin(
            scope, proposal.holding.programs, beside, state=files.folder.parent
        )
        held = {"sealed": sealed.to_json(), PROJECT: watch.record()}
        started = files.commit(replace(begun, payload={**begun.payload, **held}))
        yield ReflexLoop(
            files=files,
            opening=(started,),
            hooks=hooks,
            project=project,
            watch=watch,
            free=free_steps(agents, settings["plugins"], proposal.holding),
            agents=agents,
            sequential=request.sequential,
            allow_agent_commands=request.allow_agent_commands,
        )
    finally:
        files.close()


def start_event(
    proposal: Proposal,
    alias: str,
    project: Path,
    settings: Settings,
    agents: Mapping[Step, str],
) -> StepOutcome:
    """Return the first event of a proposal, not yet durable."""
    request, criteria = proposal.request, proposal.criteria
    setup: dict[str, Any] = {
        "criteria_source": request.criteria,
        "agents": {step.value.lower(): name for step, name in agents.items()},
        "evaluator": settings["loop.evaluator"],
        "guard": settings["loop.guard"],
        "plugins": list(settings["plugins"]),
        "sequential": request.sequential,
        "allow_agent_commands": request.allow_agent_commands,
        "confirmation": {"by": request.confirmed_by, "at": datetime.now(UTC).isoformat()},
    }
    if proposal.instructions:
        setup["prompts"] = dict(proposal.instructions)
    if request.draft is not None:
        setup["input"] = _relative(request.draft, project)
        setup["link_base"] = str(request.draft.resolve().parent)
    if request.output is not None:
        setup["output"] = _relative(request.output, project)
    named = {"record": request.record, "replay": request.replay, "judge": request.judge}
    if request.judge or request.replay:
        named["judge_when"] = request.judge_when or settings["judge_when"]
    setup |= {key: name for key, name in named.items() if name}
    if not settings["judge_cache"]:
        setup["judge_cache"] = False
    payload = {
        "schema_version": SCHEMA_VERSION,
        "task_alias": alias,
        "task": {
            "prompt": request.task,
            "ideal_result": request.ideal or ideal_of(criteria),
        },
        "criteria": criteria.to_json(),
        "limits": proposal.limits.to_json(),
        "level": proposal.level.value,
        "seal": proposal.seal,
        "setup": setup,
    }
    if proposal.draft is not None:
        payload["draft"] = proposal.draft
    return StepOutcome(kind=EventKind.RUN_STARTED, step=Step.PLAN, payload=payload)


def _relative(path: Path, project: Path) -> str:
    """Return a path as state files keep it: relative where it lies in the project."""
    full = path.resolve()
    base = project.resolve()
    return str(full.relative_to(base)) if full.is_relative_to(base) else str(full)


def resumable(root: Path, alias: str | None) -> RunOverview:
    """Return a run that can be resumed; without an alias one that no process drives, if any.

    Raises UsageError where it has ended, with what can be done instead.
    """
    run = find_run(root, alias or find_interrupted(root))
    if run.state.status is RunStatus.RUNNING:
        refuse_session(run.state)
        return run
    if not run.alive:  # killed after its last event, it may have left files behind that
        RunFiles.open(run.folder).close()
    raise ended_error(run)


@contextmanager
def take_up(
    folder: Path,
    *,
    project: Path,
    hooks: Any,
    agents: Mapping[Step, str] | None = None,
    accept_changes: bool = False,
    settings: Settings | None = None,
    allow_agent_commands: bool = False,
) -> Iterator[ReflexLoop]:
    """Yield an interrupted run, recovered from its history, ready to go on.

    `agents` are the names of the agents by step; with `accept_changes` the project is taken as
    it is now. A run that another program began goes on by `settings` (those of the project if not
    given), and alone may be allowed to run commands of agents: others have that from their start.
    """
    from pytest_reflex.drivers.reflex.extend import adopt, continue_loop

    files = RunFiles.open(folder)
    try:
        if files.state.status is not RunStatus.RUNNING:  # another process was quicker
            raise ended_error(RunOverview(folder=folder, state=files.state, alive=True))
        refuse_session(files.state)
        if allow_agent_commands and not files.is_foreign:
            raise UsageError(
                "what commands may run was decided when the loop began",
                hint="leave --allow-agent-commands out",
            )
        opening: tuple[Event, ...] = ()
        if files.is_foreign:
            adopted = adopt(
                files,
                project=project,
                agents=agents or {},
                settings=settings or load(project),
                allow_commands=allow_agent_commands,
            )
            opening = (adopted,)
        # We hold the lock: processes that an earlier owner started have no owner any more.
        leftovers = kill_abandoned(f"PYTEST_REFLEX_RUN_DIR={files.folder}")
        yield continue_loop(
            files,
            opening,
            project=project,
            hooks=hooks,
            agents=agents or {},
            accept_changes=accept_changes,
            leftovers=leftovers,
        )
    finally:
        files.close()
