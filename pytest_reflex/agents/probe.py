"""One small question to an agent: does it answer as a step needs it?"""

from __future__ import annotations

from fractions import Fraction

from pytest_reflex.contracts.steps import ContractError, read_plan
from pytest_reflex.model.enums import Level, Severity, Step
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.steps import Agent, Reply, StepRequest

TASK = "Write the word yes. This is a test of the connection: a plan of three short steps will do."

_RULE = Rule(
    id="a.x.yes",
    description="The word yes is there",
    severity=Severity.FAIL,
    weight=Fraction(2),
    level=Level.A,
    checks=(CheckSpec(type="content", params={"search": "yes"}, expected="yes"),),
)
_CRITERIA = Criteria(name="probe", version=1, thresholds={Level.A: Fraction(4, 5)}, rules=(_RULE,))


def ask_for_a_plan(agent: Agent) -> tuple[Reply, str]:
    """Return the answer to PLAN, and what is wrong with it: empty where it can be used."""
    reply = agent.respond(
        StepRequest(
            step=Step.PLAN,
            run_id="probe",
            iteration=1,
            level=Level.A,
            task=TASK,
            ideal_result="a plan",
            criteria=_CRITERIA,
            artifact_path="artifact.md",
            rules=(_RULE,),
        )
    )
    if reply.error:
        return reply, reply.error
    try:
        read_plan(reply.text)
    except ContractError as error:
        return reply, str(error)
    return reply, ""
