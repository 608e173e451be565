"""flow.yaml to a tree of nodes: every problem at once, each with its line and column."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pytest_reflex.criteria.diagnostics import Diagnostics, Spot, Table, in_order
from pytest_reflex.criteria.document import read_document
from pytest_reflex.criteria.fields import (
    list_at,
    nonempty_text_at,
    number_at,
    refuse_unknown_keys,
    table_at,
    text_at,
    texts_at,
    word_at,
)
from pytest_reflex.drivers.flow.model import ALL_PASS, FlowNode, OnError, RunWhen, Sensor
from pytest_reflex.drivers.flow.prompts import AgentFile, read_agent_file
from pytest_reflex.drivers.flow.targets import EXIT_ZERO, PASSED, SensorTarget, is_id, parse_target
from pytest_reflex.errors import CriteriaError, FlowError, Problem

ROOT_KEYS = ("version", "defaults", "flow")
NODE_KEYS = ("id", "type", "controller", "actuator", "sensors", "parallel", "termination")
ACTUATOR_KEYS = ("strategy", "agent", "child")
TERMINATION_KEYS = ("max_iterations", "on_error", "budget")
SENSOR_KEYS = (
    *("name", "command", "criteria", "artifact", "artifacts", "agent"),
    *("target", "timeout", "run_when"),
)
BUDGET_KEYS = ("usd", "tokens", "calls", "seconds")
BUILTIN = "builtin:"
_KINDS = ("command", "criteria", "agent")
_SENSOR_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HINT = "pytest-reflex schema flow describes every key"
_AGENT_HINT = "its front matter has name, and may have description, tools, model"


def read_flow(
    path: Path, project: Path, *, deepest: int = 0
) -> tuple[FlowNode, Mapping[str, AgentFile]]:
    """Return the tree that a flow.yaml describes, and its agent files by their path.

    Paths in it start at the project; `deepest` bounds how deep nodes lie, 0 leaves that to YAML.
    Raises FlowError with all that is wrong, agent files included.
    """
    try:
        table, diagnostics = read_document(path, "`version` and `flow`")
    except CriteriaError as error:
        raise FlowError(_add_hint(error.problems, _HINT)) from None
    reading = _FlowReader(diagnostics, project, deepest)
    try:
        root = reading.document(table)
    except CriteriaError as error:  # too many problems
        raise FlowError(_add_hint(error.problems, _HINT)) from None
    of_flow = _add_hint(in_order(diagnostics.found), _HINT)
    if problems := [*of_flow, *_add_hint(reading.of_agents, _AGENT_HINT)]:
        raise FlowError(problems)
    assert root is not None
    return root, reading.agents


def _add_hint(problems: Iterable[Problem], hint: str) -> list[Problem]:
    return [one if one.hint else replace(one, hint=hint) for one in problems]


class _FlowReader:
    """One file that is being read, with the agent files that it names."""

    def __init__(self, problems: Diagnostics, project: Path, deepest: int) -> None:
        self._problems, self._project, self._deepest = problems, project, deepest
        self.agents: dict[str, AgentFile] = {}
        self.of_agents: list[Problem] = []
        self._broken: set[str] = set()
        self._of_root: frozenset[str] = frozenset()

    def document(self, table: Table) -> FlowNode | None:
        refuse_unknown_keys(table, ROOT_KEYS, self._problems, what="a flow")
        if type(table.get("version")) is not int or table["version"] != 1:
            self._problems.add("version must be 1", table.at("version"), hint="version: 1")
        defaults = table_at(table, "defaults", self._problems)
        refuse_unknown_keys(defaults, ("termination",), self._problems, what="defaults")
        termination = table_at(defaults, "termination", self._problems)
        refuse_unknown_keys(
            termination,
            ("on_error", "max_iterations"),
            self._problems,
            what="defaults.termination",
        )
        if not isinstance(table.get("flow"), Table):
            hint = "flow: {id: ..., type: loop, ...}"
            self._problems.add("flow must be the root node", table.at("flow"), hint=hint)
            return None
        return self._node(table["flow"], termination, ())

    def _node(self, table: Table, defaults: Table, above: tuple[str, ...]) -> FlowNode:
        problems = self._problems
        refuse_unknown_keys(table, NODE_KEYS, problems, what="a node")
        name = self._id(table, above)
        word_at(table, "type", ("loop",), problems, hint="type: loop")
        controller = nonempty_text_at(table, "controller", problems)
        if controller.startswith(BUILTIN) and controller != ALL_PASS:
            message = f"there is no controller {controller!r}"
            problems.add(message, table.at("controller"), hint=f"controller: {ALL_PASS}")
        elif controller and controller != ALL_PASS:
            self._agent(controller, table.at("controller"), "controller")
        sensors = self._sensors(table, is_root=not above)
        actuator, child = self._actuator(table, defaults, (*above, name))
        termination = table_at(table, "termination", problems)
        refuse_unknown_keys(termination, TERMINATION_KEYS, problems, what="termination")
        parallel = table.get("parallel", False)
        if not isinstance(parallel, bool):
            problems.add("parallel must be true or false", table.at("parallel"))
        return FlowNode(
            id=name,
            controller=controller,
            sensors=sensors,
            max_iterations=self._max_iterations(termination, defaults, table),
            actuator=actuator,
            child=child,
            parallel=parallel is True,
            on_error=self._on_error(termination, defaults),
            budget=self._budget(termination),
        )

    def _id(self, table: Table, above: tuple[str, ...]) -> str:
        name = nonempty_text_at(table, "id", self._problems)
        if not name:
            return name
        if not is_id(name):
            self._problems.add(
                f"id {name!r} cannot be used: an id has lower-case letters and digits, joined by "
                "single hyphens, and is not a reserved name of a file",
                table.at("id"),
                hint="id: implement-feature",
            )
        elif name in above:
            hint = f"id: {name}-2"
            self._problems.add(f"a node above has the id {name!r}, too", table.at("id"), hint=hint)
        return name

    def _actuator(
        self, table: Table, defaults: Table, above: tuple[str, ...]
    ) -> tuple[str, FlowNode | None]:
        """Return the agent file and the child of a node; it has one of them."""
        problems = self._problems
        if not isinstance(table.get("actuator"), Table):
            hint = "actuator: {strategy: direct, agent: FILE}"
            problems.add("a node needs an actuator", table.at("actuator"), hint=hint)
            return "", None
        actuator = table["actuator"]
        refuse_unknown_keys(actuator, ACTUATOR_KEYS, problems, what="actuator")
        strategy = word_at(actuator, "strategy", ("direct", "composite"), problems) or ""
        if strategy == "direct":
            if "child" in actuator:
                problems.add("a direct actuator has no child", actuator.at_key("child"))
            return self._agent_at(actuator, "agent", "actuator.agent"), None
        if strategy == "composite" and "agent" in actuator:
            problems.add("a composite actuator has no agent", actuator.at_key("agent"))
        child = actuator.get("child")
        if not isinstance(child, Table):
            if strategy:
                hint = "child: {id: ..., type: loop, ...}"
                problems.add("a composite actuator needs a child", actuator.at("child"), hint=hint)
            return "", None
        if self._deepest and len(above) >= self._deepest:
            message = f"nodes lie at most {self._deepest} deep (flow.max_depth)"
            hint = "set flow.max_depth in pytest-reflex.toml to allow more"
            problems.add(message, actuator.at_key("child"), hint=hint)
            return "", None
        return "", self._node(child, defaults, above)

    def _max_iterations(self, termination: Table, defaults: Table, node: Table) -> int:
        source = termination if "max_iterations" in termination else defaults
        if "max_iterations" not in source:
            place = termination.spot if "termination" in node else node.spot
            hint = "termination: {max_iterations: 5}"
            self._problems.add("a node needs termination.max_iterations", place, hint=hint)
            return 1
        value = source["max_iterations"]
        if type(value) is not int or not 1 <= value <= 10**6:
            spot = source.at("max_iterations")
            self._problems.add("max_iterations must be a whole number >= 1", spot)
            return 1
        return value

    def _on_error(self, termination: Table, defaults: Table) -> OnError:
        source = termination if "on_error" in termination else defaults
        if "on_error" not in source:
            return OnError.FAIL_FAST
        word = word_at(source, "on_error", [one.value for one in OnError], self._problems)
        return OnError(word) if word else OnError.FAIL_FAST

    def _budget(self, termination: Table) -> dict[str, float]:
        table = table_at(termination, "budget", self._problems)
        refuse_unknown_keys(table, BUDGET_KEYS, self._problems, what="budget")
        found = {}
        for key in (key for key in table if key in BUDGET_KEYS):
            number = number_at(table, key, self._problems)
            if number is not None and number > 0:
                found[key] = float(number)
            elif number is not None:
                hint = f"leave {key} out where there is no limit"
                self._problems.add(f"{key} must be more than 0", table.at(key), hint=hint)
        return found

    def _sensors(self, table: Table, *, is_root: bool) -> tuple[Sensor, ...]:
        """Return the sensors of a node: in a child, without those that the root alone measures."""
        items = list_at(table, "sensors", self._problems)
        found: list[Sensor] = []
        for number, item in enumerate(items):
            spot = items.at(number)
            if isinstance(item, Table):
                sensor = self._sensor(item)
            elif isinstance(item, str) and item.strip():
                self._agent(item, spot, "a sensor")
                sensor = Sensor(name=self._name_of_agent(item, spot), agent=item)
            else:
                self._problems.add("a sensor is the path of an agent file, or a mapping", spot)
                continue
            if sensor.name and sensor.name.lower() in {one.name.lower() for one in found}:
                message = f"there are two sensors {sensor.name!r} in one node"
                self._problems.add(message, spot, hint="give each a name of its own")
            if not is_root:
                self._refuse_unmeasured(sensor, spot)
            found.append(sensor)
        if is_root:
            self._of_root = frozenset(sensor.name for sensor in found)
        own = tuple(one for one in found if is_root or one.run_when is not RunWhen.ROOT)
        if not own and (found or not items) and table.get("controller") == ALL_PASS:
            hint = "sensors: [{name: tests, command: make test}]"
            message = f"{ALL_PASS} needs sensors: of none, not all have passed"
            self._problems.add(message, table.at("sensors"), hint=hint)
        return own

    def _refuse_unmeasured(self, sensor: Sensor, spot: Spot) -> None:
        """Report a sensor of a child that is left to the root, which has none of its name."""
        if sensor.run_when is RunWhen.ROOT and sensor.name not in self._of_root:
            message = f"run_when: root, and the root node has no sensor {sensor.name!r}"
            hint = "give it to the root node, or leave out run_when: root"
            self._problems.add(message, spot, hint=hint)

    def _sensor(self, table: Table) -> Sensor:
        problems = self._problems
        refuse_unknown_keys(table, SENSOR_KEYS, problems, what="a sensor")
        kinds = [kind for kind in _KINDS if kind in table]
        if len(kinds) != 1:
            text = " and ".join(kinds) or "none of them"
            message = f"a sensor has one of command, criteria and agent, not {text}"
            problems.add(message, table.at_key(kinds[1]) if kinds else table.spot)
        given = {kind: nonempty_text_at(table, kind, problems) for kind in kinds}
        agent = self._agent_at(table, "agent", "a sensor") if given.get("agent") else ""
        return Sensor(
            name=self._sensor_name(table, kinds, agent),
            command=given.get("command", ""),
            criteria=given.get("criteria", ""),
            artifacts=self._artifacts(table, given.get("criteria", "")),
            agent=agent,
            target=self._target(table, kinds),
            timeout=self._timeout(table),
            run_when=self._run_when(table),
        )

    def _sensor_name(self, table: Table, kinds: list[str], agent: str) -> str:
        if "name" not in table and kinds == ["agent"]:
            return self._name_of_agent(agent, table.at("agent"))
        name = nonempty_text_at(table, "name", self._problems)
        return self._check_name(name, table.at("name"))

    def _name_of_agent(self, path: str, spot: Spot) -> str:
        """Return the name that the front matter of a sensor's file gives it, if it can be read."""
        return self._check_name(self.agents[path].name if path in self.agents else "", spot)

    def _check_name(self, name: str, spot: Spot) -> str:
        if name and not _SENSOR_NAME.fullmatch(name):
            message = f"name {name!r} of a sensor has letters, digits, _ and - alone, 64 at most"
            self._problems.add(message, spot, hint="name: unit-tests")
        return name

    def _artifacts(self, table: Table, criteria: str) -> tuple[str, ...]:
        keys = [key for key in ("artifact", "artifacts") if key in table]
        for key in keys:
            if "criteria" not in table:
                self._problems.add(f"{key} belongs to criteria", table.at_key(key))
        found = [text for key in keys for text, _ in texts_at(table, key, self._problems)]
        is_suite = criteria.endswith((".reflex.yaml", ".reflex.yml"))
        if criteria and not found and not is_suite:
            hint = "artifact: README.md"
            self._problems.add("criteria need an artifact", table.at("criteria"), hint=hint)
        return tuple(found)

    def _target(self, table: Table, kinds: list[str]) -> SensorTarget:
        of_criteria = kinds == ["criteria"]
        if "target" not in table:
            return PASSED if of_criteria else EXIT_ZERO
        text = text_at(table, "target", self._problems)
        try:
            target = parse_target(text) if text else EXIT_ZERO
        except ValueError as error:
            hint = f"target: {'score >= 0.9' if of_criteria else 'exit == 0'}"
            self._problems.add(str(error), table.at("target"), hint=hint)
            return EXIT_ZERO
        if kinds == ["agent"] and text:
            message = "an agent says itself whether its target is met"
            self._problems.add(message, table.at_key("target"), hint="write it into the agent file")
        elif text and kinds and target.of_criteria != of_criteria:
            meant = "passed or score >= N" if of_criteria else "one of exit, stdout or value"
            self._problems.add(f"the target of {kinds[0]} is {meant}", table.at("target"))
        return target

    def _timeout(self, table: Table) -> float | None:
        if "timeout" not in table:
            return None
        number = number_at(table, "timeout", self._problems)
        if number is not None and not 0 < number <= 10**7:
            self._problems.add("timeout must be seconds, more than 0", table.at("timeout"))
        return float(number) if number else None

    def _run_when(self, table: Table) -> RunWhen:
        if "run_when" not in table:
            return RunWhen.ALWAYS
        word = word_at(table, "run_when", [one.value for one in RunWhen], self._problems)
        return RunWhen(word) if word else RunWhen.ALWAYS

    def _agent_at(self, table: Table, key: str, what: str) -> str:
        path = nonempty_text_at(table, key, self._problems)
        if path:
            self._agent(path, table.at(key), what)
        return path

    def _agent(self, path: str, spot: Spot, what: str) -> None:
        """Read an agent file by its path, once; what is wrong in it is a problem of its own."""
        where = self._project / path
        if Path(path).is_absolute() or ".." in Path(path).parts or "\0" in path:
            hint = "paths start at the root of the repository"
            self._problems.add(f"{what}: {path!r} leads out of the project", spot, hint=hint)
        elif not os.path.isfile(where):  # a name may be too long for a file
            message = f"{what}: there is no agent file {path!r}"
            self._problems.add(message, spot, hint="paths start at the root of the repository")
        elif path not in self.agents and path not in self._broken:
            try:
                self.agents[path] = read_agent_file(where)
            except FlowError as error:
                self.of_agents += error.problems
                self._broken.add(path)
