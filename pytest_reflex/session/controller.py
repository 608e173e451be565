"""The hooks that decide: in a plain session, and in the controller of xdist workers."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.criteria.load import collector_off
from pytest_reflex.errors import Problem, ReflexError
from pytest_reflex.model.plain import escape_control
from pytest_reflex.reports import json_report, terminal
from pytest_reflex.session import marks, options, plan
from pytest_reflex.session.collect import compile_named, find_unreached, plan_of_ids
from pytest_reflex.session.conclude import (
    Conclusion,
    ResultTally,
    conclude,
    exit_status,
    expected_targets,
)
from pytest_reflex.session.items import ADVISED, CATEGORY
from pytest_reflex.session.options import ENDED, VOTES, only_looks
from pytest_reflex.session.plan import FOLDER, SessionState
from pytest_reflex.session.results import ATTRIBUTE
from pytest_reflex.session.runtime import PROBLEMS
from pytest_reflex.verdict.gate import Gate, GateStatus, SessionVerdict, gate_over


class Controller:
    """Knows what was expected, counts what was reported, and holds the exit status to the gate."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.config = state.config
        self.tally = ResultTally()
        self.decision: SessionVerdict | None = None
        self._json = self._json_path()
        self._faults: list[Problem] = []
        self._foreign_faults = False
        self._looped = self._reported = False
        self._folder: Path | None = None
        self._worker_ids: list[str] = []
        self._votes: dict[str, Any] = {}
        self._workers_plan: plan.SessionPlan | None = None

    def _json_path(self) -> Path | None:
        """Return where the document goes; a path that cannot be written is refused at the start."""
        given = options.text(self.config, "reflex_json")
        if not given:
            return None
        path = self.config.invocation_params.dir / given
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path.parent):
                pass
            if path.is_dir():
                raise IsADirectoryError("is a folder")
        except OSError as error:
            reason = error.strerror or error
            raise pytest.UsageError(f"--reflex-json {given} cannot be written: {reason}") from None
        return path

    # before anything runs

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Compile what the options name, so that a problem is reported before any worker starts."""
        try:
            compile_named(self.state)
        except ReflexError as error:
            self._faults += error.problems
            self._decide(int(pytest.ExitCode.USAGE_ERROR))
            raise pytest.UsageError(*map(str, error.problems)) from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Have a worker, and what it runs, end with us, should we be killed."""
        from pytest_reflex.process.guard import GUARD, make_folder

        if self._folder is None:
            self._folder = make_folder("pytest-reflex-")
        node.workerinput[FOLDER] = str(self._folder)
        known = self.state.read_votes("known").items()
        node.workerinput[VOTES] = {name: list(stamp) for name, stamp in known}
        if pid := _process_of(node):
            GUARD.watch_process(pid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take over what a worker collected, before any test can change it."""
        self._worker_ids = list(ids)
        if self._folder is not None and self._workers_plan is None:
            self._workers_plan = plan.take_over(self._folder)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Where `pytest.exit` has ended a worker before any test, see what it has not read."""
        from pytest_reflex.process.guard import GUARD

        if pid := _process_of(node):
            GUARD.release_process(pid)
        output = getattr(node, "workeroutput", {})
        self._votes |= {name: tuple(stamp) for name, stamp in output.get(VOTES, {}).items()}
        if output.get(ENDED) and not self.state.ended:
            self.state.plan.unread.update(find_unreached(self.config))
            self.state.ended = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_from_serializable(
        self, data: dict[str, Any]
    ) -> Generator[None, object, object]:
        """Record what a worker sends with a report; without workers, nothing is sent."""
        text = data.pop(ATTRIBUTE, None)
        report = yield
        if text is not None and self._folder is not None:
            self.state.results.receive(report, text)
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            faults = [plan.problem_from_json(one) for one in getattr(report, PROBLEMS, ())]
            self._faults += faults
            self._foreign_faults |= not faults

    # while it runs

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        self._looped = True
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tally.add(report, self.state.results.of(report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> Any:
        advised = getattr(report, CATEGORY, "") == ADVISED
        if advised and report.when == "call" and report.passed:
            return ADVISED, "w", (ADVISED.upper(), {"yellow": True})
        return None

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._foreign_faults |= not isinstance(excinfo.value, pytest.Session.Interrupted)

    # the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._take_plan()
        with collector_off():
            session.exitstatus = self._decide(int(session.exitstatus))

    def _take_plan(self) -> None:
        """Under xdist, learn from the workers what they collected."""
        if self._folder is None:
            return
        found = self._workers_plan or plan_of_ids(self._worker_ids, self.state)
        named = {one: self.state.plan.targets[one] for one in self.state.named.values()}
        found.targets = named | found.targets
        found.unread = self.state.plan.unread | found.unread
        self.state.plan = found
        self._faults += found.problems

    def _decide(self, status: int) -> int:
        """Come to a decision, write it down, and return the exit status."""
        parts = self._conclusions()
        judged = tuple(part.judged for part in parts)
        faults = tuple(dict.fromkeys(self._faults))
        problems, unread = (*faults, *self._strangers()), self._unread()
        concerned = bool(judged or problems or unread)
        gate = gate_over(judged, problems, unread) if concerned else None
        only_criteria = bool(faults) and not self._foreign_faults
        refused = all(fault.refused for fault in faults)
        status = exit_status(status, gate, criteria_faults=only_criteria, refused=refused)
        self.decision = SessionVerdict(
            judged=judged,
            gate=gate or Gate(status=GateStatus.INCOMPLETE, reasons=("nothing was evaluated",)),
            exit_status=status,
            not_run=tuple(row for part in parts for row in part.not_run),
            problems=faults,
            unread=unread,
            notices=self._notices(),
        )
        return self._write(status)

    def _conclusions(self) -> list[Conclusion]:
        """Judge every target; where faulty criteria kept everything from running, none."""
        silent = bool(self._faults) and not self.tally.results
        if not (self._looped or self.state.ended) or silent or only_looks(self.config):
            return []
        partial = options.allows_partial(self.config)
        return [
            conclude(one, self.state.plan, self.tally, partial=partial)
            for one in expected_targets(self.state.plan, self.config.rootpath)
        ]

    def _strangers(self) -> list[str]:
        """Name results of what this process knows no rules of: workers on another machine."""
        known = {*self.state.plan.targets, marks.SESSION if self.state.plan.marked else ""}
        reported = {target for checks in self.tally.results.values() for target, _, _ in checks}
        return [
            f"results came in for {target}, whose rules are not known here"
            for target in sorted(reported - known)
        ]

    def _unread(self) -> tuple[str, ...]:
        """Name the files with rules that were not collected, but for suites that are known."""
        if only_looks(self.config):
            return ()
        known = {target_id.partition("::")[0] for target_id in self.state.plan.targets}
        unread = self.state.plan.unread.items()
        return tuple(f"{name}: {why}" for name, why in sorted(unread) if name not in known)

    def _write(self, status: int) -> int:
        """Write the JSON document; where that fails in the end, a success is none."""
        if self._json is None or self.decision is None or only_looks(self.config):
            return status
        try:
            json_report.save(self._json, self.decision)
        except ReflexError as error:
            status = status or int(pytest.ExitCode.TESTS_FAILED)
            notices = (*self.decision.notices, str(error))
            self.decision = replace(self.decision, exit_status=status, notices=notices)
        return status

    def _notices(self) -> tuple[str, ...]:
        if options.ignores_partial(self.config):
            return (f"{options.PARTIAL} must be given on the command line: CI is set",)
        return ()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        self._reported = True
        if self.decision and self.decision.concerned:
            terminal.show(terminalreporter, self.decision)

    def pytest_unconfigure(self) -> None:
        """Hold the exit status to the gate also where another hook has set it since."""
        if self.state.judge is not None:
            from pytest_reflex.agents.vote_cache import sweep_votes

            sweep_votes(self.state.judge, self._votes)
        if self._folder:
            from pytest_reflex.process.guard import remove_folder

            remove_folder(self._folder)
        session: Any = self.config.pluginmanager.get_plugin("session")
        if session is not None:
            session.exitstatus = self.hold(int(session.exitstatus))

    def hold(self, status: int) -> int:
        """Return the exit status, and report why unless that was done.

        Another hook may have kept ours from deciding. Without a terminal plugin, and in pytest 8
        with --no-summary, nothing has reported it yet.
        """
        if self.decision is None and (self._looped or self.state.ended):
            self._take_plan()
            status = self._decide(status)
        if self.decision is None or not self.decision.concerned:
            return status
        gate = self.decision.gate
        if not self._reported and gate.blocks and sys.__stderr__:
            self._reported = True
            reasons = escape_control("; ".join(gate.reasons))
            sys.__stderr__.write(f"reflex gate {gate.status.value.upper()}: {reasons}\n")
        return exit_status(status, gate, criteria_faults=False) if gate.blocks else status


def _process_of(node: Any) -> int | None:
    """Return the process id of a worker that this process has started.

    Where execnet does not show it, workers notice by themselves, some seconds later.
    """
    process = getattr(getattr(node.gateway, "_io", None), "popen", None)
    pid: int | None = getattr(process, "pid", None)
    return pid if node.gateway.spec.popen and not node.gateway.spec.via else None
