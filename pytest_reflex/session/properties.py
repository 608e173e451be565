"""What one check came to, as a user property of its report: for JUnit XML, and never read back."""

from __future__ import annotations

import json
from typing import Any

from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Rule

NAME = "reflex"
CATEGORY = "reflex_category"
ADVISED = "advised"


def encode(target: str, rule: Rule, index: int, sha256: str, result: CheckResult) -> str:
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
    report.user_properties = [*(report.user_properties or ()), (NAME, value)]
