"""What the agents of a flow are asked: their own files, with places filled in and our rules below.

Pure. A person's feedback and the task are data in the files that the prompts name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import indent

from pytest_reflex.drivers.flow.agent_file import AgentFile
from pytest_reflex.drivers.flow.artifacts import ACTUATOR, CONTROLLER, ORCHESTRATOR, sensor_file
from pytest_reflex.drivers.flow.model import Node, Sensor

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
{closing}{refusal}{feedback}{complaint}"""
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
_COMPLAINT = """
# Your last answer was refused

Reason: {complaint}
Write the file again, in the required form.
"""


def sensors_prompt(sensors: Sequence[tuple[Sensor, AgentFile]], artifacts: str) -> str:
    """Return the one question of a cycle for all sensors that are agents."""
    parts = [_SENSORS]
    for sensor, file in sensors:
        path = f"{artifacts}/{sensor_file(sensor.name)}"
        text = file.filled({"output-path": path, "artifacts-path": artifacts})
        parts.append(_SENSOR.format(name=sensor.name, path=path, text=text))
    return "".join(parts)


def sensors_section(node: Node, artifacts: str) -> str:
    """Return the sensors of a node with their output files and targets, as a list."""
    return "\n".join(
        f"- {sensor.name}: {artifacts}/{sensor_file(sensor.name)} (target: {_target(sensor)})"
        for sensor in node.sensors
    )


def _target(sensor: Sensor) -> str:
    return "status: pass" if sensor.agent else sensor.target.text


def controller_prompt(
    file: AgentFile,
    node: Node,
    *,
    path: str,
    artifacts: str,
    closing: bool = False,
    carried: Sequence[str] = (),
    refusal: str = "",
    feedback: Iterable[str] = (),
    complaint: str = "",
) -> str:
    """Return what a controller is asked; `closing` says that nothing is done after it.

    `carried` are the paths of which a hook of git refuses the commit, `refusal` is what it says.
    """
    section = sensors_section(node, artifacts)
    values = {"artifacts-path": artifacts, "node-path": path, "sensors-section": section}
    text = file.filled({**values, **_child(node)})
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
        complaint=_COMPLAINT.format(complaint=complaint) if complaint else "",
    )


def _child(node: Node) -> Mapping[str, str]:
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
    text = file.filled({"input-path": given, "output-path": output, "artifacts-path": artifacts})
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
