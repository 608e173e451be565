"""The JSON document of a session."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_reflex.reports.json_report import render, report_document
from tests.plugin.conftest import BAD, GOOD, MILD, Run, edit, write
from tests.verdict.sets import evaluation, rule

pytestmark = pytest.mark.long

SCHEMA = json.loads(
    files("pytest_reflex.contracts").joinpath("schemas/report.schema.json").read_text("utf-8")
)


def valid(document: Any) -> Any:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def read(pytester: pytest.Pytester) -> Any:
    return valid(json.loads((pytester.path / "out.json").read_text()))


def test_a_passed_session(project: pytest.Pytester, run: Run) -> None:
    run("--reflex-json=out.json")
    found = read(project)
    assert found["gate"] == {"status": "passed", "passed": True, "exit_status": 0, "reasons": []}
    assert found["tool"]["name"] == "pytest-reflex"
    assert found["evaluations"][0]["artifact"] == "api.md"
    assert found["not_run"] == found["problems"] == []


def test_a_failed_session(project: pytest.Pytester, run: Run) -> None:
    write(project, "api.md", BAD)
    run("--reflex-json=deep/out.json", "-x")
    found = valid(json.loads((project.path / "deep" / "out.json").read_text()))
    assert found["gate"]["status"] == "incomplete"
    assert found["gate"]["exit_status"] == 1
    assert [row["check"] for row in found["not_run"]] == [
        "mini.reflex.yaml::b.x.world::0",
        "mini.reflex.yaml::b.x.world::1",
    ]
    assert found["evaluations"][0]["failed"][0]["id"] == "a.x.install"


def test_faulty_criteria_are_written_as_problems(project: pytest.Pytester, run: Run) -> None:
    edit(project, "severity: warn", "severity: wran")
    result = run("--reflex-json=out.json")
    assert result.ret == 4
    found = read(project)
    assert found["gate"]["status"] == "error"
    assert found["gate"]["exit_status"] == 4
    (problem,) = found["problems"]
    assert problem["rule"] == "b.x.world"
    assert problem["location"] == {"path": "mini.reflex.yaml", "line": 15, "column": 15}
    result.stdout.fnmatch_lines(["ERROR       mini.reflex.yaml:15:15: rule b.x.world: severity *"])


def test_an_old_document_is_replaced_whole(project: pytest.Pytester, run: Run) -> None:
    write(project, "out.json", "x" * 100_000)
    run("--reflex-json=out.json")
    read(project)
    assert sorted(path.name for path in project.path.glob("*out.json*")) == ["out.json"]


def test_the_path_may_stand_in_the_ini_file(project: pytest.Pytester, run: Run) -> None:
    project.makeini("[pytest]\nreflex_json = out.json\n")
    run()
    read(project)


@pytest.mark.parametrize("path", ["api.md/out.json", "folder"])
def test_a_path_that_cannot_be_written_is_refused_first(
    project: pytest.Pytester, run: Run, path: str
) -> None:
    project.mkdir("folder")
    result = run(f"--reflex-json={path}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: --reflex-json {path} cannot be written: *"])
    assert "passed" not in result.stdout.str()


def test_a_collection_that_only_looks_writes_nothing(project: pytest.Pytester, run: Run) -> None:
    run("--collect-only", "--reflex-json=out.json")
    assert not (project.path / "out.json").exists()


@pytest.mark.parametrize(
    ("outcome", "gate", "status"),
    [("pass", "passed", 0), ("fail", "failed", 1), ("not_measured", "incomplete", 5)],
)
def test_the_reporter_of_the_command_line(outcome: str, gate: str, status: int) -> None:
    found = valid(json.loads(render([evaluation([(rule("a.x.y"), outcome)])])))
    assert found["gate"]["status"] == gate
    assert found["gate"]["exit_status"] == status


def test_text_that_no_encoding_holds_is_escaped(tmp_path: Path) -> None:
    one = evaluation([(rule("a.x.y"), "pass")])
    object.__setattr__(one, "artifact", "a\ud800\x00")
    document = valid(report_document([one], exit_status=0))
    assert json.dumps(document).isascii()


@pytest.mark.parametrize("text", [GOOD, BAD, MILD], ids=["good", "bad", "mild"])
@pytest.mark.parametrize(
    "arguments", [(), ("-k", "usage"), ("-k", "usage", "--reflex-allow-partial"), ("-k", "none")]
)
def test_document_section_and_exit_status_agree(
    project: pytest.Pytester, run: Run, text: str, arguments: tuple[str, ...]
) -> None:
    write(project, "api.md", text)
    result = run("--reflex-json=out.json", *arguments)
    gate = read(project)["gate"]
    assert gate["exit_status"] == result.ret
    assert gate["passed"] == (gate["status"] == "passed")
    assert (result.ret != 0) == (gate["status"] not in ("passed", "partial"))
    word = gate["status"].upper()
    result.stdout.fnmatch_lines([f"GATE        {word}*"])
