"""flow.yaml is read whole: each mistake with its place, and what to do, all in one pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.yaml_writer import to_yaml
from pytest_reflex.drivers.flow.model import FlowNode, OnError, RunWhen
from pytest_reflex.drivers.flow.read import read_flow
from pytest_reflex.errors import ExitCode, FlowError
from tests.drivers.flow.projects import NODE, make_project, problems_of, read

# What stands in the flow, what stands there instead, the place of the mistake, its message, and
# a part of the hint.
MISTAKES = {
    "version": ("version: 1", "version: 2", "1:10", "version must be 1", "version: 1"),
    "version as a text": ("version: 1", "version: '1'", "1:10", "version must be 1", "version: 1"),
    "a key of the file": (
        "flow:\n  id",
        "flows: 1\nflow:\n  id",
        "2:1",
        "a flow has no key 'flows'",
        "did you mean flow?",
    ),
    "a key of a node": (
        "  type: loop",
        "  type: loop\n  sensor: []",
        "5:3",
        "a node has no key 'sensor'",
        "did you mean sensors?",
    ),
    "no id": ("  id: outer\n", "", "3:3", "id is missing", "schema flow"),
    "an id that is not a name": ("outer", "Outer", "3:7", "id 'Outer' cannot be used", "id: "),
    "an id with two hyphens": ("outer", "a--b", "3:7", "id 'a--b' cannot be used", "id: "),
    "an id that Windows has": ("outer", "con", "3:7", "id 'con' cannot be used", "id: "),
    "another type": ("type: loop", "type: gate", "4:9", "type must be one of loop", "type: loop"),
    "no controller": ("  controller: plan.md\n", "", "3:3", "controller is missing", "schema flow"),
    "a controller that is not there": (
        "plan.md",
        "gone.md",
        "5:15",
        "controller: there is no agent file 'gone.md'",
        "root of the repository",
    ),
    "a controller elsewhere": (
        "plan.md",
        "../plan.md",
        "5:15",
        "controller: '../plan.md' leads out of the project",
        "root of the repository",
    ),
    "an unknown controller of ours": (
        "plan.md",
        "builtin:any-pass",
        "5:15",
        "there is no controller 'builtin:any-pass'",
        "builtin:all-pass",
    ),
    "all-pass of nothing": (
        "controller: plan.md\n  sensors:\n    - {name: tests, command: make test}",
        "controller: builtin:all-pass",
        "3:3",
        "builtin:all-pass needs sensors",
        "sensors: [",
    ),
    "sensors as a mapping": (
        "\n    - {name: tests, command: make test}",
        " {tests: make test}",
        "6:12",
        "sensors must be a list, not a mapping",
        "schema flow",
    ),
    "a sensor that is a number": (
        "{name: tests, command: make test}",
        "7",
        "7:7",
        "a sensor is the path of an agent file, or a mapping",
        "schema flow",
    ),
    "a sensor without a name": (
        "{name: tests, command: make test}",
        "{command: make test}",
        "7:7",
        "name is missing",
        "schema flow",
    ),
    "a sensor's name with a slash": (
        "name: tests",
        "name: a/b",
        "7:14",
        "name 'a/b' of a sensor has letters",
        "name: unit-tests",
    ),
    "a sensor of two kinds": (
        "command: make test",
        "command: make, agent: look.md",
        "7:36",
        "a sensor has one of command, criteria and agent, not command and agent",
        "schema flow",
    ),
    "a sensor of no kind": (
        ", command: make test",
        "",
        "7:7",
        "a sensor has one of command, criteria and agent, not none of them",
        "schema flow",
    ),
    "two sensors of one name": (
        "make test}",
        "make test}\n    - {name: Tests, command: make}",
        "8:7",
        "there are two sensors 'Tests' in one node",
        "a name of its own",
    ),
    "criteria without an artifact": (
        "command: make test",
        "criteria: base",
        "7:31",
        "criteria need an artifact",
        "artifact: README.md",
    ),
    "an artifact of a command": (
        "command: make test",
        "command: make, artifact: a.md",
        "7:36",
        "artifact belongs to criteria",
        "schema flow",
    ),
    "a target that is none": (
        "make test}",
        "make test, target: green}",
        "7:49",
        "a target is exit == N",
        "target: exit == 0",
    ),
    "a pattern that is none": (
        "make test}",
        'make test, target: "stdout ~ /(/"}',
        "7:49",
        "/(/: ",
        "target: exit == 0",
    ),
    "a target of criteria at a command": (
        "make test}",
        "make test, target: passed}",
        "7:49",
        "the target of command is one of exit, stdout or value",
        "schema flow",
    ),
    "a target of an agent": (
        "command: make test}",
        "agent: look.md, target: exit == 0}",
        "7:37",
        "an agent says itself whether its target is met",
        "agent file",
    ),
    "a time-out of nothing": (
        "make test}",
        "make test, timeout: 0}",
        "7:50",
        "timeout must be seconds, more than 0",
        "schema flow",
    ),
    "another run_when": (
        "make test}",
        "make test, run_when: never}",
        "7:51",
        "run_when must be one of always, root, changed",
        "known: always, root, changed",
    ),
    "no max_iterations": (
        "  termination: {max_iterations: 3}\n",
        "",
        "3:3",
        "a node needs termination.max_iterations",
        "termination: {max_iterations: 5}",
    ),
    "max_iterations of nothing": (
        "max_iterations: 3",
        "max_iterations: 0",
        "8:33",
        "max_iterations must be a whole number >= 1",
        "schema flow",
    ),
    "another on_error": (
        "max_iterations: 3",
        "max_iterations: 3, on_error: carry-on",
        "8:46",
        "on_error must be one of fail-fast, continue",
        "known: fail-fast, continue",
    ),
    "a budget of something": (
        "max_iterations: 3",
        "max_iterations: 3, budget: {euros: 1}",
        "8:45",
        "budget has no key 'euros'",
        "known: usd, tokens, calls, seconds",
    ),
    "a budget of nothing": (
        "max_iterations: 3",
        "max_iterations: 3, budget: {usd: 0}",
        "8:50",
        "usd must be more than 0",
        "leave usd out",
    ),
    "no actuator": (
        "  actuator: {strategy: direct, agent: act.md}\n",
        "",
        "3:3",
        "a node needs an actuator",
        "actuator: {",
    ),
    "another strategy": (
        "strategy: direct, agent: act.md",
        "strategy: dirct, agent: act.md",
        "9:24",
        "strategy must be one of direct, composite",
        "did you mean direct?",
    ),
    "a direct actuator without an agent": (
        "direct, agent: act.md",
        "direct",
        "9:13",
        "agent is missing",
        "schema flow",
    ),
    "a direct actuator with a child": (
        "agent: act.md",
        "agent: act.md, child: {}",
        "9:47",
        "a direct actuator has no child",
        "schema flow",
    ),
    "a composite actuator with an agent": (
        "direct, agent: act.md",
        "composite, agent: act.md, child: {}",
        "9:35",
        "a composite actuator has no agent",
        "schema flow",
    ),
    "a composite actuator without a child": (
        "direct, agent: act.md",
        "composite",
        "9:13",
        "a composite actuator needs a child",
        "child: {",
    ),
    "parallel as a word": (
        "  type: loop",
        "  type: loop\n  parallel: often",
        "5:13",
        "parallel must be true or false",
        "schema flow",
    ),
    "no YAML": ("  type: loop", "  type: loop: x", "4:13", "this is not valid YAML", "quotes"),
}


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "hint"), MISTAKES.values(), ids=MISTAKES
)
def test_a_mistake_is_reported_with_place_and_hint(
    tmp_path: Path, old: str, new: str, place: str, message: str, hint: str
) -> None:
    assert old in NODE
    problem = problems_of(make_project(tmp_path, NODE.replace(old, new, 1)))[0]
    assert problem.place is not None
    assert f"{problem.place.line}:{problem.place.column}" == place
    assert problem.message.startswith(message)
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "the file is empty", "`version` and `flow`"),
        ("- a\n", "the file must be a mapping", "schema flow"),
        ("version: 1\n", "flow must be the root node", "flow: {"),
        ("version: 1\nflow: outer\n", "flow must be the root node", "flow: {"),
    ],
    ids=["empty", "list", "no flow", "text"],
)
def test_a_file_that_is_no_flow_is_reported(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    problem = problems_of(make_project(tmp_path, text))[0]
    assert problem.message.startswith(message)
    assert hint in problem.hint


WRONG = """\
version: 2
defaults: {termination: {on_error: never}, budget: {}}
flow:
  id: Outer
  type: gate
  controller: gone.md
  kind: loop
  parallel: 1
  sensors:
    - 5
    - {name: a/b, command: make, timeout: -1, run_when: never, target: green, extra: 1}
    - {name: two, command: make, agent: look.md}
    - {name: crit, criteria: base}
    - empty.md
  termination: {max_iterations: 0, budget: {euros: 1, usd: 0}}
  actuator:
    strategy: composite
    agent: act.md
    child:
      id: inner
      controller: builtin:all-pass
      actuator: {strategy: direct, child: {}}
"""


def test_all_mistakes_are_reported_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path, WRONG)
    (project / "empty.md").write_text("---\ndescription: {a: 1}\n---\n")
    monkeypatch.chdir(project)
    assert main(["flow", "check"]) == 4
    found = capsys.readouterr().err
    problems = problems_of(project)
    assert len(problems) >= 25
    for problem in problems:
        assert problem.message in found
        assert problem.hint
        assert f"{problem.place}" in found
        assert problem.place
        assert problem.place.line >= 1
        assert problem.place.column >= 1
    assert {problem.place.path for problem in problems if problem.place} == {
        ".ai-loop/flow.yaml",
        "empty.md",
    }


def test_a_node_below_has_no_id_of_a_node_above(tmp_path: Path) -> None:
    inner = NODE.replace("version: 1\nflow:\n", "").replace("\n  ", "\n      ")
    child = f"{{strategy: composite, child:\n    {inner}"
    flow = NODE.replace("{strategy: direct, agent: act.md}\n", f"\n    {child[1:-1]}\n")
    flow = flow.replace("strategy: composite, child:", "strategy: composite\n    child:")
    found = problems_of(make_project(tmp_path, flow))
    assert [problem.message for problem in found] == ["a node above has the id 'outer', too"]


def test_a_flow_is_read_with_its_defaults(tmp_path: Path) -> None:
    node = read(make_project(tmp_path))
    assert (node.id, node.controller, node.actuator) == ("outer", "plan.md", "act.md")
    assert (node.child, node.parallel, node.on_error) == (None, False, OnError.FAIL_FAST)
    (sensor,) = node.sensors
    assert (sensor.target.text, sensor.timeout, sensor.run_when) == (
        "exit == 0",
        None,
        RunWhen.ALWAYS,
    )


def test_defaults_of_the_file_hold_for_each_node_that_says_nothing_else(tmp_path: Path) -> None:
    flow = NODE.replace(
        "flow:", "defaults: {termination: {on_error: continue, max_iterations: 9}}\nflow:"
    )
    node = read(make_project(tmp_path, flow))
    assert (node.on_error, node.max_iterations) == (OnError.CONTINUE, 3)


KEYS = st.sampled_from(
    [
        *("version", "flow", "defaults", "id", "type", "controller", "actuator", "sensors"),
        *("parallel", "termination", "strategy", "agent", "child", "max_iterations", "on_error"),
        *("name", "command", "criteria", "artifact", "target", "timeout", "run_when", "budget"),
        "usd",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.sampled_from(["loop", "direct", "composite", "builtin:all-pass", "plan.md", "exit == 0"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=24,
)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(value=st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
def test_any_values_are_a_flow_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    assert_flow_or_error(tmp_path_factory, to_yaml({"version": 1, "flow": value}))


@settings(max_examples=40, deadline=None)
@given(position=st.integers(0, len(NODE)), text=st.text(max_size=6))
def test_a_flow_with_any_text_in_it_is_a_flow_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, position: int, text: str
) -> None:
    assert_flow_or_error(tmp_path_factory, NODE[:position] + text + NODE[position:])


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_a_flow_or_an_error_and_an_agent_file_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    project = make_project(tmp_path_factory.getbasetemp())
    (project / ".ai-loop/flow.yaml").write_bytes(data)
    assert problems_of(project)
    make_project(project)
    for front in (b"", b"---\nname: a\n"):
        (project / "plan.md").write_bytes(front + data)
        assert all(one.hint and one.place for one in problems_of(project))


@pytest.mark.parametrize(
    ("depth", "message"),
    [(16, ""), (17, "nodes lie at most 16 deep (flow.max_depth)"), (400, "")],
    ids=["deepest", "deeper", "no end"],
)
def test_nodes_lie_as_deep_as_is_allowed(tmp_path: Path, depth: int, message: str) -> None:
    actuator = "{strategy: direct, agent: act.md}"
    for number in range(depth, 0, -1):
        node = (
            f"{{id: n{number}, type: loop, controller: plan.md, "
            f"termination: {{max_iterations: 1}}, actuator: {actuator}}}"
        )
        actuator = f"{{strategy: composite, child: {node}}}"
    project = make_project(tmp_path, f"version: 1\nflow: {node}")
    found = [one.message for one in problems_of(project, deepest=16)]
    if depth == 400:
        assert len(found) == 1, "the depth of YAML itself is limited"
    else:
        assert found == ([message] if message else [])


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_depth_is_that_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], most: int
) -> None:
    actuator: object = {"strategy": "direct", "agent": "act.md"}
    for number in (3, 2, 1):
        node = {"id": f"n{number}", "type": "loop", "controller": "plan.md", "actuator": actuator}
        actuator = {"strategy": "composite", "child": node}
    defaults = {"termination": {"max_iterations": 1}}
    flow = {"version": 1, "defaults": defaults, "flow": node}
    make_project(tmp_path, to_yaml(flow))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_REFLEX_FLOW_MAX_DEPTH", str(most))
    assert main(["flow", "check"]) == (0 if most == 3 else ExitCode.USAGE)
    assert ("flow.max_depth" in capsys.readouterr().err) == (most < 3)


@pytest.mark.parametrize("kind", ["command: make test", "agent: look.md", "command: make x"])
def test_what_is_left_to_the_root_has_to_be_measured_there(tmp_path: Path, kind: str) -> None:
    child = (
        "{id: inner, type: loop, controller: plan.md, termination: {max_iterations: 1}, sensors: "
        f"[{{name: lost, {kind}, run_when: root}}], actuator: {{strategy: direct, agent: act.md}}}}"
    )
    flow = NODE.replace(
        "{strategy: direct, agent: act.md}", f"{{strategy: composite, child: {child}}}"
    )
    found = problems_of(make_project(tmp_path, flow))
    assert [one.message for one in found] == [
        "run_when: root, and the root node has no sensor 'lost'"
    ]
    assert found[0].place
    assert found[0].place.line == flow[: flow.index("name: lost")].count("\n") + 1
    named = flow.replace("name: lost", "name: tests")
    assert not problems_of(make_project(tmp_path, named))
    alone = problems_of(make_project(tmp_path, named.replace("plan.md", "builtin:all-pass")))
    assert [one.message.partition(":")[2].split()[0] for one in alone] == ["all-pass"]


def assert_flow_or_error(factory: pytest.TempPathFactory, text: str) -> None:
    project = make_project(factory.getbasetemp())
    path = project / ".ai-loop/flow.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        root, _ = read_flow(path, project)
    except FlowError:
        return
    assert isinstance(root, FlowNode)
