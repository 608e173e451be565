"""Projects with a flow, for tests: the files of one, and what reading it says."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.drivers.flow.model import FlowNode
from pytest_reflex.drivers.flow.read import read_flow
from pytest_reflex.errors import FlowError, Problem

AGENT = "---\nname: {name}\ndescription: one\n---\nDo it.\n"
NODE = """\
version: 1
flow:
  id: outer
  type: loop
  controller: plan.md
  sensors:
    - {name: tests, command: make test}
  termination: {max_iterations: 3}
  actuator: {strategy: direct, agent: act.md}
"""


def make_project(folder: Path, flow: str = NODE, agents: tuple[str, ...] = ()) -> Path:
    """Write a flow and its agent files: plan.md, act.md, look.md and those named."""
    (folder / ".ai-loop").mkdir(exist_ok=True)
    (folder / ".ai-loop/flow.yaml").write_text(flow, encoding="utf-8")
    for name in ("plan", "act", "look", *agents):
        (folder / f"{name}.md").write_text(AGENT.format(name=name), encoding="utf-8")
    return folder


def read(project: Path, *, deepest: int = 0) -> FlowNode:
    """Return the tree of a project's flow."""
    return read_flow(project / ".ai-loop/flow.yaml", project, deepest=deepest)[0]


def problems_of(project: Path, *, deepest: int = 0) -> list[Problem]:
    """Return what is wrong with a project's flow, nothing where it can be read."""
    try:
        read(project, deepest=deepest)
    except FlowError as error:
        return list(error.problems)
    return []
