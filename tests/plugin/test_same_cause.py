"""The same rule fails by what cannot be read, whoever runs the checks and in which order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from tests.plugin.conftest import Run, write

Read = Callable[[str], dict[str, Any]]

RULES = """\
name: settings
rules:
  - id: a.x.advice
    description: It may say how long to wait
    severity: warn
    hint: write wait
    check: {type: structure, path: wait}
  - id: a.x.schema
    description: It has a port
    severity: fail
    hint: write a port
    check: {type: structure, json_schema: {required: [port]}}
  - id: a.x.port
    description: The port is a number
    severity: fail
    hint: a number such as 80
    check: {type: structure, path: port, value_type: integer}
  - id: a.x.secrets
    description: No secret
    severity: fail
    check: {type: structure, configuration: secrets}
"""
SUITE = "criteria: settings.yaml\nartifacts: [a.yaml]\n"
BROKEN = {"no YAML": "port: 80\nwait: a: b\n", "a key twice": "port: 1\nport: 2\n"}


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, project: pytest.Pytester) -> pytest.Pytester:
    """The project with settings that cannot be read, and four rules that have to read them."""
    (project.path / "mini.reflex.yaml").unlink()
    write(project, "settings.yaml", RULES)
    write(project, "settings.reflex.yaml", SUITE)
    write(project, "a.yaml", BROKEN[request.param])
    return project


def outcomes(document: dict[str, Any]) -> list[tuple[str, str]]:
    rows = document["evaluations"][0]["rule_results"]
    return [(row["outcome"], row.get("same_cause", "")) for row in rows]


SAME = ("not_measured", "a.x.schema")


def test_evaluate_and_a_session_blame_the_same_rule(
    broken: pytest.Pytester, run: Run, document: Read, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run("--reflex-json=out.json", "-p", "no:randomly")
    assert result.ret == 1
    assert outcomes(document("out.json")) == [SAME, ("fail", ""), SAME, SAME]
    result.stdout.fnmatch_lines(
        ["FAIL *a.x.schema: not valid YAML: *", "NOT MEASURED *3 more rules not measured: *"]
    )
    capsys.readouterr()
    assert main(["evaluate", "a.yaml", "--criteria", "settings.yaml", "--json"]) == 1
    assert outcomes(json.loads(capsys.readouterr().out)) == outcomes(document("out.json"))


@pytest.mark.long
def test_hint_of_a_rule_is_not_told_for_what_cannot_be_read(
    broken: pytest.Pytester, run: Run
) -> None:
    out = run("-v").stdout.str()
    assert "not valid YAML: " in out
    assert "hint:" not in out
    write(broken, "a.yaml", "port: many\nwait: 1\n")
    assert "hint: a number such as 80" in run().stdout.str()


def test_rule_that_is_deselected_is_blamed_for_nothing(
    broken: pytest.Pytester, run: Run, document: Read
) -> None:
    run("--reflex-json=out.json", "--reflex-allow-partial", "-k", "not schema")
    assert outcomes(document("out.json"))[2:] == [("fail", ""), ("not_measured", "a.x.port")]


@pytest.mark.long
@pytest.mark.variants
def test_workers_blame_the_rule_of_a_plain_session(
    broken: pytest.Pytester, run: Run, run_workers: Run, document: Read
) -> None:
    run("--reflex-json=out.json")
    run_workers("--reflex-json=two.json", "--dist=each")
    run_workers("--reflex-json=spread.json")
    assert document("out.json") == document("two.json") == document("spread.json")
    assert outcomes(document("two.json")) == [SAME, ("fail", ""), SAME, SAME]
