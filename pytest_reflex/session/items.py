"""One pytest item per check, what it is called, and how it reports what came of it.

Names of artifacts are parts of node ids: whatever one is called, it can be selected. What a check
came to is a user property of its report, for JUnit XML, and never read back.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import wrap
from typing import Any, Protocol
from urllib.parse import unquote

import pytest

from pytest_reflex.checks.run import PreparedTarget, run_one
from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.pattern_leads import leads_with, patterns_of
from pytest_reflex.model.plain import escape_control, one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.process.environment import own_secrets, redact
from pytest_reflex.session.results import ReportedResult, Results
from pytest_reflex.verdict.formatting import plain

# An argument is cut at its first `[` and split at `::`; `%` is the escape itself.
_ESCAPED = re.compile(r"%[0-9A-F]{2}")
_RESERVED = frozenset("[]%")


def node_name(name: str) -> str:
    """Return `name` with what a node id cannot hold as percent-encoded bytes.

    One to one: two names never meet. Slashes, blanks and letters of any script stay.
    """
    if name.isprintable() and _RESERVED.isdisjoint(name) and "::" not in name:
        return name
    escaped = "".join(_escape(c) if c in _RESERVED or not c.isprintable() else c for c in name)
    return escaped.replace("::", "%3A%3A")


def file_id(nodeid: str) -> str:
    """Return the node id of a file without what a terminal might act on; one to one as well."""
    if nodeid.isprintable() and not _ESCAPED.search(nodeid):
        return nodeid
    return "".join(_escape(c) if c == "%" or not c.isprintable() else c for c in nodeid)


def path_of_id(file_id: str) -> str:
    """Return the path of a file from its node id."""
    return unquote(file_id, errors="surrogatepass") if _ESCAPED.search(file_id) else file_id


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


PROPERTY = "reflex"
CATEGORY = "reflex_category"
ADVISED = "advised"


def encode_result(target: str, rule: Rule, index: int, sha256: str, result: CheckResult) -> str:
    """Return the property's value: JSON in ASCII, so that no reader can stumble over it."""
    facts = {
        "target": target,
        "rule": rule.id,
        "index": index,
        "severity": rule.severity.value,
        "phase": rule.level.value,
        "artifact_sha256": sha256,
    }
    return json.dumps(facts | result.to_json())


def add_property(report: Any, value: str) -> None:
    """Add the property to a report; another hook may have made its list a tuple, or nothing."""
    report.user_properties = [*(report.user_properties or ()), (PROPERTY, value)]


_WIDEST = 400
_LABEL = 12
_ROOM = 66
COULD_NOT = {
    Outcome.ERROR: "check error: ",
    Outcome.NOT_MEASURED: "was not measured: ",
}


def explain(rule: Rule, index: int, result: CheckResult, *, verbose: bool = False) -> str:
    """Return the finding, and under it a few lines about it; no foreign text starts a line.

    With `verbose` they have the patterns that were looked for.
    """
    place = rule.checks[index].place or rule.place
    word = rule.severity.value
    could_not = "" if result.cause else COULD_NOT.get(result.outcome, "")
    found = one_line(could_not + result.message, _WIDEST)
    said = f"{rule.id} ({word}, weight {plain(rule.weight)}): {rule.description}"
    rows = [
        ("rule", one_line(said, _WIDEST)),
        ("at", str(result.location) if result.location else ""),
        ("evidence", "" if _repeats(result) else result.evidence),
        ("expected", "" if leads_with(result, result.expected) else result.expected),
        ("pattern", "\n".join(patterns_of(result)) if verbose else ""),
        ("hint", "" if result.is_unjudged else rule.hint),
        ("notes", "; ".join(result.notes)),
        ("written in", str(place) if place else ""),
    ]
    return "\n".join([f"{word}: {found}", *(_row(name, text) for name, text in rows if text)])


def _repeats(result: CheckResult) -> bool:
    """Return whether the evidence is the message again, with a line number at most."""
    parts = result.evidence.split(": ", 1)
    ends = result.pattern and result.message.endswith(tuple(f": {part}" for part in parts))
    return result.message in parts or bool(ends)


def _row(name: str, text: str) -> str:
    lines = [
        part
        for line in escape_control(text).strip("\n").split("\n")
        for part in wrap(line, _ROOM, break_on_hyphens=False) or [""]
    ]
    label, blank = f"  {name + ':':<{_LABEL}}", " " * (_LABEL + 2)
    return "\n".join((blank if n else label) + line.rstrip() for n, line in enumerate(lines))


def fails(rule: Rule, result: CheckResult) -> bool:
    """Return whether the item of a check is red: what does not apply is skipped."""
    harmless = (Outcome.PASS, Outcome.NOT_APPLICABLE)
    return result.outcome not in harmless and rule.severity is Severity.FAIL


class NotPassedError(Exception):
    """A check of severity fail did not pass; the item holds its result."""


class PendingCheck(Protocol):
    """A check that was started early."""

    def result(self) -> CheckResult: ...


@dataclass(slots=True)
class Subject:
    """One target as its items share it: the compiled checks, and those that run already."""

    id: str
    target: Target
    prepared: PreparedTarget
    early: dict[tuple[str, int], PendingCheck] = field(default_factory=dict)
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

    @property
    def is_paid(self) -> bool:
        """Whether it asks a judge."""
        return (self.rule.id, self.index) in self.subject.prepared.paid

    @property
    def is_held_back(self) -> bool:
        """Whether it waits for all other checks: no agent is asked where one of them blocks."""
        return self.is_paid and self.subject.prepared.waits

    def judge(self) -> CheckResult:
        """Run the check and remember what it came to."""
        self.outcome = self.subject.judge(self.rule.id, self.index)
        return self.outcome

    def runtest(self) -> None:
        result = self.judge()
        if fails(self.rule, result):
            raise NotPassedError(result.message)
        if result.outcome is Outcome.NOT_APPLICABLE:
            raise pytest.skip.Exception(result.message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, NotPassedError):
            return self.failure_text()
        return super().repr_failure(excinfo, style)

    def failure_text(self) -> str:
        """Return the failure text of the last run."""
        assert self.outcome is not None
        verbose = self.config.get_verbosity() > 0
        return explain(self.rule, self.index, self.outcome, verbose=verbose)

    def skip_report(self, result: CheckResult) -> tuple[str, int, str]:
        """Return what a report says of a check that does not apply: file, line and reason."""
        path, line, _ = self.reportinfo()
        reason = f"Skipped: not applicable: {one_line(result.message, _WIDEST)}"
        return str(path), (line or 0) + 1, reason

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
            result = CheckResult(outcome=Outcome.ERROR, message=first_line(report))
        if result is None:
            return
        if report.skipped and result.outcome is Outcome.NOT_APPLICABLE:
            report.longrepr = self.skip_report(result)
        target, sha256 = self.subject.id, self.subject.sha256
        value = encode_result(target, self.rule, self.index, sha256, result)
        add_property(report, value)
        if report.when == "teardown" and not report.failed:
            return  # the call has reported it
        reported = ReportedResult(
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


def first_line(report: Any) -> str:
    """Return the one line that says most of what pytest made of an exception."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr or "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return redact(lines[0] if crash else lines[-1], own_secrets()) if lines else "no message"
