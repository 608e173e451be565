"""``@pytest.mark.reflex_rule(...)``: a user's own test as a check of a rule, and what came of it.

An item counts as a marked test because it was collected as one, not because of its node id: an
item that a conftest.py makes can have any id.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.criteria.diagnostics import what_is_wrong
from pytest_reflex.errors import Place, Problem, did_you_mean
from pytest_reflex.model.enums import DEFAULT_WEIGHT, Level, Outcome, Severity
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import (
    CheckSpec,
    Criteria,
    Rule,
    cannot_fail,
    contradicts,
    exact,
    is_id,
    level_of,
)
from pytest_reflex.model.targets import Target
from pytest_reflex.session.items import (
    ADVISED,
    CATEGORY,
    add_property,
    encode_result,
    first_line,
    skip_reason,
)
from pytest_reflex.session.options import MARK
from pytest_reflex.session.plan import SessionPlan
from pytest_reflex.session.results import ReportedResult, Results, worse

SESSION = "session"
THRESHOLDS = {Level.A: Fraction(8, 10), Level.B: Fraction(9, 10)}
KEYS = ("id", "severity", "weight", "phase", "description")


def read_marks(items: Iterable[pytest.Item]) -> Iterator[tuple[pytest.Item, Rule | Problem]]:
    """Yield each marked item with the rule that its nearest mark declares, or what is wrong."""
    for item in items:
        found = _nearest(item)
        if found:
            yield item, _read(item, found)


def _nearest(item: pytest.Item) -> list[pytest.Mark]:
    """Return the marks of the closest node that has any: function before class before module."""
    for node in item.iter_parents():
        found = [mark for mark in node.own_markers if mark.name == MARK]
        if found:
            return found
    return []


def _read(item: pytest.Item, marks: list[pytest.Mark]) -> Rule | Problem:
    path, line, _ = item.location
    place = Place(path, (line or 0) + 1)
    try:
        if len(marks) > 1:
            raise ValueError("two reflex_rule marks on one test: a test is a check of one rule")
        if marks[0].args:
            raise ValueError(f"reflex_rule takes keywords only: {', '.join(KEYS)}")
        return _rule(item, marks[0].kwargs, place)
    except ValueError as error:
        message, hint = (*error.args, "")[:2]
        return Problem(message=message, place=place, hint=hint)


def _rule(item: pytest.Item, given: Mapping[str, Any], place: Place) -> Rule:
    for key in given:
        if key not in KEYS:
            raise ValueError(f"reflex_rule has no argument {key!r}", did_you_mean(key, KEYS))
    rule_id = given.get("id")
    if not isinstance(rule_id, str):
        raise ValueError("reflex_rule needs id=...", "e.g. id='b.quality.logging'")
    if not is_id(rule_id):
        raise ValueError(*what_is_wrong(rule_id))
    severity = _word(given, "severity", Severity, Severity.FAIL)
    return Rule(
        id=rule_id,
        description=_description(item, given),
        severity=severity,
        weight=_weight(given.get("weight", DEFAULT_WEIGHT[severity])),
        level=_level(given, rule_id),
        place=place,
    )


def _word(given: Mapping[str, Any], key: str, words: Any, default: Any) -> Any:
    value = given.get(key, default)
    try:
        return words(value)
    except ValueError:
        known = [word.value for word in words]
        raise ValueError(f"unknown {key} {value!r}", did_you_mean(value, known)) from None


def _weight(value: Any) -> Fraction:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not math.isfinite(value) or value < 0:
        raise ValueError(f"weight {value!r} is not a number >= 0")
    return exact(value)


def _level(given: Mapping[str, Any], rule_id: str) -> Level:
    level: Level = _word(given, "phase", Level, level_of(rule_id) or Level.B)
    if contradicts(rule_id, level):
        raise ValueError(f"phase {level.value} contradicts the id {rule_id!r}")
    return level


def _description(item: pytest.Item, given: Mapping[str, Any]) -> str:
    text = given.get("description") or getattr(getattr(item, "obj", None), "__doc__", None)
    return str(text or item.name).strip().partition("\n")[0]


def clashes(marked: Mapping[str, Rule]) -> Iterator[Problem]:
    """Yield the ids that are declared in two ways, and a set that nothing can fail."""
    first: dict[str, Rule] = {}
    for _, rule in sorted(marked.items()):
        known = first.setdefault(rule.id, rule)
        for key in ("severity", "weight", "level"):
            one, other = getattr(known, key), getattr(rule, key)
            if one != other:
                name = "phase" if key == "level" else key
                yield Problem(
                    message=f"declared with {name} {other} here and with {one} in {known.place}",
                    place=rule.place,
                    rule_id=rule.id,
                )
    if first and cannot_fail(list(first.values()), THRESHOLDS[Level.B]):
        yield Problem(
            message="no marked test can fail the gate: none is of severity fail or has a weight",
            place=next(iter(first.values())).place,
        )


def number_checks(marked: Mapping[str, Rule]) -> dict[str, tuple[str, int]]:
    """Return rule id and number of the check that each marked test is, in the order of node ids."""
    counts: dict[str, int] = {}
    found = {}
    for node_id, rule in sorted(marked.items()):
        found[node_id] = (rule.id, counts.setdefault(rule.id, 0))
        counts[rule.id] += 1
    return found


def session_target(marked: Mapping[str, Rule], root: Path) -> Target:
    """Return the criteria `session` over all marked tests; the tests of one id are its checks."""
    tests: dict[str, list[str]] = {}
    for node_id, rule in sorted(marked.items()):
        tests.setdefault(rule.id, []).append(node_id)
    rules = tuple(
        replace(
            marked[node_ids[0]],
            checks=tuple(CheckSpec(type="test", params={"test": one}) for one in node_ids),
        )
        for _, node_ids in sorted(tests.items())
    )
    criteria = Criteria(name=SESSION, version=1, thresholds=THRESHOLDS, rules=rules)
    return Target(criteria=criteria, level=Level.B, artifact=root, root=root, label="marked tests")


def digest_of_tests(marked: Mapping[str, Rule], root: Path) -> str:
    """Return the SHA-256 over the names and bytes of the files that hold the marked tests."""
    digest = hashlib.sha256()
    for name in sorted({rule.place.path for rule in marked.values() if rule.place}):
        try:
            data = (root / name).read_bytes()
        except OSError:
            data = b""
        digest.update(f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode("utf-8", "replace"))
    return digest.hexdigest()


def result_of(report: Any, raised: BaseException | None = None) -> CheckResult | None:
    """Return what a report of a marked test says about its rule; None where it has no result.

    Skipped and expected to fail are not measured; a problem in set-up or teardown is an error.
    `raised` is what the phase left with: where the report hides that, it counts all the same.
    """
    if report.skipped or hasattr(report, "wasxfail"):
        if raised is None or hasattr(report, "wasxfail") or _is_skip(raised):
            return CheckResult(outcome=Outcome.NOT_MEASURED, message=skip_reason(report))
        return _recover_result(report, raised)
    if report.failed:
        if str(report.longrepr).startswith("[XPASS(strict)]"):
            message = "marked xfail, and it passed"
            return CheckResult(outcome=Outcome.NOT_MEASURED, message=message)
        return _failure(report, first_line(report))
    if raised is not None:
        return _recover_result(report, raised)
    if report.when != "call":
        return None
    return CheckResult(outcome=Outcome.PASS, duration=report.duration)


def _failure(report: Any, message: str) -> CheckResult:
    outcome = Outcome.FAIL if report.when == "call" else Outcome.ERROR
    prefix = "" if report.when == "call" else f"error in {report.when}: "
    return CheckResult(outcome=outcome, message=prefix + message, duration=report.duration)


def _recover_result(report: Any, raised: BaseException) -> CheckResult:
    """Return the result of a phase whose report does not say what it left with."""
    if _is_skip(raised) or isinstance(raised, pytest.xfail.Exception):
        word = "skipped" if _is_skip(raised) else "expected to fail"
        message = f"{word}: {raised} (reported as {report.outcome})"
        return CheckResult(outcome=Outcome.NOT_MEASURED, message=message)
    text = f"{type(raised).__name__}: {raised}".partition("\n")[0]
    return _failure(report, f"{text} (reported as {report.outcome})")


def _is_skip(raised: BaseException) -> bool:
    """Return whether pytest takes an exception for a skip; a group of nothing else is one too."""
    if isinstance(raised, BaseExceptionGroup):
        return all(map(_is_skip, raised.exceptions))
    of_unittest = getattr(sys.modules.get("unittest"), "SkipTest", pytest.skip.Exception)
    return isinstance(raised, pytest.skip.Exception | of_unittest)


_NODE_ID: pytest.StashKey[str] = pytest.StashKey()
_WORST: pytest.StashKey[CheckResult] = pytest.StashKey()


class MarkedTests:
    """Learns the marked tests before anything is deselected, and records their results."""

    def __init__(self, plan: SessionPlan, results: Results) -> None:
        self._plan = plan
        self._results = results
        self._items: list[pytest.Item] = []
        self._checks: dict[str, tuple[str, int]] = {}
        self._digest = ""

    def learn(self, items: Iterable[pytest.Item], root: Any) -> list[Problem]:
        """Put the marked tests among `items` into the plan; return what is wrong with them."""
        marked = self._plan.marked
        faults: list[Problem] = []
        for item, read in read_marks(items):
            if isinstance(read, Problem):
                faults.append(read)
                continue
            known = marked.setdefault(item.nodeid, read)
            if known.id != read.id:
                message = f"{item.nodeid} is the id of two tests, of the rules {known.id} and"
                faults.append(Problem(message=f"{message} {read.id}", place=read.place))
            item.stash[_NODE_ID] = item.nodeid
            self._items.append(item)
        faults += clashes(marked)
        self._checks = number_checks(marked)
        self._digest = digest_of_tests(marked, root)
        return faults

    def find_deselected(self, items: Iterable[pytest.Item]) -> set[str]:
        """Return the node ids of marked tests that are not among `items`: those very objects."""
        there = {id(item) for item in items}
        return {item.stash[_NODE_ID] for item in self._items if id(item) not in there}

    def enrich(self, item: pytest.Item, report: Any, raised: BaseException | None) -> None:
        """Record what a report of a marked test says; a failed call of a mild rule is advice.

        The call of a test counts with the worst of its subtests, which report before it.
        """
        node_id = item.stash.get(_NODE_ID, None)
        if node_id is None:
            return
        if report.when == "setup" and _WORST in item.stash:
            del item.stash[_WORST]  # of an earlier run: the test runs again
        known: CheckResult | None = item.stash.get(_WORST, None)
        result = result_of(report, raised)
        if result is None:
            if known is not None and report.when == "teardown":
                self._add_property(node_id, report, known)
            return
        if report.when == "call":
            result = item.stash[_WORST] = worse(known, result)
        self._record(node_id, report, result)
        self._add_property(node_id, report, result)
        failed = report.when == "call" and result.outcome is Outcome.FAIL
        if failed and self._plan.marked[node_id].severity is not Severity.FAIL:
            report.outcome = "passed"
            setattr(report, CATEGORY, ADVISED)

    def _record(self, node_id: str, report: Any, result: CheckResult) -> None:
        rule, index = self._checks[node_id]
        reported = ReportedResult(
            node_id=node_id,
            target=SESSION,
            rule=rule,
            index=index,
            sha256=self._digest,
            result=result,
        )
        self._results.record(report, reported)

    def _add_property(self, node_id: str, report: Any, result: CheckResult) -> None:
        _, index = self._checks[node_id]
        rule = self._plan.marked[node_id]
        value = encode_result(SESSION, rule, index, self._digest, result)
        add_property(report, value)
