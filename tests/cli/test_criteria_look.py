"""``criteria list``, ``show``, ``explain``, ``normalize``, ``compile``: what they print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.templates import stock_names

PARENT = """\
name: parent
rules:
  - id: a.docs.title
    description: There is a title
    severity: fail
    weight: 3
    why: readers look for it
    hint: begin with a heading
    check: {type: content, search: '^# ', expected: a title}
    fix: {append: {text: "# T"}}
    samples: {good: ["# T"], bad: ["T"]}
  - id: b.docs.list
    description: There are items
    severity: warn
    check: [{type: content, search: '^- ', min_count: {var: items}}]
vars: {items: 2}
"""
CHILD = """\
name: child
version: 4
extends: parent.yaml
phases: {B: {threshold: 0.5}}
vars: {items: 3}
rules:
  - {id: a.docs.title, severity: warn}
  - id: b.tool.runs
    description: The tool runs
    severity: fail
    check: {type: executable, command: 'exit 0', timeout: 5, retries: 2, expect_output: '(a)\\1'}
  - {id: b.tone.kind, description: It is kind, severity: info, check: It greets its reader}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parent.yaml").write_text(PARENT)
    (tmp_path / "child.yaml").write_text(CHILD)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(["criteria", *arguments]) == status
    captured = capsys.readouterr()
    return captured.out if status == 0 else captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(printed(capsys, *arguments, "--json"))


def test_the_stock_templates_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "list").splitlines()
    assert lines[0].split() == ["template", "version", "thresholds", "rules", "from"]
    row = next(line for line in lines if line.startswith("documentation"))
    assert "A 0.75, B 0.85" in row
    listed = {one["name"]: one for one in as_json(capsys, "list")["templates"]}
    assert listed["base"]["thresholds"] == {"A": 0.8, "B": 0.9}
    assert (listed["base"]["rules"], listed["base"]["origin"]) == (1, "stock")


def test_rules_are_shown_as_they_count(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "show", "child.yaml", "--var", "items=5")
    assert "CRITERIA    child version 4 (child.yaml)\nTHRESHOLDS  A 0.8, B 0.5\n" in text
    assert "VARIABLES   items = 5" in text
    rows = [line.split() for line in text.splitlines()[6:]]
    assert ["a.docs.title", "warn", "3", "A", "content"] in rows
    assert ["b.tone.kind", "info", "0", "B", "prose"] in rows


def test_rules_are_shown_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = as_json(capsys, "show", "child.yaml")
    assert shown["rules"][1]["checks"] == [{"type": "content", "search": "^- ", "min_count": 3}]
    assert shown["source"] == "child.yaml"


def test_a_rule_is_explained_with_its_origins(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "explain", "child.yaml", "a.docs.title")
    for line in (
        "WHY         readers look for it",
        "SEVERITY    warn: a failure costs weight and blocks nothing by itself",
        "WEIGHT      3 of 3 in phase A",
        "CHECK       /^# / is somewhere in the artifact (wanted: a title)",
        "HINT        begin with a heading",
        'FIX         append {"text": "# T"}',
        "GOOD        # T",
        "BAD         T",
        "DECLARED    parent.yaml:3:5",
        "OVERRIDDEN  child.yaml:7:5 gives severity",
    ):
        assert line in text.splitlines()
    said = as_json(capsys, "explain", "child.yaml", "a.docs.title")["said"]
    assert said[1] == {"path": "child.yaml", "line": 7, "column": 5, "keys": ["severity"]}


def test_a_rule_that_there_is_not_is_asked_back(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "explain", "child.yaml", "a.docs.titel", status=4)
    assert "child has no rule 'a.docs.titel' (did you mean a.docs.title?)" in told


def test_normalised_criteria_are_criteria_again(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    document = as_json(capsys, "normalize", "child.yaml")
    keys = {"id", "description", "severity", "weight", "phase", "check"}
    assert all(keys <= rule.keys() for rule in document["rules"])
    (project / "again.yaml").write_text(printed(capsys, "normalize", "child.yaml"))
    assert as_json(capsys, "normalize", "again.yaml") == document


SAMPLED = """\
rules:
  - id: a.x.one
    description: One
    severity: warn
    check: {type: content, search: one}
    samples:
      good: ["one\\ntwo\\n", {file: a.md, text: one}, {files: {a/b.md: one, c.md: ""}}]
      bad: ["", "null"]
"""


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["yaml", "json"])
def test_normalised_rules_keep_their_samples(
    form: list[str], capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    (project / "sampled.yaml").write_text(SAMPLED)
    again = project / f"again.{'json' if form else 'yaml'}"
    again.write_text(printed(capsys, "normalize", "sampled.yaml", *form))
    kept = as_json(capsys, "normalize", again.name)["rules"][0]["samples"]
    assert kept["good"][0] == "one\ntwo\n"
    assert kept["good"][1:] == [
        {"file": "a.md", "text": "one"},
        {"files": {"a/b.md": "one", "c.md": ""}},
    ]
    assert kept["bad"] == ["", "null"]


ENGINES = {
    "b.docs.list": ("re2", "re"),
    "b.tool.runs": ("re worker",),
}


def test_what_will_run_is_shown_and_nothing_runs(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    plan = as_json(capsys, "compile", "child.yaml")
    assert (plan["phase"], plan["threshold"]) == ("B", 0.5)
    assert plan["variables"] == {"PYTEST_REFLEX_VAR_ITEMS": 3}
    checks = {check["rule"]: check for check in plan["checks"]}
    assert checks["b.docs.list"]["engine"] in ENGINES["b.docs.list"]
    assert checks["b.docs.list"]["options"]["min_count"] == 3
    tool = checks["b.tool.runs"]
    assert tool["argv"][1:] == ["-c", "exit 0"]
    assert (tool["cwd"], tool["timeout"], tool["retries"]) == (str(project), 5.0, 2)
    assert tool["expect_output"]["engine"] in ENGINES["b.tool.runs"]
    assert checks["b.tone.kind"]["prose"] == "It greets its reader"


def test_what_will_run_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "compile", "child.yaml")
    for part in (
        "RULE        b.tool.runs #0 (fail, weight 2)\nTYPE        executable\nARGV ",
        "LIMITS      timeout 5 s, 2 retries\nPASSES      with exit status 0\n",
        "OUTPUT      /(a)\\1/ (re worker: ",
        "RUNS        nothing: an agent that prepares checks is needed",
        "LIMITS      timeout 2 s for one search",
    ):
        assert part in text
    assert "b.tool.runs" not in printed(capsys, "compile", "child.yaml", "--phase", "A")


def test_a_tool_whose_findings_are_counted_is_shown(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    tool = "{type: findings, command: [mdl, x], format: sarif, max_findings: 2, timeout: 7}"
    text = PARENT.replace("{type: content, search: '^# ', expected: a title}", tool)
    (project / "tool.yaml").write_text(text)
    told = printed(capsys, "compile", "tool.yaml", "--phase", "A")
    assert "ARGV        mdl x\n" in told
    assert "LIMITS      timeout 7 s\nOPTIONS     {" in told
    options = as_json(capsys, "compile", "tool.yaml", "--phase", "A")["checks"][0]["options"]
    assert (options["format"], options["max_findings"], options["ran"]) == ("sarif", 2, [0, 1])


@pytest.mark.parametrize("name", stock_names())
def test_every_rule_of_a_stock_template_can_be_shown(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    told = printed(capsys, "compile", name)
    rules = as_json(capsys, "show", name)["rules"]
    assert all(f"RULE        {rule['id']} #0 (" in told for rule in rules)
    assert printed(capsys, "explain", name, rules[-1]["id"]).startswith("RULE        ")


def test_alternatives_are_shown_each_as_it_will_run(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    either = "{any_of: [{type: content, search: one}, {type: executable, command: [two]}]}"
    text = PARENT.replace("{type: content, search: '^# ', expected: a title}", either)
    (project / "either.yaml").write_text(text)
    told = printed(capsys, "compile", "either.yaml", "--phase", "A")
    assert "TYPE        any_of\nEITHER" in told
    assert "SEARCH      'one'\nENGINE      text: the text is looked up as it stands\n" in told
    assert "ARGV        two\n" in told


def test_a_pattern_that_cannot_be_used_is_told_with_its_rule(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    (project / "bad.yaml").write_text(PARENT.replace("'^# '", "'(^# '"))
    told = printed(capsys, "compile", "bad.yaml", status=4)
    assert "bad.yaml:9:36: rule a.docs.title: search is not a valid pattern: missing )" in told


def test_a_phase_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no phase 'C'" in printed(capsys, "compile", "child.yaml", "--phase", "C", status=4)
