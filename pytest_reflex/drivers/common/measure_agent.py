"""An agent's measurement: one question, whose answer is a JSON document with evidence.

Promises: what breaks the contract, and what an agent says that failed, is an error and no pass;
nothing in the question is an answer.
Limits: nobody looks at whether the evidence is true.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from pytest_reflex.agents.prompts import boundary
from pytest_reflex.agents.questions import ask_for
from pytest_reflex.contracts.extract import find_json
from pytest_reflex.contracts.validate import problems
from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    Measurement,
    MeasurementStatus,
    failure,
)
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line, visible
from pytest_reflex.model.run import cost_of
from pytest_reflex.model.steps import Askable, Question, Reply

_PROMPT = """\
You measure one thing and change nothing. Look at what is there; do not guess, and do not rely on
what somebody says about it.

Case number: {case}

## What to measure

{question}

## Your answer

One JSON object and nothing else, with these keys in this order:

1. "case": the case number above, a string.
2. "evidence": a list of 1 to 20 short strings. Each says what you found, and where.
3. "value": the number that you measured, null where there is none.
4. "unit": the unit of the value, a string; empty where it has none.
5. "status": one string, passed, failed or not_measured. It follows from the evidence.

Say not_measured where you could not find out. When in doubt, do not say passed."""
_REFUSED = """

## Your last answer was refused

Reason: {complaint}
Answer again, in the required form."""


class AgentMeasure:
    """An agent that is asked a question; `unit` is that of the value where it has to be that one.

    Raises UsageError for a question that is empty.
    """

    def __init__(self, agent: Askable, question: str, *, unit: str = "") -> None:
        if not question.strip():
            raise UsageError("the question for the agent is empty")
        self._agent, self._question, self._unit = agent, question.strip(), unit

    def prompt(self, complaint: str = "") -> str:
        """Return what the agent is asked; `complaint` says why its last answer was refused."""
        question = self._question
        if self._unit:
            question += f"\n\nThe unit of the value is {self._unit}."
        prompt = _PROMPT.format(case=self._case(complaint), question=question)
        refused = _REFUSED.format(complaint=complaint) if complaint else ""
        return f"{prompt}{refused}\n"

    def __call__(self, attempt: Attempt) -> Measurement:
        under_way: list[int] = []

        def question(complaint: str) -> Question:
            if attempt.calls is not None:
                under_way.append(attempt.calls.begin())
            return Question(
                prompt=self.prompt(complaint),
                environment=attempt.variables,
                cancel=attempt.cancel,
            )

        def heard(question: Question, reply: Reply) -> None:
            if attempt.calls is not None:
                attempt.calls.end(under_way.pop(), cost_of(reply))

        found = ask_for(self._agent, question, self._read, heard)
        if found.value is None:
            return failure(f"agent {self._agent.name}: {found.error}").costing(found.cost)
        return _agent_measurement(found.value).costing(found.cost)

    def _case(self, complaint: str) -> str:
        """Return the number that an answer has to name; no text in the question is it."""
        return boundary("\0".join((self._question, self._unit, complaint)))

    def _read(self, text: str, complaint: str) -> Mapping[str, Any]:
        case = self._case(complaint)

        def faults(value: Any) -> list[str]:
            return list(problems("measurement", value)) or self._faults(value, case)

        answer: Mapping[str, Any] = find_json(text, faults, alone=True)
        return answer

    def _faults(self, answer: Mapping[str, Any], case: str) -> list[str]:
        found = []
        if answer["case"] != case:
            found.append("/case: is not the number of this case")
        if answer["value"] is not None and not math.isfinite(answer["value"]):
            found.append("/value: is not a finite number")
        unit = answer.get("unit", "")
        if self._unit and answer["value"] is not None and unit != self._unit:
            found.append(f"/unit: is {unit!r}, not {self._unit!r}")
        return found


def _agent_measurement(answer: Mapping[str, Any]) -> Measurement:
    value, evidence = answer["value"], answer["evidence"]
    return Measurement(
        status=MeasurementStatus(answer["status"]),
        summary=one_line(evidence[0], SUMMARY),
        value=None if value is None else Fraction(str(value)),
        unit="" if value is None else one_line(answer.get("unit", ""), 40),
        evidence="\n".join(visible(" ".join(one.split())) for one in evidence),
    )
