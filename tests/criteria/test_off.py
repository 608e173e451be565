"""`severity: off` in an override: the rule is gone, and everybody is told so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from pytest_reflex.checks.run import evaluate
from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems as schema_problems
from pytest_reflex.criteria.author.schema import file_schema
from pytest_reflex.criteria.diagnostics import plain
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.model.results import evaluation_from_json
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.reports.json_report import report_document
from pytest_reflex.session.plan import PlannedTarget, SessionPlan
from tests.criteria.writing import REGISTRY, load, problems, rule, rules, write

BASE = rules(rule("a.docs.title"), rule("a.docs.tone", severity="warn", description="Tone"))
OFF = "  - {id: a.docs.tone, severity: off}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "base.yaml", BASE)
    write(tmp_path, "a.md", "# Title\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_override_switches_a_rule_off(folder: Path) -> None:
    found = load(folder, f"extends: base.yaml\nrules:\n{OFF}", name="own.yaml")
    assert [one.id for one in found.rules] == ["a.docs.title"]
    assert list(map(str, found.switched_off)) == ["a.docs.tone (own.yaml:3)"]
    again = Criteria.from_json(json.loads(json.dumps(found.to_json())))
    assert again.switched_off == found.switched_off


def test_so_does_a_suite(folder: Path) -> None:
    text = f"criteria: base.yaml\nartifacts: [a.md]\nrules:\n{OFF}"
    path = write(folder, "own.reflex.yaml", text)
    (target,) = load_suite(path, registry=REGISTRY, root=folder)
    assert [one.id for one in target.criteria.switched_off] == ["a.docs.tone"]
    handed_over = json.loads(json.dumps(SessionPlan({"x": PlannedTarget(target, "ab")}).to_json()))
    (planned,) = SessionPlan.from_json(handed_over).targets.values()
    assert planned.target.criteria.switched_off == target.criteria.switched_off


LATER = {
    "a severity switches it on again": ("severity: info", True),
    "another key does not": ("weight: 3", False),
    "off once more": ("severity: off", False),
}


@pytest.mark.parametrize(("line", "is_on"), LATER.values(), ids=LATER)
def test_a_file_that_extends_that_one_has_the_last_word(
    folder: Path, line: str, is_on: bool
) -> None:
    write(folder, "middle.yaml", f"extends: base.yaml\nrules:\n{OFF}")
    text = f"extends: middle.yaml\nrules: [{{id: a.docs.tone, {line}}}]\n"
    found = load(folder, text, name="own.yaml")
    assert (found.rule("a.docs.tone") is not None) is is_on
    assert bool(found.switched_off) is not is_on


def test_drop_takes_it_away_without_a_word(folder: Path) -> None:
    write(folder, "middle.yaml", f"extends: base.yaml\nrules:\n{OFF}")
    found = load(folder, "extends: middle.yaml\ndrop: [a.docs.tone]\n", name="own.yaml")
    assert (len(found.rules), found.switched_off) == (1, ())


def test_a_type_that_is_not_installed_keeps_nobody(folder: Path) -> None:
    write(folder, "base.yaml", BASE + rule("a.own.tool", check="{type: of-a-plugin}"))
    text = "extends: base.yaml\nrules: [{id: a.own.tool, severity: off}]\n"
    assert len(load(folder, text, name="own.yaml").rules) == 2


FAULTS = {
    "a rule of its own": (
        rules(rule(severity="off")),
        ["rules.yaml:4:15: rule a.docs.title: severity off is for an inherited rule"],
    ),
    "a rule of its own beside inherited ones": (
        "extends: base.yaml\n" + rules(rule("a.own.rule", severity="off")),
        ["(leave the rule out)"],
    ),
    "a slip in the id": (
        "extends: base.yaml\nrules: [{id: a.docs.tome, severity: off}]\n",
        ["rules.yaml:2:37: rule a.docs.tome: severity off", "(did you mean a.docs.tone?)"],
    ),
    "dropped as well": (
        f"extends: base.yaml\ndrop: [a.docs.tone]\nrules:\n{OFF}",
        ["drop and rules both name 'a.docs.tone'"],
    ),
    "an unknown key beside it": (
        "extends: base.yaml\nrules: [{id: a.docs.tone, severity: off, wight: 1}]\n",
        ["a rule has no key 'wight'", "(did you mean weight?)"],
    ),
    "a boolean": (
        "extends: base.yaml\nrules: [{id: a.docs.tone, severity: false}]\n",
        ["severity must be one of fail, warn, info, error, warning, not the boolean false"],
    ),
    "all of them": (
        "extends: base.yaml\nrules:\n" + OFF + "  - {id: a.docs.title, severity: off}\n",
        ["there are no rules (all of them are switched off: leave one on)"],
    ),
    "all that can fail": (
        (
            "extends: base.yaml\nrules:\n"
            "  - {id: a.docs.title, severity: off}\n  - {id: a.docs.tone, weight: 0}\n"
        ),
        ["no rule carries weight in phase A, and none is of severity fail"],
    ),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_switched_off_is_an_error(folder: Path, text: str, told: list[str]) -> None:
    (found,) = problems(folder, text)
    assert [part for part in told if part not in found] == [], found


SHOWN = {
    "show": ["criteria", "show", "own.yaml"],
    "compile": ["criteria", "compile", "own.yaml"],
    "evaluate": ["evaluate", "a.md", "--criteria", "own.yaml"],
}


@pytest.mark.parametrize("command", SHOWN.values(), ids=SHOWN)
def test_it_is_told(folder: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    write(folder, "own.yaml", f"extends: base.yaml\nrules:\n{OFF}")
    assert main(command) == 0
    (line,) = [one for one in capsys.readouterr().out.splitlines() if "a.docs.tone" in one]
    assert line == "OFF         switched off: a.docs.tone (own.yaml:3)"


def test_the_list_of_templates_counts_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "own.yaml", f"extends: base.yaml\nrules:\n{OFF}")
    monkeypatch.setattr("pytest_reflex.criteria.author.catalog.stock_folder", lambda: folder)
    monkeypatch.setattr(
        "pytest_reflex.criteria.author.catalog.stock_names", lambda: ("own", "base")
    )
    assert main(["criteria", "list"]) == 0
    assert "1 (1 off)" in capsys.readouterr().out
    assert main(["criteria", "list", "--json"]) == 0
    own, base, *_ = json.loads(capsys.readouterr().out)["templates"]
    assert (own["rules"], own["switched_off"], base["rules"]) == (1, 1, 2)
    assert "switched_off" not in base


def test_a_rule_that_is_off_cannot_be_explained(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "own.yaml", f"extends: base.yaml\nrules:\n{OFF}")
    assert main(["criteria", "explain", "own.yaml", "a.docs.tone"]) == 4
    assert "a rule is switched off: a.docs.tone (own.yaml:3)" in capsys.readouterr().err


def test_normalized_criteria_do_without_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "own.yaml", f"extends: base.yaml\nrules:\n{OFF}")
    assert main(["criteria", "normalize", "own.yaml"]) == 0
    found = load(folder, capsys.readouterr().out, name="whole.yaml")
    assert ([one.id for one in found.rules], found.switched_off) == (["a.docs.title"], ())


def test_the_report_and_a_run_hold_it(folder: Path) -> None:
    path = write(
        folder, "own.reflex.yaml", f"criteria: base.yaml\nartifacts: [a.md]\nrules:\n{OFF}"
    )
    (target,) = load_suite(path, registry=REGISTRY, root=folder)
    evaluation = evaluate(target, REGISTRY)
    document = report_document([evaluation], exit_status=0)
    assert schema_problems("report", document) == []
    location = {"path": "own.reflex.yaml", "line": 4, "column": 33}
    wire = document["evaluations"][0]
    assert wire["switched_off"] == [{"id": "a.docs.tone", "location": location}]
    by_id: dict[str, Rule] = {one.id: one for one in target.criteria.rules}
    assert evaluation_from_json(wire, by_id).switched_off == evaluation.switched_off
    run = {"run_id": "x", "criteria": target.criteria.to_json()}
    assert len(load(folder, json.dumps(run), name="run.json").rules) == 1


SCHEMA = Draft202012Validator(file_schema("criteria", REGISTRY))


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (f"extends: base\nrules:\n{OFF}", True),
        (rules(rule(severity="off")), False),
        (rules(rule()), True),
    ],
)
def test_the_schema_for_editors_knows_it(text: str, fits: bool) -> None:
    table, _ = parse_document(text.encode(), "x.yaml")
    assert SCHEMA.is_valid(plain(table)) is fits
