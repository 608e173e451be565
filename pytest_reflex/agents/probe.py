"""AI tools before they work: which are installed, how a command would run, whether one answers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

from pytest_reflex.agents.command import PLACES, CommandAgent
from pytest_reflex.agents.environment import child_environment, literal_secrets
from pytest_reflex.contracts.steps import ContractError, read_plan
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.enums import Level, Severity, Step
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.rules import CheckSpec, Criteria, Rule
from pytest_reflex.model.single import CommandPreview
from pytest_reflex.model.steps import Agent, Askable, Reply, StepRequest
from pytest_reflex.process.environment import redact
from pytest_reflex.process.run import run

SECONDS = 15.0

_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedTool:
    """A program: where it is (empty: not installed), its version, or why that is not known."""

    program: str
    path: str = ""
    version: str = ""
    problem: str = ""


def look(programs: Iterable[str], seconds: float = SECONDS) -> list[ProbedTool]:
    """Return what is known of some programs, in their order; each gets `seconds` to answer."""
    found = list(dict.fromkeys(programs))
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda program: _tool(program, seconds), found))


def _tool(program: str, seconds: float) -> ProbedTool:
    path = shutil.which(program)
    if path is None:
        return ProbedTool(program=program)
    try:
        finished = run(
            [path, "--version"],
            cwd=os.getcwd(),
            env=child_environment(os.environ, ()),
            timeout=seconds,
            grace=0.5,
            hard_cap=1_000_000,
        )
    except ReflexError as error:
        return ProbedTool(program=program, path=path, problem=str(error))
    if finished.timed_out:
        problem = f"{program} --version did not end within {seconds:g} s"
        return ProbedTool(program=program, path=path, problem=problem)
    if finished.returncode != 0:
        problem = f"{program} --version left with exit status {finished.returncode}"
        return ProbedTool(program=program, path=path, problem=problem)
    lines = (finished.stdout or finished.stderr).decode("utf-8", "replace").strip().splitlines()
    return ProbedTool(
        program=program, path=path, version=one_line(lines[0], _SHOWN) if lines else ""
    )


ANSWER_FILE = "<a file for the answer>"
_STANDS_FOR = {
    "prompt": "<the prompt>",
    "prompt_file": "<a file with the prompt>",
    "answer_file": ANSWER_FILE,
    "schema": "<the JSON Schema of the answer>",
    "schema_file": "<a file with the JSON Schema of the answer>",
}


def command_text(agent: Askable, *, may_edit: bool = False) -> str:
    """Return the command of an agent as it would be typed; one that is not a command by its
    name.
    """
    if not isinstance(agent, CommandAgent):
        return f"agent {agent.name}"
    return command_of(agent, {}, may_edit=may_edit).typed


def command_of(
    agent: CommandAgent, variables: Mapping[str, str], *, may_edit: bool = False, contract: str = ""
) -> CommandPreview:
    """Return the command of an agent that is reported something in its environment.

    A `$NAME` in the command stays a name.
    """
    places = {**_STANDS_FOR, "model": agent.model or ""}
    hidden = literal_secrets(agent.words)
    environment = {**child_environment(os.environ, agent.env), **variables}
    return CommandPreview(
        argv=tuple(
            redact(PLACES.sub(lambda match: places[match[1]], item), hidden)
            for item in agent.command_for(may_edit=may_edit, contract=contract)
        ),
        cwd=os.getcwd(),
        environment=tuple(sorted(environment)),
        prompt_by=agent.prompt,
        timeout=agent.timeout,
        missing=agent.missing_program(),
    )


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
