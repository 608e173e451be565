"""Results as they come in, from reports of this process or of workers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.session.items import gist, skip_reason
from pytest_reflex.session.marks import SESSION
from pytest_reflex.session.results import Reported, worse

CRASHED = "???"  # the phase of the report that xdist makes for the item a dead worker was at

Key = tuple[str, str, int]  # target, rule, number of the check


class Tally:
    """What has been reported, by node id and by the check that it was reported for.

    `digests` are the digests under which each target's artifact was read: more than one means that
    it changed. By node id: `lost`, items at which a worker died; `skipped`, with the reason.
    """

    def __init__(self) -> None:
        self.results: dict[str, dict[Key, CheckResult]] = defaultdict(dict)
        self.digests: dict[str, set[str]] = defaultdict(set)
        self.lost: set[str] = set()
        self.skipped: dict[str, str] = {}

    def result(self, node_id: str, target: str, rule: str, index: int) -> CheckResult | None:
        """Return what an item reported, if it is the one that this check was expected of."""
        return self.results.get(node_id, {}).get((target, rule, index))

    def add(self, report: Any, found: Reported | None) -> None:
        """Take in one report and the result that was recorded for it; reruns say nothing."""
        if report.outcome == "rerun":
            return
        if report.when == CRASHED:
            self.lost |= {report.nodeid, report.nodeid.rpartition("@")[0]}  # "@" as xdist groups
        if report.skipped and (found is None or found.result.outcome is Outcome.PASS):
            self.skipped[found.node_id if found else report.nodeid] = skip_reason(report)
            return
        if found is None:
            return
        if found.target == SESSION and found.result.outcome is Outcome.NOT_MEASURED:
            self.skipped[found.node_id] = found.result.message
            return
        results, key = self.results[found.node_id], (found.target, found.rule, found.index)
        results[key] = worse(results.get(key), _final(report, found.result))
        self.digests[found.target].add(found.sha256)


def _final(report: Any, result: CheckResult) -> CheckResult:
    """Return the result of a report, unless its final outcome is worse."""
    if not report.failed:
        return result
    if report.when != "call":
        message = f"error in {report.when}: {gist(report)}"
        return CheckResult(outcome=Outcome.ERROR, message=message)
    if result.outcome is Outcome.PASS:
        return CheckResult(outcome=Outcome.FAIL, message=gist(report), duration=result.duration)
    return result
