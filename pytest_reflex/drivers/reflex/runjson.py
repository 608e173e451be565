"""run.json and current.json: the seed's shapes, written from the state alone (seed 000).

Keys that the seed does not have are added beside its own and never change their meaning.
"""

from __future__ import annotations

from typing import Any

from pytest_reflex.model.rules import floored
from pytest_reflex.model.run import RunState

SCHEMA_VERSION = 1


def run_json(state: RunState) -> dict[str, Any]:
    """Return run.json for a state."""
    criteria = state.criteria.to_json()
    last = state.marks[-1].score if state.marks else None
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": state.run_id,
        "task_alias": state.alias,
        "status": state.status.value,
        "iteration": state.iteration,
        "max_iterations": state.limits.max_iterations,
        "phase": state.level.value,
        "current_step": state.step.value,
        "task": {"prompt": state.task, "ideal_result": state.ideal_result},
        "criteria": criteria,
        "plan": list(state.plan),
        "prepared_checks": None if state.checks is None else {"checks": list(state.checks)},
        "evaluation": state.evaluation.to_json() if state.evaluation else None,
        "critique": None if state.issues is None else {"issues": list(state.issues)},
        "stop": state.stop.to_json(),
        "last_score": floored(last) if last is not None else 0,
        "last_score_exact": f"{last.numerator}/{last.denominator}" if last is not None else "0/1",
        "stagnation_count": state.stagnation_count,
        "artifact": {"sha256": state.artifact_sha256, "status": state.artifact_status},
        "proofs": list(state.proofs),
        "feedback": {"waiting": list(state.feedback), "heeded": list(state.heeded)},
        "limits": state.limits.to_json(),
        "setup": dict(state.setup),
        "spend": state.spend.to_json(),
        "seal": state.seal,
        "created_at": state.created_at,
        "updated_at": state.updated_at,
        "last_seq": state.last_seq,
    }


def current_json(state: RunState) -> dict[str, Any]:
    """Return current.json, the pointer to the loop that runs."""
    return {
        "active_run_id": state.run_id,
        "task_alias": state.alias,
        "status": state.status.value,
        "updated_at": state.updated_at,
    }
