"""What brings a reader on after an evaluation that did not pass."""

from __future__ import annotations

import shlex

from pytest_reflex.verdict.gate import Cause, Decision, GateStatus, Judged


def next_step(judged: Judged, decision: Decision) -> str:
    """Return the command or the act that brings a reader on; "" where there is nothing to do."""
    not_run = {row.cause: row for row in decision.not_run if row.target_id == judged.id}
    if lost := not_run.get(Cause.LOST):
        return f"see it die alone: pytest -n 0 {shlex.quote(lost.node_id)}"
    if judged.status is GateStatus.FAILED and judged.blockers:
        suite = judged.id.partition("::")[0]
        named = not suite.endswith(".reflex.yaml")
        command = "the same again" if named else f"pytest {shlex.quote(suite)}"
        return f"fix {judged.blockers[0].rule.id}, then: {command}"
    if judged.status is not GateStatus.INCOMPLETE:
        return ""
    if judged.narrowed or Cause.DESELECTED in not_run:
        return (
            "run all rules: no -k, -m, --lf, --deselect, no single ids; or let this run be "
            "partial: --reflex-allow-partial"
        )
    return "let the session run to its end" if Cause.CUT_OFF in not_run else ""
