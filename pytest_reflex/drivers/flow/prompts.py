"""The agents of a flow: their files, their roles, and their prompts.

Places that are not ours stay as they are: an agent file may have some for its own run time.

Pure. A person's feedback and the task are data in the files that the prompts name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from textwrap import indent
from typing import Any

from pytest_reflex.criteria.diagnostics import Diagnostics, Table
from pytest_reflex.criteria.document import display_path, parse_document, read_bytes
from pytest_reflex.criteria.fields import nonempty_text_at, text_at, texts_at
from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.drivers.flow.artifacts import ACTUATOR, CONTROLLER, ORCHESTRATOR, sensor_file
from pytest_reflex.drivers.flow.model import FlowNode, Sensor
from pytest_reflex.errors import CriteriaError, FlowError, LimitError, Place, Problem
from pytest_reflex.model.steps import Askable, Reply

_FENCE = re.compile(r"\A---[ \t]*\n(?P<front>.*?)^---[ \t]*$\n?", re.S | re.M)
_BARE = re.compile(r"^(?P<key>[A-Za-z][\w-]*:[ \t]+)(?P<value>[^\s\"'|>\[{].*?)[ \t]*$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """One agent file: its front matter, and the whole text that an agent is given.

    `tools` and `disallowed` are those of the front matter, passed to the agent and not enforced;
    `model` is empty where it names none.
    """

    path: str
    name: str
    text: str
    description: str = ""
    tools: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    model: str = ""

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with ``{name}`` of the values replaced, in one pass."""
        places = "|".join(map(re.escape, values))
        return re.sub(rf"\{{({places})\}}", lambda match: values[match[1]], self.text)


def read_agent_file(path: Path) -> AgentFile:
    """Return what an agent file says; raises FlowError with everything that is wrong with it."""
    name = display_path(path)
    try:
        data = read_bytes(path, name)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        match = _FENCE.match(text)
        if not match:
            hint = "begin it with ---, `name: ...` and ---"
            raise FlowError("the agent file has no front matter", place=Place(name, 1), hint=hint)
        # A line more in front: places are those of the whole file.
        table, diagnostics = _front_matter("\n" + match["front"], name)
        found = _agent(name, table, text, diagnostics)
        _refuse_empty(text[match.end() :], diagnostics)
    except UnicodeDecodeError:
        raise FlowError("the agent file is not UTF-8 text", place=Place(name)) from None
    except CriteriaError as error:
        raise FlowError(map(_of_agent, error.problems)) from None
    if diagnostics.found:
        raise FlowError(diagnostics.found)
    return found


def _front_matter(text: str, name: str) -> tuple[Table, Diagnostics]:
    """Return what the front matter says; raises CriteriaError.

    Where it is not YAML, a value on a line of its own counts as if it stood in quotes, as the
    clients that such files are written for have it.
    """
    try:
        return parse_document(text.encode(), name, "`name`")
    except CriteriaError:
        quoted = _BARE.sub(lambda match: f"{match['key']}{json.dumps(match['value'])}", text)
        if quoted == text:
            raise
        with suppress(CriteriaError):
            return parse_document(quoted.encode(), name, "`name`")
        raise


def _agent(path: str, table: Table, text: str, diagnostics: Diagnostics) -> AgentFile:
    return AgentFile(
        path=path,
        name=nonempty_text_at(table, "name", diagnostics),
        text=text,
        description=_text(table, "description", diagnostics),
        tools=_words(table, "tools", diagnostics),
        disallowed=_words(table, "disallowedTools", diagnostics),
        model=_text(table, "model", diagnostics),
    )


def _text(table: Table, key: str, diagnostics: Diagnostics) -> str:
    """Return a text that need not be there; a key without a value has none."""
    return "" if table.get(key) is None else text_at(table, key, diagnostics)


def _words(table: Table, key: str, diagnostics: Diagnostics) -> tuple[str, ...]:
    """Return a list of words, which may be written as one text with commas."""
    texts: list[tuple[str, Any]] = texts_at(table, key, diagnostics)
    words = (word.strip() for text, _ in texts for word in text.split(","))
    return tuple(word for word in words if word)


def _refuse_empty(body: str, diagnostics: Diagnostics) -> None:
    if not body.strip():
        diagnostics.add(
            "the agent file has no instructions", (1, 1), hint="write them below the ---"
        )


def _of_agent(problem: Problem) -> Problem:
    return Problem(message=f"agent file: {problem.message}", place=problem.place, hint=problem.hint)


_INHERITED = "inherit"


class Role(StrEnum):
    """What an agent is asked for in a flow; `cheap` judges where every sensor passes."""

    SENSOR = "sensor"
    CONTROLLER = "controller"
    ACTUATOR = "actuator"
    CHEAP = "cheap"


class AgentRoles:
    """Agents by role. `make` returns one by its name and a model, which may be empty."""

    def __init__(
        self, names: Mapping[str, str], default: str, make: Callable[[str, str], Askable]
    ) -> None:
        self._names, self._default, self._make = names, default, make
        self._made: dict[tuple[str, str], Askable] = {}

    @property
    def has_cheap(self) -> bool:
        return Role.CHEAP.value in self._names

    def agent(self, role: Role, model: str = "") -> Askable:
        """Return the agent of a role; the model of an agent file wins, unless the role is cheap."""
        name = self._names.get(role.value, self._default)
        wanted = "" if role is Role.CHEAP or model == _INHERITED else model
        if (name, wanted) not in self._made:
            self._made[name, wanted] = self._make(name, wanted)
        return self._made[name, wanted]

    def ask(self, tools: Tools, role: Role, prompt: str, model: str) -> Reply:
        """Ask the agent of a role, which may write files; raises LimitError at a rate limit."""
        reply = tools.ask(prompt, by=self.agent(role, model), may_edit=True)
        if reply.details.get("limited"):
            raise LimitError(reply.error)
        return reply


_SENSORS = """\
Run the sensors below one after the other, and write one output file for each. Measure only: change
no other file, and do not judge. Report an error as it is.

Each output file begins with front matter:

---
sensor: NAME
status: pass
---

`status` is pass, fail or error. Below it stands what you measured, in a few lines.
"""
_SENSOR = """\

# Sensor {name}

Output file: {path}

{text}
"""
_CONTROLLER = """\
{text}

# What is there

- The task: {artifacts}/{orchestrator}
- Sensors:
{sensors}

# Your answer

Write {artifacts}/{output}. It begins with front matter that says whether the target is met:

---
target-met: false
---

Below it stand the sections "## Gap Analysis", "## Action Plan", "## Hints" and, where nothing gets
better, "## Stagnation Notes". Without an action plan nothing can be done{child}. Change no other
file.
{closing}{refusal}{feedback}{answer_error}"""
_ACTUATOR = """\
{text}

# Rules

- Do what the action plan in {input} says, by changing files.
- Run no commands: somebody else measures.
- Write into {output} what you have done.
- These files judge the work and must stay as they are: {protected}
{feedback}"""
_REFUSAL = """
# A hook of git refuses the commit

It refuses {paths}, and says:

{said}

The target is not met before these files can be committed: plan for that first.
"""
_FEEDBACK = """
# What a person says

{feedback}
"""
_ANSWER_ERROR = """
# Your last answer was refused

Reason: {answer_error}
Write the file again, in the required form.
"""


def sensors_prompt(sensors: Sequence[tuple[Sensor, AgentFile]], artifacts: str) -> str:
    """Return the one question of a cycle for all sensors that are agents."""
    parts = [_SENSORS]
    for sensor, file in sensors:
        path = f"{artifacts}/{sensor_file(sensor.name)}"
        text = file.fill({"output-path": path, "artifacts-path": artifacts})
        parts.append(_SENSOR.format(name=sensor.name, path=path, text=text))
    return "".join(parts)


def sensors_section(node: FlowNode, artifacts: str) -> str:
    """Return the sensors of a node with their output files and targets, as a list."""
    return "\n".join(
        f"- {sensor.name}: {artifacts}/{sensor_file(sensor.name)} (target: {_target(sensor)})"
        for sensor in node.sensors
    )


def _target(sensor: Sensor) -> str:
    return "status: pass" if sensor.agent else sensor.target.text


def controller_prompt(
    file: AgentFile,
    node: FlowNode,
    *,
    path: str,
    artifacts: str,
    closing: bool = False,
    carried: Sequence[str] = (),
    refusal: str = "",
    feedback: Iterable[str] = (),
    answer_error: str = "",
) -> str:
    """Return what a controller is asked; `closing` says that nothing is done after it.

    `carried` are the paths of which a hook of git refuses the commit, `refusal` is what it says.
    """
    section = sensors_section(node, artifacts)
    values = {"artifacts-path": artifacts, "node-path": path, "sensors-section": section}
    text = file.fill({**values, **_child(node)})
    if node.child is None:
        text = "\n".join(line for line in text.split("\n") if "{child-node-id}" not in line)
    child = f"; it is, word for word, the task of the node {node.child.id}" if node.child else ""
    last = "\nThis is the closing judgement: nothing is done after it.\n" if closing else ""
    return _CONTROLLER.format(
        text=text.rstrip(),
        artifacts=artifacts,
        orchestrator=ORCHESTRATOR,
        sensors=section,
        output=CONTROLLER,
        child=child,
        closing=last,
        refusal=_REFUSAL.format(paths=", ".join(carried), said=indent(refusal, "    "))
        if carried
        else "",
        feedback=_feedback(feedback),
        answer_error=_ANSWER_ERROR.format(answer_error=answer_error) if answer_error else "",
    )


def _child(node: FlowNode) -> Mapping[str, str]:
    return {"child-node-id": node.child.id} if node.child else {}


def actuator_prompt(
    file: AgentFile,
    *,
    artifacts: str,
    protected: Sequence[str],
    feedback: Iterable[str] = (),
) -> str:
    """Return what an actuator is asked."""
    given, output = f"{artifacts}/{CONTROLLER}", f"{artifacts}/{ACTUATOR}"
    text = file.fill({"input-path": given, "output-path": output, "artifacts-path": artifacts})
    return _ACTUATOR.format(
        text=text.rstrip(),
        input=given,
        output=output,
        protected=", ".join(protected) or "none",
        feedback=_feedback(feedback),
    )


def _feedback(texts: Iterable[str]) -> str:
    joined = "\n\n".join(texts)
    return _FEEDBACK.format(feedback=joined) if joined else ""
