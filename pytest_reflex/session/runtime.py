"""The hooks that collect and run checks: in a plain session and in each xdist worker."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from pytest_reflex.checks.registry import register_built_ins
from pytest_reflex.checks.run import run_one
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.results import CheckResult
from pytest_reflex.process.pool import Pool
from pytest_reflex.session import options, plan, protocol
from pytest_reflex.session.collect import ArtifactFile, SuiteFile, compile_named, fault_text
from pytest_reflex.session.items import CheckItem
from pytest_reflex.session.marks import MarkedTests
from pytest_reflex.session.options import VOTES, only_looks
from pytest_reflex.session.plan import FOLDER, SessionState
from pytest_reflex.session.protocol import ResultRecorder, ResultSender, stand_inside, stand_outside

_Key = tuple[str, str, int]


class Prefetch:
    """A bounded pool that holds the checks of one session; empty where none starts a process.

    `cancel` is the event that every check of the session reacts to.
    """

    def __init__(self, cancel: Event) -> None:
        self._pool: Pool[_Key, CheckResult] | None = None
        self._cancel = cancel

    def start(self, items: Iterable[CheckItem]) -> None:
        """Start the executable checks among `items`, in their order.

        Items with marks of their own wait for their turn: they may be skipped.
        """
        chosen = [item for item in items if _starts_early(item)]
        if len(chosen) < 2:
            return
        self._pool = self._pool or Pool(cancel=self._cancel)
        for item in chosen:
            key = (item.subject.id, item.rule.id, item.index)
            call = partial(run_one, item.subject.prepared, item.rule.id, item.index)
            self._pool.submit(key, call)
            item.subject.early[item.rule.id, item.index] = _StartedCheck(self._pool, key)

    def stop(self) -> None:
        """End what still runs; after a whole session nothing does."""
        if self._pool:
            self._pool.close(cancel=True)


def _starts_early(item: CheckItem) -> bool:
    return not item.in_process and not item.own_markers


@dataclass(frozen=True, slots=True)
class _StartedCheck:
    pool: Pool[_Key, CheckResult]
    key: _Key

    def result(self) -> CheckResult:
        return self.pool.result(self.key)


PROBLEMS = "reflex_problems"

_MANY = 1000


class Runtime:
    """Registered only where a reflex option, file or marked test is in play."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.config = state.config
        self.early = Prefetch(state.cancel)
        self.marked = MarkedTests(state.plan, state.results)
        self.reporting = ResultRecorder(state.results, self.marked)
        self._held_back: list[CheckItem] = []
        self._teardowns = True
        self._short = not (
            protocol.wants_standard(self.config)
            or options.switch(self.config, "reflex_standard_protocol")
        )

    @pytest.hookimpl(trylast=True)
    def pytest_reflex_register_checks(self, register: Any) -> None:
        register_built_ins(register)

    # collection

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Compile in a worker what the options name; elsewhere the controller has done it."""
        if self.state.is_worker:
            compile_named(self.state)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Without path arguments, what the options name is all that there is to do."""
        if self.state.named and self.config.args_source is not self.config.ArgsSource.ARGS:
            self.config.args[:] = []
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        if not isinstance(collector, SuiteFile):
            report = yield
            if isinstance(collector, pytest.Session):
                report.result.extend(self._find_named_files(collector))
            return report
        # Thousands of nodes and none of them garbage: looking for some would take a third as long.
        paused = gc.isenabled()
        gc.disable()
        try:
            report = yield
            self._settle(collector, report)
        finally:
            if paused:
                gc.enable()
        return report

    def _find_named_files(self, session: pytest.Session) -> list[ArtifactFile]:
        """Return the artifacts that the options name and no argument selects from."""
        return [
            artifact_node(session, path)
            for path in self.state.named
            if not (path.is_file() and session.isinitpath(path))
        ]

    def _settle(self, suite: SuiteFile, report: pytest.CollectReport) -> None:
        """Know a suite's rules even where --lf skips its collection; keep its problems as data."""
        try:
            suite.load()
        except ReflexError as error:
            report.outcome = "failed"
            report.longrepr = fault_text(error)
            wire = [plan.problem_to_json(problem) for problem in error.problems]
            setattr(report, PROBLEMS, wire)
        except Exception as error:
            # A fault of a check type. Where collecting met it already, the traceback is there.
            if report.passed:
                report.outcome = "failed"
                report.longrepr = f"{type(error).__name__}: {error}"

    def learn(self, items: Iterable[pytest.Item]) -> bool:
        """Learn the marked tests among what was collected; return whether they can be run.

        Raises UsageError for faulty marks; a worker hands them over instead.
        """
        found = self.state.plan
        tests = (item for item in items if not isinstance(item, CheckItem))
        faults = self.marked.learn(tests, self.config.rootpath)
        if faults and not self.state.is_worker:
            raise pytest.UsageError(*dict.fromkeys(str(fault) for fault in faults))
        found.problems += dict.fromkeys(faults)
        found.narrowed = self._narrowing_reason() if found.marked else ""
        return not faults

    def _narrowing_reason(self) -> str:
        """Return why marked tests may exist that were never collected."""
        if self.config.getoption("lf", False) and self.config.cache.get("cache/lastfailed", {}):
            return "--lf leaves out files without a failure"
        if any("::" in argument for argument in self.config.args):
            return "the arguments select single tests"
        return ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Have what costs come last: by then it is known whether anything else has failed."""
        found = yield
        items.sort(key=lambda item: isinstance(item, CheckItem) and item.is_paid)
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know what was left out; a worker hands its plan over before it says what it collected."""
        found = self.state.plan
        checks = {item.nodeid for item in session.items if isinstance(item, CheckItem)}
        found.left_out = set(found.check_ids()) - checks
        found.left_out |= self.marked.find_deselected(session.items)
        folder = getattr(self.config, "workerinput", {}).get(FOLDER)
        if folder:
            plan.write_plan(found, Path(folder))

    def pytest_sessionfinish(self) -> None:
        """Have the controller know which votes are a worker's: it removes what has no owner."""
        if self.state.is_worker:
            found = {name: list(stamp) for name, stamp in self.state.read_votes("written").items()}
            self.config.workeroutput[VOTES] = found  # type: ignore[attr-defined]

    # running

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Start executable checks early; stop them where the session ends before their turn."""
        stand_outside(self.config, self.reporting)
        stand_inside(self.config, self.reporting.raised)
        if self.state.is_worker:
            stand_outside(self.config, ResultSender(self.config, self.state.results))
        self._teardowns = protocol.wants_teardown(self.config)
        if not self.state.is_worker and not only_looks(self.config):
            checks = [item for item in session.items if isinstance(item, CheckItem)]
            self._held_back = [item for item in checks if item.is_held_back]
            self.early.start(item for item in checks if not item.is_held_back)
        frozen = bool(self.state.plan.targets) and _freeze(len(session.items))
        try:
            return (yield)
        finally:
            self.early.stop()
            if frozen:
                gc.unfreeze()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        if self._held_back and isinstance(item, CheckItem) and item.is_held_back:
            waiting, self._held_back = self._held_back, []
            self.early.start(waiting)
        if self._short and protocol.suits(item, nextitem):
            assert isinstance(item, CheckItem)
            protocol.run(item, nextitem, self.state.results, both=self._teardowns)
            return True
        stand_outside(self.config, self.reporting)
        stand_inside(self.config, self.reporting.raised)
        return None


def _freeze(items: int) -> bool:
    """Keep the garbage collector from walking over thousands of nodes again and again.

    They live as long as the session; to look at them is a fifth of the time of a large one. Where
    other code has frozen objects, thawing ours would thaw theirs.
    """
    if items < _MANY or gc.get_freeze_count():
        return False
    gc.freeze()
    return True


def artifact_node(session: pytest.Collector, path: Any) -> ArtifactFile:
    """Return the node of an artifact that the options name."""
    state = session.config.stash[SessionState.key]
    return ArtifactFile.from_parent(session, path=path, nodeid=state.id_of_file(path))
