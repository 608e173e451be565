"""The verdict as one JSON document: `report.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_reflex import __version__
from pytest_reflex.errors import Problem
from pytest_reflex.model.results import Evaluation
from pytest_reflex.storage.atomic import replace_file
from pytest_reflex.verdict.gate import Gate, JudgedTarget, NotRun, SessionVerdict, gate_over

SCHEMA_VERSION = 1


def report_document(
    evaluations: Iterable[Evaluation],
    *,
    gate: Gate | None = None,
    exit_status: int,
    not_run: Iterable[NotRun] = (),
    problems: Iterable[Problem] = (),
) -> dict[str, Any]:
    """Return the document; without a `gate`, every evaluation has to pass.

    `exit_status` is the status that the program leaves with.
    """
    found = list(evaluations)
    faults = list(problems)
    gate = gate or gate_over([JudgedTarget(evaluation=one) for one in found], faults)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "pytest-reflex", "version": __version__},
        "gate": {
            "status": gate.status.value,
            "passed": gate.passed,
            "exit_status": exit_status,
            "reasons": list(gate.reasons),
        },
        "evaluations": [one.to_json() for one in found],
        "not_run": [row.to_json() for row in not_run],
        "problems": [_problem(fault) for fault in faults],
    }


def render(evaluations: Sequence[Evaluation]) -> str:
    """Return the document of some evaluations as text (the reporter `json`)."""
    gate = gate_over([JudgedTarget(evaluation=one) for one in evaluations])
    measured = any(one.measured and one.decides for one in evaluations)
    status = 0 if gate.passed else 1 if measured else 5
    return to_text(report_document(evaluations, gate=gate, exit_status=status))


def save(path: Path, decision: SessionVerdict) -> None:
    """Write the document of a session: whole or not at all; raises StateError."""
    document = report_document(
        [judged.evaluation for judged in decision.judged],
        gate=decision.gate,
        exit_status=decision.exit_status,
        not_run=decision.not_run,
        problems=decision.problems,
    )
    replace_file(path, to_text(document).encode("ascii"), mode=0o644)


def to_text(document: dict[str, Any]) -> str:
    """Return JSON that any encoding can hold: what is not ASCII is escaped."""
    return json.dumps(document, indent=2) + "\n"


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "message": problem.message,
        "location": problem.place.to_json() if problem.place else None,
        "rule": problem.rule_id or None,
        "hint": problem.hint or None,
    }
