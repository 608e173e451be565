"""The marked tests of a session: which items they are, and what their reports come to.

An item counts as a marked test because it was collected as one, not because of its node id: an
item that a conftest.py makes can have any id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pytest_reflex.errors import Problem
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.words import Outcome, Severity
from pytest_reflex.session import marks
from pytest_reflex.session.plan import Plan
from pytest_reflex.session.properties import ADVISED, CATEGORY, add_property, encode
from pytest_reflex.session.results import Reported, Results, worse

_NODE_ID: pytest.StashKey[str] = pytest.StashKey()
_WORST: pytest.StashKey[CheckResult] = pytest.StashKey()


class MarkedTests:
    """Learns the marked tests before anything is deselected, and records their results."""

    def __init__(self, plan: Plan, results: Results) -> None:
        self._plan = plan
        self._results = results
        self._items: list[pytest.Item] = []
        self._checks: dict[str, tuple[str, int]] = {}
        self._digest = ""

    def learn(self, items: Iterable[pytest.Item], root: Any) -> list[Problem]:
        """Put the marked tests among `items` into the plan; return what is wrong with them."""
        marked = self._plan.marked
        faults: list[Problem] = []
        for item, read in marks.read_marks(items):
            if isinstance(read, Problem):
                faults.append(read)
                continue
            known = marked.setdefault(item.nodeid, read)
            if known.id != read.id:
                message = f"{item.nodeid} is the id of two tests, of the rules {known.id} and"
                faults.append(Problem(message=f"{message} {read.id}", place=read.place))
            item.stash[_NODE_ID] = item.nodeid
            self._items.append(item)
        faults += marks.clashes(marked)
        self._checks = marks.numbered(marked)
        self._digest = marks.digest_of_tests(marked, root)
        return faults

    def left_out(self, items: Iterable[pytest.Item]) -> set[str]:
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
        result = marks.result_of(report, raised)
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
        reported = Reported(
            node_id=node_id,
            target=marks.SESSION,
            rule=rule,
            index=index,
            sha256=self._digest,
            result=result,
        )
        self._results.record(report, reported)

    def _add_property(self, node_id: str, report: Any, result: CheckResult) -> None:
        _, index = self._checks[node_id]
        rule = self._plan.marked[node_id]
        value = encode(marks.SESSION, rule, index, self._digest, result)
        add_property(report, value)
