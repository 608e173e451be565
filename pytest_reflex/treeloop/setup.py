"""Beginning a loop over a session, and taking one up again.

A survey, the first session, says which rules there are and what the suites let an agent change.
Nothing is written before its criteria and limits are confirmed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pytest_reflex.criteria.suite import artifact_patterns
from pytest_reflex.errors import UsageError
from pytest_reflex.host import Host
from pytest_reflex.loops.driver import ReflexLoop
from pytest_reflex.loops.guard import OFF
from pytest_reflex.loops.history import digest
from pytest_reflex.loops.own_orders import read_orders
from pytest_reflex.loops.seal import seal_of
from pytest_reflex.loops.setup import NewLoop, Proposal, limits_of, run_started
from pytest_reflex.loops.steps import Done
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits
from pytest_reflex.model.words import Level, RunStatus, Step
from pytest_reflex.process.group import kill_abandoned
from pytest_reflex.settings import Settings
from pytest_reflex.treeloop.child import Runner, Session
from pytest_reflex.treeloop.combined import criteria_of, fixes_of
from pytest_reflex.treeloop.difference import document
from pytest_reflex.treeloop.files import KIND, TREE, TreeFiles, tree_of
from pytest_reflex.treeloop.order import Order
from pytest_reflex.treeloop.sealed import Start, TreeWatch
from pytest_reflex.treeloop.steps import TreeSteps
from pytest_reflex.treeloop.territory import Territory, as_patterns

SUFFIX = ".reflex.yaml"
_DESELECTED = "deselected"


class NothingToDoError(Exception):
    """The session passes as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a first session showed: rules, what may be changed and what it holds, limits."""

    order: Order
    session: Session
    criteria: Criteria
    limits: Limits
    territory: Territory
    texts: Mapping[str, str]
    start: Start
    warnings: tuple[str, ...]

    @property
    def mendable(self) -> bool:
        """Whether a rule carries a fix that needs no agent."""
        return any(fixes_of(rule) for rule in self.criteria.rules)


def survey(order: Order, settings: Settings, session: Session) -> Survey:
    """Return what a first session showed; raises UsageError where no loop could come of it.

    Raises NothingToDoError where it passes.
    """
    _refuse(session)
    criteria = criteria_of(session)
    if session.status == 0 and session.gate == "passed":
        raise NothingToDoError
    territory = Territory(root=order.root, patterns=_patterns(order, session))
    texts = territory.read()
    if not texts:
        raise UsageError(
            f"there is no file that may be changed: {', '.join(territory.patterns)} match none",
            hint="--reflex-artifact PATH names one",
        )
    return Survey(
        order=order,
        session=session,
        criteria=criteria,
        limits=replace(limits_of(settings), produce="first"),
        territory=territory,
        texts=texts,
        start=Start.of(session, territory),
        warnings=tuple(_warnings(territory, session)),
    )


def _refuse(session: Session) -> None:
    """Raise UsageError for a session whose rules are not all known, or can never pass."""
    if uncollected := session.uncollected:
        names = ", ".join(str(fault["node"]) for fault in uncollected[:3])
        raise UsageError(
            f"the first session could not collect {names}: {uncollected[0]['message']}",
            hint="which rules there are has to be known before the loop begins; mend this by hand",
        )
    if session.problems:
        raise UsageError(session.problems[0])
    if session.ended:
        raise UsageError(f"{session.ended}: {session.last_line}", hint="mend this by hand")
    if not session.parts:
        raise UsageError(
            "the session has no rules",
            hint="mark tests with @pytest.mark.reflex_rule(id=...), or add a suite",
        )
    left_out = [row["rule"] for row in session.not_run if row["reason"] == _DESELECTED]
    narrowed = [part.narrowed for part in session.parts if part.narrowed]
    if left_out or narrowed:
        why = narrowed[0] if narrowed else f"{', '.join(sorted(set(left_out))[:3])} deselected"
        raise UsageError(
            f"the session leaves rules out, so its gate could never pass: {why}",
            hint="run the loop over whole files, without -k, -m, --lf and single tests",
        )


def _patterns(order: Order, session: Session) -> tuple[str, ...]:
    given: list[str] = []
    for part in session.parts:
        suite = part.id.partition("::")[0]
        if suite.endswith(SUFFIX):
            folder = os.path.dirname(suite)
            given += (os.path.join(folder, one) for one in artifact_patterns(order.root / suite))
        elif part.artifact:
            given.append(part.artifact)
    given += order.artifacts
    if not given:
        raise UsageError(
            "nothing says which files may be changed: the session has marked tests only",
            hint="--reflex-artifact PATH (a file or a folder), or the ini key reflex_artifacts",
        )
    return as_patterns(given, order.root)


def _warnings(territory: Territory, session: Session) -> Iterator[str]:
    suites = {part.id.partition("::")[0] for part in session.parts}
    tests = {str(fault["node"]).partition("::")[0] for fault in session.faults} | suites
    for path in territory.paths():
        name = path.rpartition("/")[2]
        matches = any(Path(name).match(pattern) for pattern in session.python_files)
        if matches or path in tests:
            yield f"{path} is a test, and it may be changed"


def watch_of(files: TreeFiles) -> TreeWatch:
    """Return what looks for tampering in a run."""
    began = datetime.strptime(files.state.created_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return TreeWatch(files.start, files.territory, int(began.timestamp() * 1e9))


Equip = Callable[[TreeFiles], TreeSteps]


@contextmanager
def begin(
    found: Survey,
    *,
    settings: Settings,
    host: Host,
    agents: Mapping[Step, str],
    by: str,
    equip: Equip,
) -> Iterator[ReflexLoop]:
    """Write a confirmed survey and yield the loop; the run stays resumable when left early."""
    order = found.order
    files = TreeFiles.create(order.root / settings["loop.root"], order.task, order.alias)
    assert isinstance(files, TreeFiles)
    try:
        started = files.commit(_run_started(found, files, settings, agents, by))
        steps = equip(files)
        steps.first = (digest(document(found.texts, found.texts)), found.session)
        host.manager.register(steps)
        yield ReflexLoop(
            files=files,
            opening=(started,),
            hooks=host.hooks,
            project=order.root,
            sequential=True,
            suspicion=steps.watch.tampering,
        )
    finally:
        files.close()


def _run_started(
    found: Survey,
    files: TreeFiles,
    settings: Settings,
    agents: Mapping[Step, str],
    by: str,
) -> Done:
    """Return the first event: that of any loop, with what is needed of the project."""
    order = found.order
    wanted = NewLoop(
        task=order.task,
        criteria="the first session",
        confirmed_by=by,
        ideal="the whole session passes",
        sequential=True,
    )
    proposal = Proposal(
        order=wanted,
        criteria=found.criteria,
        limits=found.limits,
        level=Level.B,
        draft=None,
        seal=seal_of(found.criteria, settings["plugins"]),
        orders=read_orders(settings["loop.prompts"], order.root),
    )
    begun = run_started(proposal, files.alias, order.root, settings, agents)
    session = {
        "arguments": list(order.arguments),
        "cwd": os.path.relpath(order.cwd, order.root),
    }
    tree = tree_of(
        order.root, files.folder, territory=found.territory, texts=found.texts, start=found.start
    )
    setup = {**begun.payload["setup"], "kind": KIND, "session": session}
    if any(part.artifact is None for part in found.session.parts):
        setup["guard"] = OFF  # a test does not say in which of the files its fault is
    return replace(begun, payload={**begun.payload, "setup": setup, TREE: tree})


@contextmanager
def take_up(folder: Path, *, host: Host, equip: Equip) -> Iterator[ReflexLoop]:
    """Yield an interrupted run, recovered from its history, ready to go on."""
    files = TreeFiles.open(folder)
    assert isinstance(files, TreeFiles)
    try:
        if files.state.status is not RunStatus.RUNNING:  # another process was quicker
            raise UsageError(f"loop {folder.name!r} has ended")
        # We hold the lock: whoever works in this run's name works for nobody.
        leftovers = kill_abandoned(f"PYTEST_REFLEX_RUN_DIR={files.folder}")
        steps = equip(files)
        host.manager.register(steps)
        yield ReflexLoop(
            files=files,
            leftovers=leftovers,
            hooks=host.hooks,
            project=files.project,
            sequential=True,
            suspicion=steps.watch.tampering,
        )
    finally:
        files.close()


def runner_of(files: TreeFiles, seconds: float) -> Runner:
    """Return what starts the sessions of a run as its first one was started."""
    session = files.state.setup["session"]
    return Runner(
        arguments=session["arguments"], cwd=files.project / session["cwd"], seconds=seconds
    )
