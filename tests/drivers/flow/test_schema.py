"""The published schema of flow.yaml says what the reader does, as far as a schema can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems, schema
from pytest_reflex.criteria.author.yaml_writer import to_yaml
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.drivers.flow import read as reader
from pytest_reflex.drivers.flow.setup import TemplateValues, files_of, templates
from tests.drivers.flow.projects import NODE, make_project, problems_of
from tests.drivers.flow.test_read import MISTAKES, WRONG

# What a schema cannot say: files, other nodes, patterns, defaults.
UNSAID = {
    "a controller that is not there",
    "a controller elsewhere",
    "two sensors of one name",
    "a pattern that is none",
    "no max_iterations",
    "no YAML",
}
EXAMPLES = Path(__file__).parents[3] / "examples"


def values(text: str) -> Any:
    """Return what a flow says, as the reader reads YAML."""
    return parse_document(text.encode(), "flow.yaml")[0]


def properties(*path: str) -> tuple[str, ...]:
    """Return the keys that the schema has at a place."""
    found = schema("flow")
    for step in path:
        found = found[step]
    return tuple(found["properties"])


def test_schema_and_reader_have_the_same_keys() -> None:
    node = ("$defs", "node")
    assert set(properties()) == set(reader.ROOT_KEYS)
    assert set(properties(*node)) == set(reader.NODE_KEYS)
    assert set(properties("$defs", "sensor")) == set(reader.SENSOR_KEYS)
    inner = (*node, "properties")
    assert set(properties(*inner, "actuator")) == set(reader.ACTUATOR_KEYS)
    assert set(properties(*inner, "termination")) == set(reader.TERMINATION_KEYS)
    budget = (*inner, "termination", "properties", "budget")
    assert set(properties(*budget)) == set(reader.BUDGET_KEYS)


def test_every_key_has_a_hover_text() -> None:
    def silent(found: Any, name: str) -> list[str]:
        missing = []
        if isinstance(found, dict):
            named = {**found.get("properties", {})} if "additionalProperties" in found else {}
            for key, value in named.items():
                target = value.get("$ref", "").rpartition("/")[2]
                told = value.get("description") or schema("flow")["$defs"].get(target, {}).get(
                    "description"
                )
                missing += [] if told else [f"{name}.{key}"]
            for key, value in found.items():
                missing += silent(value, f"{name}.{key}")
        return missing

    assert silent(schema("flow"), "") == []


@pytest.mark.parametrize("name", sorted(MISTAKES.keys() - UNSAID))
def test_a_mistake_that_the_reader_reports_is_one_of_the_schema(name: str) -> None:
    old, new, *_ = MISTAKES[name]
    assert problems("flow", values(NODE.replace(old, new, 1)))


@pytest.mark.parametrize("name", [*templates(), "wrong"])
def test_a_template_is_valid_and_a_wrong_flow_is_not(name: str) -> None:
    if name == "wrong":
        assert len(problems("flow", values(WRONG))) > 1
    else:
        text = files_of(name, TemplateValues())[".ai-loop/flow.yaml"]
        assert problems("flow", values(text)) == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("flow.yaml")), ids=lambda path: str(path))
def test_the_examples_are_valid(path: Path) -> None:
    assert problems("flow", values(path.read_text())) == []


def test_the_schema_is_printed_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "flow"]) == 0
    assert '"urn:pytest-reflex:schema:flow:1"' in capsys.readouterr().out
    assert main(["schema"]) == 0
    assert "the tree of loops in .ai-loop/flow.yaml" in capsys.readouterr().out


def keys(**choices: Any) -> Any:
    """Return a strategy of mappings that have some of the keys."""
    return st.fixed_dictionaries({}, optional=choices)


PATHS = st.sampled_from(["plan.md", "act.md", "look.md", "builtin:all-pass", "", None])
NOTHING = st.none()
SENSOR = st.sampled_from(["look.md", "plan.md"]) | keys(
    name=st.sampled_from(["a", "b", "a/b", None, "con"]),
    command=st.sampled_from(["make", " ", None]),
    criteria=st.sampled_from(["base", "a.reflex.yaml"]),
    artifact=st.sampled_from(["a.md", [], ["a", "b"], None, [1]]),
    agent=st.sampled_from(["look.md", "act.md"]),
    target=st.sampled_from(["exit == 0", "passed", "score >= 0.9", "value(/x/)>1", "?", None]),
    timeout=st.sampled_from([1, 0, -1, 0.5, "1", None]),
    run_when=st.sampled_from(["root", "changed", "never", None]),
)
TERMINATION = NOTHING | keys(
    max_iterations=st.sampled_from([1, 9, 0, 1.5, True, None]),
    on_error=st.sampled_from(["continue", "stop", None]),
    budget=st.sampled_from([None, {}, {"usd": 1}, {"usd": 0}, {"calls": 2.5}, {"x": 1}, []]),
)


def node(inner: Any) -> Any:
    """Return a strategy of nodes, most of them nearly right."""
    actuator = st.sampled_from(
        [{"strategy": "direct", "agent": "act.md"}, {"strategy": "direct"}, {}, None]
    ) | st.builds(lambda child: {"strategy": "composite", "child": child}, inner)
    return st.fixed_dictionaries(
        {
            "id": st.sampled_from(["outer", "a", "a-1", "A", "con"]),
            "type": st.just("loop"),
            "controller": PATHS,
            "actuator": actuator,
            "termination": TERMINATION,
        },
        optional={
            "sensors": NOTHING | st.lists(SENSOR, max_size=2),
            "parallel": st.sampled_from([True, False, None]),
        },
    )


@pytest.mark.long
@settings(max_examples=80, deadline=None)
@given(
    root=st.recursive(node(NOTHING), node, max_leaves=3),
    defaults=NOTHING | keys(termination=TERMINATION),
)
def test_what_the_schema_refuses_the_reader_refuses(
    tmp_path_factory: pytest.TempPathFactory, root: Any, defaults: Any
) -> None:
    text = to_yaml({"version": 1, "defaults": defaults, "flow": root})
    project = make_project(tmp_path_factory.getbasetemp(), text)
    if refused := problems("flow", values(text)):
        assert problems_of(project), refused
