"""What each report says of a check: kept beside the reports, and never read from them.

Promise: a result counts for the very report that this plugin made it for. What tests, conftest.py
files and plugins put into a report (properties, attributes), and reports that they invent, say
nothing. Between xdist worker and controller a result is an attribute of the serialised report.
Where a plugin forks for each test, a report of the child carries its result, signed by a key that
is in memory only.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from dataclasses import dataclass
from typing import Any

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult

ATTRIBUTE = "_pytest_reflex_result"

_WORST_FIRST = (
    *(Outcome.FAIL, Outcome.ERROR, Outcome.NOT_MEASURED),
    *(Outcome.NOT_APPLICABLE, Outcome.PASS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedResult:
    """What one check of one target came to; `node_id` is that of its item."""

    node_id: str
    target: str
    rule: str
    index: int
    sha256: str
    result: CheckResult

    def to_text(self) -> str:
        """Return JSON in ASCII: neither xdist nor a pipe can stumble over it."""
        facts = {
            "node": self.node_id,
            "target": self.target,
            "rule": self.rule,
            "index": self.index,
            "sha256": self.sha256,
        }
        return json.dumps({**facts, "result": self.result.to_json()})

    @classmethod
    def from_text(cls, text: str) -> ReportedResult:
        wire = json.loads(text)
        return cls(
            node_id=wire["node"],
            target=wire["target"],
            rule=wire["rule"],
            index=wire["index"],
            sha256=wire["sha256"],
            result=CheckResult.from_json(wire["result"]),
        )


class Results:
    """The results of a session by report object."""

    def __init__(self) -> None:
        # Each report is kept, so that no other one can get its identity.
        self._by_report: dict[int, tuple[object, ReportedResult]] = {}
        self._process, self._key = os.getpid(), secrets.token_bytes(16)

    def record(self, report: object, reported: ReportedResult) -> None:
        self._by_report[id(report)] = report, reported
        if os.getpid() != self._process:  # the parent gets a copy of the report
            text = reported.to_text()
            setattr(report, ATTRIBUTE, f"{self._signature(text)} {text}")

    def of(self, report: object) -> ReportedResult | None:
        """Return what was recorded for this very report; None for any other."""
        _, reported = self._by_report.get(id(report), (None, None))
        return reported or self._of_a_fork(report)

    def _of_a_fork(self, report: Any) -> ReportedResult | None:
        """Return what a fork of this process recorded for a report that was made from its own."""
        signed = getattr(report, ATTRIBUTE, None)
        if not isinstance(signed, str) or not signed.isascii():
            return None
        signature, _, text = signed.partition(" ")
        if not hmac.compare_digest(signature, self._signature(text)):
            return None
        self.receive(report, text)
        _, reported = self._by_report.get(id(report), (None, None))
        return reported

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode("ascii"), "sha256").hexdigest()

    def receive(self, report: Any, text: object) -> None:
        """Record what a worker sent with a report; what does not fit to the report is left out."""
        try:
            reported = ReportedResult.from_text(text)  # type: ignore[arg-type]
        except (TypeError, ValueError, KeyError, AttributeError):
            return
        # xdist adds "@GROUP" to the ids of `--dist loadgroup`.
        if report.nodeid == reported.node_id or report.nodeid.startswith(f"{reported.node_id}@"):
            self.record(report, reported)


def worse(one: CheckResult | None, other: CheckResult) -> CheckResult:
    """Return the worse of two results: an item may report more than once (subtests, workers)."""
    if one is None or _WORST_FIRST.index(other.outcome) < _WORST_FIRST.index(one.outcome):
        return other
    return one
