"""One pytest item per check."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import pytest

from pytest_reflex.checks.run import Prepared, run_one
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.model.words import Outcome, Severity
from pytest_reflex.process.secrecy import hide, own_secrets
from pytest_reflex.session.explain import explain
from pytest_reflex.session.names import file_id
from pytest_reflex.session.properties import ADVISED, CATEGORY, add_property, encode
from pytest_reflex.session.results import Reported, Results


class NotPassedError(Exception):
    """A check of severity fail did not pass; the item holds its result."""


class Waiting(Protocol):
    """A check that was started early."""

    def result(self) -> CheckResult: ...


@dataclass(slots=True)
class Subject:
    """One target as its items share it: the compiled checks, and those that run already."""

    id: str
    target: Target
    prepared: Prepared
    early: dict[tuple[str, int], Waiting] = field(default_factory=dict)
    paths: dict[os.PathLike[str] | str, str] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        return self.prepared.artifact.sha256

    def judge(self, rule_id: str, index: int) -> CheckResult:
        """Run a check, or wait for it where it was started early."""
        waiting = self.early.pop((rule_id, index), None)
        return waiting.result() if waiting else run_one(self.prepared, rule_id, index)


class CheckItem(pytest.Item):
    """A check of a rule. A failed one of severity fail is a failed item, any other is advice."""

    def __init__(self, *, subject: Subject, rule: Rule, index: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.subject = subject
        self.rule = rule
        self.index = index
        self.outcome: CheckResult | None = None

    @property
    def in_process(self) -> bool:
        return self.subject.prepared.in_process(self.rule.id, self.index)

    def judge(self) -> CheckResult:
        """Run the check and remember what it came to."""
        self.outcome = self.subject.judge(self.rule.id, self.index)
        return self.outcome

    def runtest(self) -> None:
        result = self.judge()
        if result.outcome is not Outcome.PASS and self.rule.severity is Severity.FAIL:
            raise NotPassedError(result.message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, NotPassedError):
            return self.explained()
        return super().repr_failure(excinfo, style)

    def explained(self) -> str:
        """Return the failure text of the last run."""
        assert self.outcome is not None
        return explain(self.rule, self.index, self.outcome)

    @cached_property
    def location(self) -> tuple[str, int | None, str]:
        """File, line and headline as pytest has them, with the path worked out once per file."""
        path, line, headline = self.reportinfo()
        known = self.subject.paths
        if path not in known:
            known[path] = file_id(os.path.relpath(path, self.config.rootpath))
        return known[path], line, headline

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return file and line of the check as it is written, and a headline."""
        place = self.rule.checks[self.index].place or self.rule.place
        headline = f"{self.rule.id} #{self.index}"
        if place is None or not place.line:
            return self.path, None, headline
        path = os.path.join(self.config.invocation_params.dir, place.path)
        return path, place.line - 1, headline

    def enrich(self, report: Any, results: Results) -> None:
        """Record the result of a report of this item; give it its property, and mark advice."""
        if report.when == "setup":
            self.outcome = None  # of an earlier run, where the item runs again
        result = self.outcome
        if result is None and report.failed:
            result = CheckResult(outcome=Outcome.ERROR, message=gist(report))
        if result is None:
            return
        target, sha256 = self.subject.id, self.subject.sha256
        value = encode(target, self.rule, self.index, sha256, result)
        add_property(report, value)
        if report.when == "teardown" and not report.failed:
            return  # the call has reported it
        reported = Reported(
            node_id=f"{target}::{self.rule.id}::{self.index}",
            target=target,
            rule=self.rule.id,
            index=self.index,
            sha256=sha256,
            result=result,
        )
        results.record(report, reported)
        if report.when == "call" and report.passed and result.outcome is not Outcome.PASS:
            setattr(report, CATEGORY, ADVISED)


def skip_reason(report: Any) -> str:
    """Return why an item was skipped or expected to fail."""
    if hasattr(report, "wasxfail"):
        why = report.wasxfail.removeprefix("reason: ")
        return f"expected to fail: {why}" if why else "expected to fail"
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return f"skipped: {str(reason).removeprefix('Skipped: ')}"


def gist(report: Any) -> str:
    """Return the one line that says most of what pytest made of an exception."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr or "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return hide(lines[0] if crash else lines[-1], own_secrets()) if lines else "no message"
