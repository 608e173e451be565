"""What one step hands to the next as JSON: read from a file or stdin, and held to the artifact."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pytest_reflex.cli.streams import say
from pytest_reflex.drivers.reflex.single import Alone
from pytest_reflex.errors import UsageError
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.single import Issue

STDIN = "-"


def read_object(source: str, flag: str) -> Mapping[str, Any]:
    """Return the JSON object in a file, or on stdin for ``-``; raises UsageError."""
    from pytest_reflex.contracts.extract import ContractError, parse_json

    name = "standard input" if source == STDIN else source
    try:
        if source == STDIN:
            text = sys.stdin.read()
        else:
            with open(source, encoding="utf-8") as file:
                text = file.read()
        found = parse_json(text.strip()) if text.strip() else None
    except (OSError, ValueError, ContractError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{flag} {name}: {told}") from None
    if not isinstance(found, dict):
        what = "it is empty" if not text.strip() else "no JSON object"
        raise UsageError(f"{flag} {name}: {what}", hint="did the command before this one fail?")
    return found


def evaluation_for(alone: Alone, document: Mapping[str, Any]) -> Evaluation:
    """Return the evaluation of this very artifact from a report, a run.json, or one by itself.

    Raises UsageError where there is none, or where the artifact has other bytes by now.
    """
    from pytest_reflex.model.results import evaluation_from_json

    if "evaluations" in document:
        found = document["evaluations"]
    else:
        found = [document.get("evaluation", document)]
    rows = [row for row in found if isinstance(row, dict) and "artifact_sha256" in row]
    if not rows:
        raise UsageError("--evaluation: no evaluation is in it", hint="give what `evaluate` prints")
    fitting = [row for row in rows if row["artifact_sha256"] == alone.artifact.sha256]
    if not fitting:
        hashes = ", ".join(str(row["artifact_sha256"])[:8] for row in rows[:5])
        raise UsageError(
            f"--evaluation: it is stale: it is of {hashes}, but {alone.artifact.name} is "
            f"{alone.artifact.short_hash} now",
            hint="evaluate again",
        )
    _check("evaluation", fitting[0], "--evaluation")
    rules = {rule.id: rule for rule in alone.criteria.rules}
    unknown = [row["id"] for row in fitting[0]["rule_results"] if row["id"] not in rules]
    if unknown:
        raise UsageError(
            f"--evaluation: {alone.criteria.name} has no rule {unknown[0]!r}",
            hint="name the criteria of the evaluation",
        )
    return evaluation_from_json(fitting[0], rules)


def issues_for(alone: Alone, document: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Return the issues of a critique; raises UsageError where they do not fit the artifact."""
    _check("critique", document, "--issues")
    if "artifact_sha256" not in document:
        name = alone.artifact.name
        say(f"--issues: it has no artifact_sha256 and cannot be compared with {name}")
    digest = document.get("artifact_sha256", alone.artifact.sha256)
    if digest != alone.artifact.sha256:
        raise UsageError(
            f"--issues: they are stale: they are of {str(digest)[:8]}, but {alone.artifact.name} "
            f"is {alone.artifact.short_hash} now",
            hint="evaluate and criticise again",
        )
    for issue in document["issues"]:
        if alone.criteria.rule(issue["rule_id"]) is None:
            raise UsageError(
                f"--issues: {alone.criteria.name} has no rule {issue['rule_id']!r}",
                hint="name the criteria of the critique",
            )
    return tuple(document["issues"])


def _check(schema: str, value: Any, flag: str) -> None:
    from pytest_reflex.contracts.validate import problems

    if found := problems(schema, value):
        raise UsageError(f"{flag}: {'; '.join(found)}", hint=f"see: pytest-reflex schema {schema}")
