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


@dataclass(frozen=True, slots=True)
class Reported:
    """One result as the controller reads it: which check of which target, what it came to."""

    target: str
    rule: str
    index: int
    sha256: str
    result: CheckResult


class Told(str):
    """The property's value in the process where the check ran: it need not be parsed again.

    xdist takes plain text only; a worker encodes with `plain`.
    """

    reported: Reported


def encode(
    target: str, rule: Rule, index: int, sha256: str, result: CheckResult, *, plain: bool
) -> str:
    """Return the property's value: JSON in ASCII, so that no reader can stumble over it."""
    facts = {
        "target": target,
        "rule": rule.id,
        "index": index,
        "severity": rule.severity.value,
        "phase": rule.level.value,
        "artifact_sha256": sha256,
    }
    text = json.dumps(facts | result.to_json())
    if plain:
        return text
    told = Told(text)
    told.reported = Reported(target, rule.id, index, sha256, result)
    return told


def decode(report: Any) -> Reported | None:
    """Return what a report says about a check of ours; None for anybody else's report."""
    for name, value in report.user_properties:
        if name == NAME:
            return value.reported if isinstance(value, Told) else parse(value)
    return None


def parse(text: str) -> Reported:
    """Return what `encode` was given."""
    wire = json.loads(text)
    return Reported(
        target=wire["target"],
        rule=wire["rule"],
        index=wire["index"],
        sha256=wire["artifact_sha256"],
        result=CheckResult.from_json(wire),
    )
