"""Rules with conditions in sessions: skipped with the reason, and the same by every route."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.cli.main import main
from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.session.fork import evaluate_by_pytest
from tests.plugin.conftest import Run, edit, without_durations, write

pytestmark = pytest.mark.long

Read = Callable[[str], dict[str, Any]]

SUITE = """\
criteria: {name: mini, version: 3}
artifacts: [api.md]
rules:
  - id: a.x.usage
    description: It shows how to use it
    severity: fail
    when: {search: "^# "}
    check: {type: content, search: "^## Usage"}
  - id: a.x.version
    description: The version is a number
    severity: fail
    when: {path: version}
    check: {type: structure, path: version, value_type: integer}
  - id: a.x.released
    description: A release has a date
    severity: warn
    weight: 5
    when: [{file: "*.md"}, {not: {search: hello}}]
    check:
      - {type: content, search: "[0-9]{4}"}
      - {type: content, search: "-[0-9]{2}"}
  - id: b.x.command
    description: The tool agrees
    severity: fail
    when: {file: "*.json"}
    check: {type: executable, command: "touch started; false"}
  - id: b.x.either
    description: One of two
    severity: info
    when: {search: "no such words"}
    check: {any_of: [{type: content, search: x1}, {type: executable, command: "false"}]}
  - id: b.x.kind
    description: It reads kind
    severity: fail
    when: {search: "Dear reader"}
    check: It is kind
"""
NOT_APPLICABLE = {
    "a.x.version": "there is no JSON, YAML or TOML in it",
    "a.x.released": "condition not met: pattern found at line 3",
    "b.x.command": "api.md does not match *.json",
    "b.x.either": "condition not met: pattern not found",
    "b.x.kind": "condition not met: pattern not found",
}


@pytest.fixture
def conditional(project: pytest.Pytester) -> pytest.Pytester:
    write(project, "mini.reflex.yaml", SUITE)
    return project


def test_every_route_says_the_same(
    conditional: pytest.Pytester, run: Run, run_workers: Run, document: Read
) -> None:
    sessions = {
        "plain.json": run("--reflex-json=plain.json", "-rs"),
        "standard.json": run("--reflex-json=standard.json", "--reflex-standard-protocol"),
        "workers.json": run_workers("--reflex-json=workers.json"),
    }
    for found in sessions.values():
        found.assert_outcomes(passed=1, skipped=6)
        assert found.ret == 0
    plain = document("plain.json")
    assert [document(name) for name in sessions] == [plain] * 3
    (evaluation,) = plain["evaluations"]
    rows = {row["id"]: row for row in evaluation["rule_results"]}
    said = {key: rows[key]["details"] for key in rows if rows[key]["outcome"] == "not_applicable"}
    assert said == NOT_APPLICABLE
    assert {rows[key]["verdict"] for key in NOT_APPLICABLE} == {"not_applicable"}
    assert (evaluation["score_exact"], evaluation["passed"]) == ("1/1", True)
    assert (evaluation["not_applicable"], evaluation["measured"], evaluation["total"]) == (5, 1, 6)
    assert not (conditional.path / "started").exists()

    registry = built_in_registry()
    (target,) = load_suite(Path("mini.reflex.yaml"), registry=registry, root=Path())
    core = without_durations(evaluate(target, registry).to_json())
    assert without_durations(evaluate_by_pytest(target, registry).to_json()) == core
    assert core == evaluation


def test_an_item_is_skipped_with_the_reason(conditional: pytest.Pytester, run: Run) -> None:
    found = run("-rs", "--junitxml=out.xml", "--no-header")
    lines = [line for line in found.outlines if line.startswith("SKIPPED")]
    assert len(lines) == 6
    for reason in NOT_APPLICABLE.values():
        assert any(line.endswith(f": not applicable: {reason}") for line in lines), lines
    assert all("mini.reflex.yaml:" in line for line in lines)
    skipped = ET.parse(conditional.path / "out.xml").iter("skipped")
    messages = [element.get("message") for element in skipped]
    assert [m for m in messages if m and m.startswith("not applicable: ")] == messages


def test_the_section_of_a_session_lists_them(conditional: pytest.Pytester, run: Run) -> None:
    told = " ".join(run().stdout.str().split())
    assert "PASSED score 1.000 (2 of 2 points), threshold 0.9" in told
    why = "condition not met: pattern found at line 3"
    assert f"N/A not applicable ({why}): a.x.released" in told
    assert "PASSED (exit status 0)" in told


def test_evaluate_lists_them(
    conditional: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "api.md", "--criteria", "mini.reflex.yaml"]) == 0
    assert "N/A         not applicable (api.md does not match *.json): b.x.command" in (
        capsys.readouterr().out
    )


# what is in the artifact: what becomes of the version, and of the gate
VERSIONS = {
    "a good one": ('hello\n```json\n{"version": 1}\n```\n', "pass", 0),
    "a bad one": ('hello\n```json\n{"version": "x"}\n```\n', "fail", 1),
    "none": ("hello\n```json\n{}\n```\n", "not_applicable", 0),
    "what cannot be read": ('hello\n```json\n{"version": \n```\n', "fail", 1),
}


@pytest.mark.parametrize(("text", "outcome", "status"), VERSIONS.values(), ids=VERSIONS)
def test_a_condition_holds_by_what_is_in_the_artifact(
    conditional: pytest.Pytester, run: Run, document: Read, text: str, outcome: str, status: int
) -> None:
    write(conditional, "api.md", f"# T\n## Usage\n{text}")
    assert run("--reflex-json=out.json").ret == status
    rows = document("out.json")["evaluations"][0]["rule_results"]
    assert {row["id"]: row["outcome"] for row in rows}["a.x.version"] == outcome


NOTHING = """\
criteria: {name: mini}
artifacts: [api.md]
rules:
  - id: a.x.one
    description: d
    severity: fail
    when: {path: a}
    check: {type: content, search: x}
  - {id: a.x.two, description: d, severity: info, check: {type: content, search: Title}}
"""


def test_where_no_rule_applies_nothing_passes(
    conditional: pytest.Pytester,
    run: Run,
    run_workers: Run,
    document: Read,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(conditional, "mini.reflex.yaml", NOTHING)
    assert run("--reflex-json=plain.json").ret == 1
    found = run_workers("--reflex-json=workers.json")
    assert found.ret == 1
    found.stdout.fnmatch_lines(["GATE*INCOMPLETE: *: no rule that can fail the gate is*"])
    assert document("plain.json") == document("workers.json")
    assert document("plain.json")["gate"]["status"] == "incomplete"
    capsys.readouterr()
    assert main(["evaluate", "api.md", "--criteria", "mini.reflex.yaml"]) == 5
    out = capsys.readouterr().out
    assert "INCOMPLETE  score 1.000 (0 of 0 points)" in out
    assert "UNSOUND     no rule that can fail the gate is applicable" in out
    assert main(["evaluate", "api.md", "--criteria", "mini.reflex.yaml", "--json"]) == 5
    assert json.loads(capsys.readouterr().out)["gate"]["exit_status"] == 5


@pytest.mark.parametrize("how", ["deselected", "skipped", "lost to a hook"])
def test_a_rule_that_did_not_run_is_not_one_that_does_not_apply(
    conditional: pytest.Pytester, run: Run, document: Read, how: str
) -> None:
    """Nobody has looked whether its condition holds."""
    if how == "skipped":
        conditional.makeconftest(
            "import pytest\n"
            "def pytest_collection_modifyitems(items):\n"
            "    for item in items:\n"
            "        if 'a.x.version' in item.nodeid: item.add_marker(pytest.mark.skip('mine'))\n"
        )
    if how == "lost to a hook":
        conditional.makeconftest(
            "def pytest_runtest_protocol(item): return 'a.x.version' in item.nodeid or None\n"
        )
    extra = ["-k", "not version"] if how == "deselected" else ["--reflex-standard-protocol"]
    assert run("--reflex-json=out.json", *extra).ret == 1
    found = document("out.json")
    rows = {row["id"]: row["outcome"] for row in found["evaluations"][0]["rule_results"]}
    assert (rows["a.x.version"], found["gate"]["status"]) == ("not_measured", "incomplete")


WORD = """
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.model.enums import Outcome

class Odd:
    name = "odd"
    def problems(self, spec): return ()
    def compile(self, spec, variables):
        result = CheckResult(outcome=Outcome.NOT_APPLICABLE)
        return CompiledCheck(spec, lambda artifact, context: result)

def pytest_reflex_register_checks(register): register(Odd())
"""


def test_a_check_cannot_say_it_for_its_rule(
    project: pytest.Pytester, run: Run, document: Read
) -> None:
    project.makeconftest(WORD)
    edit(project, '{type: content, search: "^## Usage", expected: a usage section}', "{type: odd}")
    assert run("--reflex-json=out.json").ret == 1
    rows = {r["id"]: r for r in document("out.json")["evaluations"][0]["rule_results"]}
    assert (rows["a.x.usage"]["outcome"], rows["a.x.usage"]["verdict"]) == ("error", "fail")
