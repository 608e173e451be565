"""The shipped schemas: sound, found by name, and true of what the seeds and this program write."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_reflex.contracts.validate import names, pointer, problems, schema
from pytest_reflex.drivers.iterate.decide import ENDINGS as ITERATE_ENDINGS
from pytest_reflex.drivers.reflex.decide import ENDINGS as REFLEX_ENDINGS
from pytest_reflex.errors import UsageError
from pytest_reflex.model.enums import Level, Outcome, Severity, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import CheckResult, Evaluation, RuleResult
from pytest_reflex.model.rules import CheckSpec, Rule
from pytest_reflex.model.stop import ENDS, StopReason
from pytest_reflex.storage.lines import NO_LINE, encode

OURS = ["checks", "critique", "current", "evaluation", "event", "plan", "run"]


@pytest.mark.parametrize("name", names())
def test_every_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"urn:pytest-reflex:schema:{name}:1"


def test_schemas_of_the_loop_are_there() -> None:
    assert set(OURS) <= set(names())


def test_unknown_schema_is_named() -> None:
    with pytest.raises(UsageError, match=r"no schema 'plans' \(did you mean plan\?\)"):
        schema("plans")


def test_schema_is_a_copy() -> None:
    schema("plan")["type"] = "array"
    assert schema("plan")["type"] == "object"


SEED_RUN: dict[str, Any] = {
    "run_id": "courses-api-ddd-20260218-120000",
    "task_alias": "courses-api-ddd",
    "status": "running",
    "iteration": 1,
    "max_iterations": 4,
    "phase": "A",
    "current_step": "PLAN",
    "task": {"prompt": "a courses API", "ideal_result": "passes phase B"},
    "criteria": {
        "name": "loop_default_v1",
        "version": 1,
        "phase": {
            "A": {"threshold": 0.8, "active_levels": ["A"]},
            "B": {"threshold": 0.9, "active_levels": ["A", "B"]},
        },
        "rules": [],
    },
    "plan": [],
    "prepared_checks": None,
    "evaluation": None,
    "critique": None,
    "stop": {"passed": False, "reason": ""},
    "last_score": 0,
    "stagnation_count": 0,
    "created_at": "2026-02-18T12:00:00Z",
    "updated_at": "2026-02-18T12:00:00Z",
}


def test_run_of_the_seed_keeps_the_contract() -> None:
    assert problems("run", SEED_RUN) == []


BROKEN_RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "phase": ({"phase": "C"}, "/phase: 'C' is not one of ['A', 'B']"),
    "B064 iteration": ({"iteration": True}, "/iteration: True is not of type 'integer'"),
    "score": ({"last_score": 1.5}, "/last_score: 1.5 is greater than the maximum of 1"),
    "stop": ({"stop": {}}, "/stop: 'passed' is a required property"),
    "newer": ({"schema_version": 2}, "/schema_version: 1 was expected"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN_RUNS.values(), ids=BROKEN_RUNS.keys())
def test_broken_run_is_explained(change: dict[str, Any], message: str) -> None:
    assert message in problems("run", {**SEED_RUN, **change})


def evaluation() -> Evaluation:
    rule = Rule(
        id="a.x.y",
        description="d",
        severity=Severity.FAIL,
        weight=Fraction(1, 3),
        level=Level.A,
        checks=(CheckSpec(type="content", params={"search": "x"}),),
    )
    failed = CheckResult(outcome=Outcome.FAIL, message="m", evidence="e", notes=("n",))
    return Evaluation(
        criteria="c",
        version=1,
        level=Level.A,
        threshold=Fraction(4, 5),
        artifact="a.md",
        artifact_sha256="0" * 64,
        results=(RuleResult(rule=rule, checks=(failed,), outcome=Outcome.FAIL),),
        score=Fraction(0),
        passed=False,
        unsound="u",
    )


def test_evaluation_keeps_the_contract() -> None:
    wire = json.loads(json.dumps(evaluation().to_json()))
    assert problems("evaluation", wire) == []
    assert problems("evaluation", {**wire, "passed": 0}) == ["/passed: 0 is not of type 'boolean'"]


def test_event_as_it_is_written_keeps_the_contract() -> None:
    event = Event(
        kind=EventKind.PLAN_CREATED,
        run_id="r",
        iteration=1,
        level=Level.A,
        step=Step.PLAN,
        seq=1,
        ts="2026-02-18T12:01:10Z",
    )
    line = json.loads(encode(event.to_json(), 1, NO_LINE))
    assert problems("event", line) == []
    assert problems("event", {**line, "event": "x"})[0].startswith("/event: 'x' is not one of")


def test_current_json_of_the_seed_keeps_the_contract() -> None:
    wire = {"active_run_id": "r", "task_alias": "a", "status": "running", "updated_at": "t"}
    assert problems("current", wire) == []
    assert problems("current", {}) == [
        f"'{key}' is a required property"
        for key in ("active_run_id", "task_alias", "status", "updated_at")
    ]


def test_long_values_are_cut_in_messages() -> None:
    found = problems("plan", {"plan": "x" * 5000})
    assert len(found[0]) < 400
    assert found[0].endswith("is not of type 'array'")


def test_schemas_have_the_reasons_to_stop_of_their_loops() -> None:
    """What a new reason needs besides its row: see "Where does a new thing go?"."""
    assert set(ENDS) == set(StopReason), "each reason has a row in ENDS"
    reasons = schema("run")["properties"]["stop"]["properties"]["reason"]["enum"]
    assert set(reasons) == {"", *(one.value for one in REFLEX_ENDINGS)}
    outcomes = set(schema("iteration-log")["properties"]["outcome"]["enum"])
    assert {one.value for one in ITERATE_ENDINGS} <= outcomes


def test_many_problems_are_cut() -> None:
    assert len(problems("checks", {"checks": [{}] * 150})) == 10


def test_pointer_escapes() -> None:
    assert pointer(["paths", "/a~b", 0]) == "/paths/~1a~0b/0"


def test_reading_a_plan_is_the_first_to_load_jsonschema() -> None:
    program = (
        "import sys, pytest_reflex.contracts.steps as steps\n"
        "assert 'jsonschema' not in sys.modules\n"
        "steps.read_artifact('x')\n"
        "assert 'jsonschema' not in sys.modules\n"
        'steps.read_plan(\'{"plan": ["a", "b", "c"]}\')\n'
        "assert 'jsonschema' in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
