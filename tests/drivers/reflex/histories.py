"""Histories for tests of the loop's pure parts: a tiny author of events."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pytest_reflex.drivers.reflex.fold import fold
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import Limits, RunState
from tests.verdict.sets import criteria, evaluation, rule

RULES = (
    rule("a.x.must"),
    rule("a.x.should", "warn"),
    rule("b.x.must"),
    rule("b.x.should", "warn"),
)


class History:
    """Appends events with the right numbers; `state` is their fold."""

    def __init__(self, rules: Criteria | None = None, limits: Limits | None = None) -> None:
        self.events: list[Event] = []
        self.level, self.iteration = Level.A, 1
        chosen = rules or criteria(*RULES)
        payload: dict[str, Any] = {
            "task_alias": "courses",
            "task": {"prompt": "write it", "ideal_result": "passes"},
            "criteria": chosen.to_json(),
            "limits": (limits or Limits()).to_json(),
            "seal": "s",
            "setup": {},
        }
        if not chosen.has(Level.A):
            self.level = Level.B
        self.add(EventKind.RUN_STARTED, payload)

    def add(self, kind: EventKind, payload: Mapping[str, Any], step: Step = Step.PLAN) -> History:
        self.events.append(
            Event(
                kind=kind,
                run_id="courses-20260101-000000",
                iteration=self.iteration,
                level=self.level,
                step=step,
                seq=len(self.events) + 1,
                ts="2026-01-01T00:00:00Z",
                payload=payload,
            )
        )
        return self

    @property
    def state(self) -> RunState:
        return fold(self.events)

    def planned(self) -> History:
        return self.add(EventKind.PLAN_CREATED, {"plan": ["one", "two", "three"]})

    def produced(self, sha: str = "1", by: str = "agent") -> History:
        changed: dict[str, list[str]] = {"added": [], "modified": [], "removed": []}
        return self.add(
            EventKind.ARTIFACT_CREATED, {"by": by, "after": sha * 64, "changed": changed}
        )

    def prepared(self) -> History:
        return self.add(EventKind.CHECKS_PREPARED, {"checks": []})

    def evaluated(self, *not_passed: str, sha: str = "1", outcome: str = "fail") -> History:
        state = self.state
        rows = [
            (r, outcome if r.id in not_passed else "pass")
            for r in state.criteria.active(self.level)
        ]
        bar = state.criteria.thresholds[self.level]
        made = evaluation(rows, threshold=_text(bar), level=self.level.value, sha=sha * 64)
        return self.add(EventKind.EVALUATION_DONE, {"evaluation": made.to_json()}, Step.EVALUATE)

    def refined(self, sha: str) -> History:
        issue = {"rule_id": "a.x.must", "problem": "p", "fix_instruction": "f"}
        self.add(EventKind.CRITIQUE_DONE, {"issues": [issue]}, Step.CRITIQUE)
        changed: dict[str, list[str]] = {"added": [], "modified": ["# T"], "removed": []}
        payload = {"by": "agent", "after": sha * 64, "changed": changed}
        return self.add(EventKind.REFINEMENT_DONE, payload, Step.REFINE)

    def advanced(self) -> History:
        self.iteration += 1
        return self.add(EventKind.ITERATION_ADVANCED, {"iteration": self.iteration})

    def switched(self) -> History:
        self.level = Level.B
        return self.add(EventKind.PHASE_SWITCHED, {"from": "A", "to": "B"})

    def failed(self, step: str, message: str = "not JSON") -> History:
        return self.add(EventKind.PHASE_ERROR, {"step": step, "message": message})

    def round(self, *not_passed: str, sha: str = "1") -> History:
        """One iteration up to its evaluation."""
        return self.planned().produced(sha).prepared().evaluated(*not_passed, sha=sha)


def _text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
