"""What one check came to, as the user property that takes it through xdist and junit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule

NAME = "reflex"
CATEGORY = "reflex_category"
ADVISED = "advised"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One result as the controller reads it: which check of which target, what it came to."""

    target: str
    rule: str
    index: int
    sha256: str
    result: CheckResult


def encode(target: str, rule: Rule, index: int, sha256: str, result: CheckResult) -> str:
    """Return the property's value: JSON in ASCII, so that no reader can stumble over it."""
    return json.dumps(
        {
            "target": target,
            "rule": rule.id,
            "index": index,
            "severity": rule.severity.value,
            "phase": rule.level.value,
            "artifact_sha256": sha256,
            **result.to_json(),
        }
    )


def decode(report: Any) -> Reported | None:
    """Return what a report says about a check of ours; None for anybody else's report."""
    for name, value in report.user_properties:
        if name == NAME:
            wire = json.loads(value)
            return Reported(
                target=wire["target"],
                rule=wire["rule"],
                index=wire["index"],
                sha256=wire["artifact_sha256"],
                result=CheckResult.from_json(wire),
            )
    return None
