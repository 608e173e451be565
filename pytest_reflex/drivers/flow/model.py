"""What flow.yaml says, as frozen values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_reflex.drivers.flow.targets import EXIT_ZERO, SensorTarget

ALL_PASS = "builtin:all-pass"
"""The controller that needs no agent: the target is met where every sensor passes."""


class RunWhen(StrEnum):
    """When a sensor is run: always, in the root node alone, or after an act that changed files."""

    ALWAYS = "always"
    ROOT = "root"
    CHANGED = "changed"


class OnError(StrEnum):
    """What follows from a node that could not go on: the end of the run, or of that node alone."""

    FAIL_FAST = "fail-fast"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensor:
    """What measures one thing: a command, criteria over artifacts, or an agent file.

    `timeout` is in seconds, None for that of the settings.
    """

    name: str
    command: str = ""
    criteria: str = ""
    artifacts: tuple[str, ...] = ()
    agent: str = ""
    target: SensorTarget = EXIT_ZERO
    timeout: float | None = None
    run_when: RunWhen = RunWhen.ALWAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNode:
    """One loop of the tree. Where it has a `child`, that acts; else the agent file `actuator`.

    `max_iterations` is the number of actuations; `budget` bounds what the node and all below it
    spend, each time that it is entered.
    """

    id: str
    controller: str
    sensors: tuple[Sensor, ...]
    max_iterations: int
    actuator: str = ""
    child: FlowNode | None = None
    parallel: bool = False
    on_error: OnError = OnError.FAIL_FAST
    budget: Mapping[str, float] = field(default_factory=dict)

    def walk(self) -> Iterator[FlowNode]:
        """Yield this node and those below it, from the outside in."""
        node: FlowNode | None = self
        while node is not None:
            yield node
            node = node.child

    def find(self, path: str) -> FlowNode | None:
        """Return the node at a path of ids such as ``outer/inner``, None where there is none."""
        found = ""
        for node in self.walk():
            found = f"{found}/{node.id}" if found else node.id
            if found == path:
                return node
        return None

    def paths(self) -> tuple[str, ...]:
        """Return the paths of this node and of those below it."""
        ids = [node.id for node in self.walk()]
        return tuple("/".join(ids[: number + 1]) for number in range(len(ids)))

    def agent_files(self) -> tuple[str, ...]:
        """Return the agent files of this node and of those below it, each once."""
        files = [
            name
            for node in self.walk()
            for name in (*(one.agent for one in node.sensors), node.controller, node.actuator)
            if name and name != ALL_PASS
        ]
        return tuple(dict.fromkeys(files))
