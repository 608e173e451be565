"""Results as they come in, from reports of this process or of workers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.words import Outcome
from pytest_reflex.session.items import gist, skip_reason
from pytest_reflex.session.marks import SESSION
from pytest_reflex.session.properties import decode

CRASHED = "???"  # the phase of the report that xdist makes for the item a dead worker was at

_WORST_FIRST = (Outcome.FAIL, Outcome.ERROR, Outcome.NOT_MEASURED, Outcome.PASS)


class Tally:
    """What has been reported, by target and by (rule id, number of the check).

    `digests` are the digests under which each target's artifact was read: more than one means that
    it changed. By node id: `lost`, items at which a worker died; `skipped`, with the reason.
    """

    def __init__(self) -> None:
        self.results: dict[str, dict[tuple[str, int], CheckResult]] = defaultdict(dict)
        self.digests: dict[str, set[str]] = defaultdict(set)
        self.lost: set[str] = set()
        self.skipped: dict[str, str] = {}

    def add(self, report: Any) -> None:
        """Take in one report; reports of anybody else's items and of reruns say nothing."""
        if report.outcome == "rerun":
            return
        if report.when == CRASHED:
            self.lost.add(report.nodeid)
        if report.when == "teardown" and not report.failed:
            return
        found = decode(report)
        if found is None:
            if report.skipped:
                self.skipped[report.nodeid] = skip_reason(report)
            return
        result = found.result
        if found.target == SESSION and result.outcome is Outcome.NOT_MEASURED:
            self.skipped[report.nodeid] = result.message
            return
        if report.failed and report.when != "call":
            message = f"error in {report.when}: {gist(report)}"
            result = CheckResult(outcome=Outcome.ERROR, message=message)
        known = self.results[found.target].get((found.rule, found.index))
        if known is None or _rank(result) < _rank(known):
            self.results[found.target][found.rule, found.index] = result
        self.digests[found.target].add(found.sha256)


def _rank(result: CheckResult) -> int:
    """An item may report more than once (subtests, `--dist each`): the worst counts."""
    return _WORST_FIRST.index(result.outcome)
