"""EVALUATE as a pytest session in a fork of this process: nothing is imported twice, or stale.

The session is its own: an empty configuration, no conftest.py, no cache, no entry-point plugins,
and its root folder away from where an agent writes. What a check does to the process (an exit, a
crash) costs that evaluation and nothing else.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from pytest_reflex import hookspecs
from pytest_reflex.checks.reading import SIZE_LIMIT
from pytest_reflex.checks.registry import Registry
from pytest_reflex.checks.run import PreparedTarget, evaluate, prepare, unsound
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.judged import CastVote
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.model.targets import Target
from pytest_reflex.process.fork import ForkResult, Send, can_fork, run_in_fork
from pytest_reflex.process.guard import temporary_folder
from pytest_reflex.session import options
from pytest_reflex.session.items import Subject
from pytest_reflex.session.plan import SessionState
from pytest_reflex.session.results import ReportedResult
from pytest_reflex.session.runtime import Runtime
from pytest_reflex.verdict.score import judge

FINISHED = b"finished"
VOTE = b"vote "
ASKED = b"asked "
MARK = "REFLEX_SESSION"

_DROPPED = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER")
# Parts of pytest that such a session has no use for; each costs a little at every start.
_NEEDLESS = (
    *("cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml"),
    *("legacypath", "logging", "monkeypatch", "pastebin", "recwarn", "setuponly", "setupplan"),
    *("skipping", "stepwise", "subtests", "terminal", "threadexception", "tmpdir", "unittest"),
    *("unraisableexception", "warnings"),
)
_SPARE_SECONDS = 60.0
_PER_COMMAND = 60.0
_numbers = count(1)


def evaluate_by_pytest(
    target: Target, registry: Registry, *, seconds: float | None = None
) -> Evaluation:
    """Judge one target in a pytest session of its own.

    After `seconds` (default: from the time-outs of the checks) the session is stopped. What did not
    report is not measured, whatever status the session left with. Where a fork is not safe the
    core judges, with the same result. Raises CriteriaError and ArtifactError.
    """
    if not can_fork():
        return evaluate(target, registry)
    mark = f"{os.getpid()}-{next(_numbers)}"
    outbox = Outbox()
    there = replace(
        target,
        environment={**target.environment, MARK: mark},
        heard=outbox if target.heard is not None else None,
        asked=outbox.begin_vote if target.asked is not None else None,
    )
    prepared = prepare(there, registry)
    with temporary_folder("pytest-reflex-") as folder:
        forked = run_in_fork(
            lambda send: _session(prepared, folder, outbox.open(send)),
            seconds=_time_limit(prepared) if seconds is None else seconds,
            mark=f"{MARK}={mark}",
            hear=lambda line: hand_on(target, line),
        )
    return _evaluation_of(prepared, forked)


class Outbox:
    """Sends votes from the threads of a session to its parent, between its other lines.

    `known` are those that are not to be asked for again.
    """

    def __init__(self, known: Iterable[CastVote] = ()) -> None:
        self.known = tuple(known)
        self._lock = Lock()
        self._send: Send = lambda line: None

    def open(self, send: Send) -> Send:
        """Return `send` for whoever has lines, one at a time."""

        def one_by_one(line: bytes) -> None:
            with self._lock:
                send(line)

        self._send = one_by_one
        return one_by_one

    def __call__(self, cast: CastVote) -> None:
        self._send(VOTE + json.dumps(cast.to_json()).encode("ascii"))

    def begin_vote(self, question: str) -> None:
        """Report that an agent is asked now."""
        self._send(ASKED + question.encode("ascii"))


def hand_on(target: Target, line: bytes) -> None:
    """Report the votes of a session to its listeners."""
    if target.asked is not None and line.startswith(ASKED):
        target.asked(line.removeprefix(ASKED).decode("ascii"))
    if target.heard is not None and line.startswith(VOTE):
        target.heard(_cast(line))


def _cast(line: bytes) -> CastVote:
    return CastVote.from_json(json.loads(line.removeprefix(VOTE)))


def _time_limit(prepared: PreparedTarget) -> float:
    """Return seconds that a session cannot need unless something hangs in this process itself."""
    starting = [check for check in prepared.checks.values() if not check.in_process]
    total = sum(
        sum(one.timeout * one.tries for one in c.commands) or _PER_COMMAND for c in starting
    )
    return _SPARE_SECONDS + 2 * total + _of_votes(prepared)


def _of_votes(prepared: PreparedTarget) -> float:
    """Return seconds that all votes of a judge may take."""
    judge = prepared.context.judge
    return judge.seconds * sum(check.votes for check in prepared.checks.values()) if judge else 0.0


def _evaluation_of(prepared: PreparedTarget, forked: ForkResult) -> Evaluation:
    said = (
        line for line in forked.lines if line != FINISHED and not line.startswith((VOTE, ASKED))
    )
    found = [ReportedResult.from_text(line.decode("ascii")) for line in said]
    results = {(one.rule, one.index): one.result for one in found}
    missing = set(prepared.checks) - set(results)
    early = "" if FINISHED in forked.lines and not missing else _why_early(forked)
    for key in missing:
        results[key] = CheckResult(outcome=Outcome.NOT_MEASURED, message=early)
    return judge(
        prepared.target,
        results,
        sha256=prepared.artifact.sha256,
        unsound=early or unsound(prepared),
        left_out=prepared.artifact.left_out,
    )


def _why_early(forked: ForkResult) -> str:
    if forked.timed_out:
        return "the session was stopped: it did not end in time"
    last = forked.noise.strip().rpartition("\n")[2]
    return f"the session ended early, with status {forked.status}" + (f": {last}" if last else "")


def _session(prepared: PreparedTarget, folder: Path, send: Send) -> int:
    """Run pytest in the fork; returns its exit status."""
    for name in _DROPPED:
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    tempfile.tempdir = str(folder)  # removed also where this fork is killed
    empty = folder / "pytest.ini"
    empty.write_text("[pytest]\n")
    without = [part for name in _NEEDLESS for part in ("-p", f"no:{name}")]
    arguments = ["-c", str(empty), "--rootdir", str(folder), "--noconftest", *without]
    return int(pytest.main(arguments, plugins=[_InMemory(prepared, send)]))


class _InMemory:
    """The plugin of such a session: its only target was compiled before the fork."""

    def __init__(self, prepared: PreparedTarget, send: Send) -> None:
        self._prepared = prepared
        self._send = send

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        options.add_options(parser)

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        pluginmanager.add_hookspecs(hookspecs)

    def pytest_configure(self, config: pytest.Config) -> None:
        options.add_markers(config)
        state = SessionState(config)
        self._results = state.results
        path = Path(os.path.abspath(self._prepared.target.artifact))
        subject_id = f"{state.id_of_file(path)}::target"
        state.adopt(Subject(subject_id, self._prepared.target, self._prepared), SIZE_LIMIT)
        state.named[path] = subject_id
        config.pluginmanager.register(Runtime(state))

    def pytest_runtest_logreport(self, report: Any) -> None:
        found = self._results.of(report)
        if found is not None and report.when == "call":
            self._send(found.to_text().encode("ascii"))

    def pytest_sessionfinish(self) -> None:
        self._send(FINISHED)
