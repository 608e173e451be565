"""The `criteria` object of a run.json, ours and the seed's, and JSON that is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.enums import Level, Severity
from pytest_reflex.model.rules import Criteria
from tests.criteria.writing import REGISTRY, load, rule, rules, write

SEED_RULE = {
    "id": "a.correctness.endpoints",
    "description": "All core CRUD endpoints are present",
    "severity": "fail",
    "weight": 2,
    "phase": "A",
    "check": "Verify each endpoint from the task prompt exists (materialized by PREPARE)",
}
SEED_CRITERIA = {
    "name": "loop_default_v1",
    "version": 1,
    "phase": {
        "A": {"threshold": 0.8, "active_levels": ["A"]},
        "B": {"threshold": 0.9, "active_levels": ["A", "B"]},
    },
    "rules": [SEED_RULE],
}


def read(folder: Path, document: Any, name: str = "run.json") -> Criteria:
    text = document if isinstance(document, str) else json.dumps(document)
    return load_criteria(write(folder, name, text), registry=REGISTRY)


@pytest.mark.parametrize("name", ["run.json", "run.yaml"])
def test_a_run_of_the_seed_is_read(tmp_path: Path, name: str) -> None:
    run = {"run_id": "x-20260218-120000", "status": "running", "criteria": SEED_CRITERIA}
    found = read(tmp_path, run, name)
    assert (found.name, found.version, len(found.rules)) == ("loop_default_v1", 1, 1)
    assert found.rules[0].severity is Severity.FAIL
    assert found.rules[0].prose == SEED_RULE["check"]
    assert found.rules[0].checks == ()


def test_the_criteria_object_alone_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, SEED_CRITERIA, "criteria.json").has(Level.A)


def test_the_checks_of_the_seed_are_read(tmp_path: Path) -> None:
    checks = [
        {
            "rule_id": SEED_RULE["id"],
            "type": "content",
            "search": "GET /courses/{id}/chapters",
            "expected": "Endpoint definition present in artifact",
        }
    ]
    document = {**SEED_CRITERIA, "rules": [{**SEED_RULE, "check": checks}]}
    (check,) = read(tmp_path, document).rules[0].checks
    assert check.params == {"search": "GET /courses/{id}/chapters"}
    assert check.expected == "Endpoint definition present in artifact"


def test_what_we_write_is_read_again(tmp_path: Path) -> None:
    text = rules(
        rule(weight=0.1, fix="[{append: {text: x}}]", hint="h", why="w"),
        rule("b.docs.prose", check="look at it", severity="warn"),
        head="name: mine\nversion: 3\nphases: {A: {threshold: 0.75}}\nvars: {n: 1}\n",
    )
    written = load(tmp_path, text)
    again = read(tmp_path, {"run_id": "x", "criteria": written.to_json()})
    assert again.to_json() == written.to_json()
    assert (again.thresholds, again.vars) == (written.thresholds, written.vars)


FAULTS = [
    ("", "run.json: the file is empty"),
    ("[]", "run.json:1:1: the file must be a mapping"),
    ('{"a": 1,}', "run.json:1:8: this is not valid JSON: Illegal trailing comma"),
    ('{"a": 1\n "b": 2}', "run.json:2:2: this is not valid JSON: Expecting ',' delimiter"),
    ('{"name": "a", "name": "b"}', "run.json: the key 'name' is given twice in one object"),
    ('{"version": NaN}', "run.json: NaN is not a finite number"),
    ('{"version": -Infinity}', "run.json: -Infinity is not a finite number"),
    ('{"version": 1e999}', "run.json: 1e999 is out of range"),
    ('{"version": ' + "9" * 5000 + "}", "is a number of 5000 characters"),
    ('{"name": "\\ud800"}', "run.json: a text holds half of a surrogate pair"),
    ('{"rules": ' + "[" * 100 + "]" * 100 + "}", "run.json: nested deeper than 64 levels"),
    ('{"rules": ' + "[" * 100_000, "run.json: nested deeper than 64 levels"),
    ('{"run_id": 1, "criteria": {}}', "run.json: there are no rules"),
    ('{"rules": [{"id": "X"}]}', "run.json: 'X' is not an id"),
    ('{"rules": [{"id": "a.b.c", "severity": "x"}]}', "run.json: rule a.b.c: severity must be"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[text[:40] for text, _ in FAULTS])
def test_json_that_cannot_be_used_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CriteriaError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_a_text_with_an_escaped_control_character_is_refused(tmp_path: Path) -> None:
    document = {**SEED_CRITERIA, "rules": [{**SEED_RULE, "description": "a\u0000b"}]}
    with pytest.raises(CriteriaError, match=r"description holds the control character U\+0000"):
        read(tmp_path, document)


def test_a_surrogate_pair_is_one_character(tmp_path: Path) -> None:
    document = {**SEED_CRITERIA, "rules": [{**SEED_RULE, "description": "\U0001f600"}]}
    assert read(tmp_path, document).rules[0].description == "\U0001f600"
