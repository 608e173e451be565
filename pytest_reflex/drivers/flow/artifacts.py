"""The Markdown files of a run, in the seed's forms: their texts, and what they say. Pure.

`controller-output.md` and `actuator-output.md` are written by agents, the other ones by us.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.contracts.validate import ContractError
from pytest_reflex.criteria.author.yaml_writer import scalar
from pytest_reflex.criteria.diagnostics import Diagnostics
from pytest_reflex.criteria.document import parse_events
from pytest_reflex.drivers.flow.decide import CLOSING
from pytest_reflex.drivers.flow.state import FAIL, PASS, PENDING, Frame, NodeStatus, SensorReading
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.plain import pluralize

ORCHESTRATOR = "orchestrator-output.md"
CONTROLLER = "controller-output.md"
ACTUATOR = "actuator-output.md"
RESULT = "result-output.md"
RUN_STATE = "run-state.md"
PLAN = "Action Plan"
HEADINGS = ("Gap Analysis", PLAN, "Hints", "Stagnation Notes")
STUB = "No baseline measurement — first iteration after parent controller decision."
_FRONT = re.compile(r"\A\s*---[ \t]*\n(?P<front>.*?)^---[ \t]*$\n?", re.S | re.M)
_HEADING = re.compile(r"^##[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$", re.M)
_FENCE = re.compile(r"^(?P<mark>`{3,}|~{3,}).*?^(?P=mark)[`~]*[ \t]*$", re.M | re.S)
_REASONS = {
    NodeStatus.COMPLETE: "target-met",
    NodeStatus.MAX_ITERATIONS: "max-iterations",
    NodeStatus.ERROR: "error",
}


def sensor_file(name: str) -> str:
    """Return the name of a sensor's output file."""
    return f"sensor-{name}-output.md"


def document(front: Mapping[str, Any], body: str) -> str:
    """Return a Markdown document with front matter; a list in it has a line for each item."""
    lines = []
    for key, value in front.items():
        if isinstance(value, list | tuple):
            lines += [f"{key}:", *(f"  - {scalar(item)}" for item in value)]
        else:
            lines.append(f"{key}: {scalar(value)}")
    return "\n".join(["---", *lines, "---", body.rstrip("\n"), ""])


def orchestrator_output(frame: Frame, max_iterations: int, run_id: str) -> str:
    """Return the state of a node: of constant size, for people and for other programs."""
    front = {
        "iteration": frame.iteration,
        "status": frame.status.value,
        "max-iterations": max_iterations,
        "node-path": frame.path,
        "parent-node-path": frame.path.rpartition("/")[0] or "root",
        "run-id": run_id,
        "step": frame.step.value,
        "label": frame.label,
    }
    return document(front, f"\n# Task (setpoint)\n\n{frame.task}\n")


def run_state(
    *, run_id: str, status: str, stack: Sequence[str], branch: str, base: str, task: str
) -> str:
    """Return run-state.md: which node is active, and where the run's commits are."""
    front = {
        "run-id": run_id,
        "status": status,
        "active-node-path": stack[-1],
        "execution-stack": [path.rpartition("/")[2] for path in stack],
        "branch": branch,
        "base-branch": base,
        "task": task,
    }
    return document(front, "")


def sensor_stub(name: str) -> str:
    """Return the output of a sensor that was not run: a child has just been entered."""
    front = {"sensor": name, "status": PENDING}
    return document(front, f"# Sensor Output: {name}\n{STUB}\n")


def sensor_output(name: str, reading: SensorReading, target: str, evidence: str) -> str:
    """Return the output of a sensor that the program has run."""
    front = {"sensor": name, "status": reading.state, "target": target}
    if reading.value:
        front["value"] = reading.value
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", evidence)), default=0))
    shown = f"\n{fence}text\n{evidence.rstrip()}\n{fence}\n" if evidence.strip() else ""
    return document(front, f"# Sensor Output: {name}\n\n{reading.summary}\n{shown}")


def read_sensor_output(text: str) -> SensorReading:
    """Return what a sensor agent wrote; raises ContractError where it cannot be understood."""
    front, body = split_front_matter(text)
    state = front.get("status")
    if state not in (PASS, FAIL, "error"):
        raise ContractError(f"status is {state!r}, not pass, fail or error")
    value = front.get("value", front.get("measurement", ""))
    lines = (line.strip() for line in body.splitlines())
    said = next((line for line in lines if line and not line.startswith(("#", "`"))), "")
    return SensorReading(
        state=PASS if state == PASS else FAIL,
        value="" if isinstance(value, dict | list) or value is None else str(value),
        summary=said,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerDecision:
    """What a controller said: whether the target is met, what to do, and the other sections."""

    target_met: bool
    plan: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


def read_decision(text: str) -> ControllerDecision:
    """Return the decision in a controller's output; raises ContractError for what is none.

    A target that is not met needs an action plan. A heading may have a suffix in brackets.
    """
    front, body = split_front_matter(text)
    met = front.get("target-met")
    if not isinstance(met, bool):
        raise ContractError(f"target-met is {met!r} in the front matter, not true or false")
    sections = dict(_sections(body))
    plan = sections.pop(PLAN, "")
    if not met and not plan.strip():
        raise ContractError(f"there is no section '## {PLAN}' that says what to do")
    return ControllerDecision(target_met=met, plan=plan, notes=sections)


def decision_text(decision: ControllerDecision) -> str:
    """Return a decision as a controller writes it."""
    sections = {**decision.notes, PLAN: decision.plan}
    body = "".join(
        f"\n## {title}\n\n{sections[title]}\n" for title in HEADINGS if sections.get(title)
    )
    return document({"target-met": decision.target_met}, body)


def result_output(frame: Frame, run_id: str) -> str:
    """Return the result of a node, made of its last readings and its last decision alone."""
    front = {
        "status": frame.status.value,
        "target-met": frame.target_met,
        "termination-reason": _REASONS[frame.status],
        "run-id": run_id,
        "node-id": frame.id,
        "node-path": frame.path,
        "parent-node-path": frame.path.rpartition("/")[0] or "root",
        "iterations-executed": frame.acts,
    }
    parts = {
        "Summary": _summary(frame),
        "Metrics Delta": "\n".join(_deltas(frame)) or "No sensors.",
        "Key Observations for Parent Controller": "\n\n".join(_observations(frame)),
    }
    body = "".join(f"\n## {title}\n\n{text}\n" for title, text in parts.items())
    return document(front, f"\n# Result: {frame.id}\n{body}")


def _summary(frame: Frame) -> str:
    times = pluralize(frame.acts, "iteration")
    if frame.status is NodeStatus.COMPLETE:
        return f"The target is met after {times}."
    if frame.status is NodeStatus.ERROR:
        return f"It ended with an error after {times}: {frame.error}"
    return f"The target is not met after {times}{f': {frame.error}' if frame.error else '.'}"


def _deltas(frame: Frame) -> Iterable[str]:
    for name, last in frame.sensors.items():
        first = frame.first.get(name, last)
        yield f"- {name}: {_state(first)} → {_state(last)}"


def _state(reading: SensorReading) -> str:
    return f"{reading.state} ({reading.value})" if reading.value else reading.state


def _observations(frame: Frame) -> Iterable[str]:
    failing = [name for name, one in frame.sensors.items() if one.state != PASS]
    yield f"Not passing: {', '.join(failing)}." if failing else "All sensors pass."
    for name in failing:
        if said := frame.sensors[name].summary:
            yield f"{name}: {said}"
    for title in ("Gap Analysis", "Hints", "Stagnation Notes"):
        if text := frame.notes.get(title, "").strip():
            yield f"{title} of the last decision:\n\n{text}"


def action_of(frame: Frame, max_iterations: int) -> str:
    """Return in a line what the current iteration of a node did."""
    if frame.iteration > max_iterations:
        return CLOSING
    return first_line(frame.plan) or "target met"


def first_line(text: str) -> str:
    """Return the first line that says something, without the mark of a list."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return re.sub(r"^(?:[-*+]|[0-9]+[.)])\s+", "", first)


def format_restored(names: Iterable[str]) -> str:
    """Return what was done about protected files that were changed."""
    outside = [name for name in names if name.startswith("/")]
    inside = [name for name in names if name not in outside]
    parts = [f"restored {', '.join(inside)}"] if inside else []
    return "; ".join([*parts, f"changed for good: {', '.join(outside)}"] if outside else parts)


def split_front_matter(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the front matter of a document and the rest; raises ContractError without one."""
    text = text.replace("\r\n", "\n").lstrip("\ufeff")
    match = _FRONT.match(text)
    if not match:
        raise ContractError("there is no front matter between two lines ---")
    diagnostics = Diagnostics("")
    try:
        front = parse_events(match["front"], diagnostics)
    except CriteriaError as error:
        raise ContractError(error.problems[0].message) from None
    if diagnostics.found:
        raise ContractError(diagnostics.found[0].message)
    if not isinstance(front, dict):
        raise ContractError("the front matter is not a mapping")
    return front, text[match.end() :]


def _sections(body: str) -> Iterable[tuple[str, str]]:
    """Yield our sections with their text as it is written; a heading in a fence is none."""
    masked = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), body)
    found = list(_HEADING.finditer(masked))
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(body)
        title = re.sub(r"\s*[(\[].*[)\]]\s*$", "", match["title"]).strip()
        if title in HEADINGS:
            yield title, body[match.end() : end].strip("\n")
