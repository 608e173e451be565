"""Findings of other tools: how they are counted, and when a tool has not judged at all."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.findings.check import FindingsCheck
from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.checks.run import evaluate
from pytest_reflex.errors import CriteriaError, Place
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from tests.checks.building import PLACE, registry, rule, target

FIELDS = {"message": "m", "rule": "r", "level": "l", "file": "f", "line": "n", "column": "c"}
FOUND = [
    {"m": "unused", "r": "F401", "l": "error", "f": "a.md", "n": 3, "c": 1},
    {"m": "too long", "r": "E501", "l": "style", "f": "b.md", "n": 1},
    {"m": "odd name", "r": "N801", "l": "warning"},
]


def findings(**params: Any) -> CheckSpec:
    return CheckSpec(type="findings", params=params, place=PLACE)


def tool(root: Path, output: Any = "", status: int = 0, **params: Any) -> CheckResult:
    """Return what a check says of a tool that writes `output` and ends with `status`."""
    text = output if isinstance(output, str) else json.dumps(output)
    (root / "a.md").write_text("# T\n\ntext\n")
    (root / "output").write_text(text)
    given = {"command": f"cat output; exit {status}", "format": "json", "fields": FIELDS, **params}
    if given["format"] not in ("json", "jsonl"):
        del given["fields"]
    check = FindingsCheck().compile(findings(**given), {})
    return check(read_artifact(root / "a.md", name="a.md"), CheckContext(root=root))


def test_findings_fail_and_the_first_are_shown(tmp_path: Path) -> None:
    result = tool(tmp_path, FOUND, 1)
    assert result.outcome is Outcome.FAIL
    assert result.message == (
        "3 findings (1 error, 1 warning, 1 note), at most 0 are wanted; error: unused [F401]"
    )
    assert result.evidence.splitlines() == [
        "error: a.md:3:1: unused [F401]",
        "warning: odd name [N801]",
        "note: b.md:1: too long [E501]",
    ]
    assert result.location == Place("a.md", 3, 1)


def test_files_are_named_as_people_know_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    paths = [tmp_path / "a.md", tmp_path / "sub" / ".." / "b.md", Path("/elsewhere/c.md"), ""]
    result = tool(tmp_path, [{"m": "x", "f": str(path), "n": 2} for path in paths], 1)
    places = [line.split(": ")[1] for line in result.evidence.splitlines()]
    assert places == ["a.md:2", "b.md:2", "/elsewhere/c.md:2", "line 2"]


def test_evidence_is_short(tmp_path: Path) -> None:
    result = tool(tmp_path, FOUND * 4, 1)
    assert len(result.evidence.splitlines()) == 6
    assert result.evidence.endswith("... 7 more")


def test_a_tool_that_finds_nothing_passes(tmp_path: Path) -> None:
    result = tool(tmp_path, [])
    assert (result.outcome, result.message) == (Outcome.PASS, "no findings")


LIMITS: list[tuple[dict[str, Any], Outcome, str]] = [
    ({"max_findings": 3}, Outcome.PASS, "3 findings (1 error, 1 warning, 1 note)"),
    ({"max_findings": 2}, Outcome.FAIL, "at most 2 are wanted"),
    ({"max_findings": {"error": 1}}, Outcome.PASS, "3 findings"),
    ({"max_findings": {"error": 0}}, Outcome.FAIL, "at most 0 errors are wanted"),
    ({"max_findings": {"error": 1, "warning": 0}}, Outcome.FAIL, "at most 0 warnings are wanted"),
    ({"max_findings": {"error": 1, "all": 2}}, Outcome.FAIL, "at most 2 are wanted"),
    ({"rules": {"*": "ignore"}}, Outcome.PASS, "no findings"),
    ({"rules": {"F*": "ignore", "*": "note"}}, Outcome.FAIL, "2 findings (2 notes)"),
    ({"rules": {"F401": "note", "F*": "ignore"}}, Outcome.FAIL, "(1 warning, 2 notes)"),
    ({"levels": {"style": "error"}}, Outcome.FAIL, "(2 errors, 1 warning)"),
    ({"levels": {"style": "ignore", "error": "warning"}}, Outcome.FAIL, "2 findings (2 warnings)"),
]


@pytest.mark.parametrize(("params", "outcome", "message"), LIMITS, ids=lambda v: str(v)[:40])
def test_levels_rules_and_limits_decide_what_counts(
    tmp_path: Path, params: dict[str, Any], outcome: Outcome, message: str
) -> None:
    result = tool(tmp_path, FOUND, 1, **params)
    assert result.outcome is outcome
    assert message in result.message


def test_ignored_findings_are_counted_in_a_note(tmp_path: Path) -> None:
    result = tool(tmp_path, FOUND, rules={"F*": "ignore", "E*": "ignore"})
    assert result.notes == ("2 more are ignored by the rule",)


def test_a_level_of_an_unknown_name_is_an_error_level(tmp_path: Path) -> None:
    result = tool(tmp_path, [{"m": "x", "l": "grave"}, {"m": "y"}])
    assert result.message.startswith("2 findings (2 errors)")


BROKEN: list[tuple[Any, int, dict[str, Any], str]] = [
    ("", 0, {}, "the report is empty"),
    ("no JSON", 1, {}, "the report is not JSON"),
    ([], 1, {}, "exit status 1, but it reports nothing"),
    ("", 1, {"silent": True}, "exit status 1, but it reports nothing"),
    ("", 1, {"format": "jsonl"}, "exit status 1, but it reports nothing"),
    (FOUND, 2, {}, "exit status 2: it did not come to its end"),
    (FOUND, 1, {"ran": [0]}, "exit status 1: it did not come to its end"),
    (FOUND, 127, {}, "exit status 127: a command was not found"),
    (FOUND, 0, {"stream": "stderr"}, "the report is empty"),
    (FOUND, 0, {"report": "none.json"}, "it did not write its report none.json"),
    (FOUND, 0, {"report": "output"}, "it did not write its report output"),
    (FOUND, 0, {"command": "sleep 9", "timeout": 0.2}, "it ran longer than 0.2 s"),
    ("", 0, {"command": "kill -9 $$"}, "it was ended by SIGKILL"),
    ("", 0, {"command": "yes | head -c 10500000"}, "its report is too long: 10,500,000 bytes"),
]


@pytest.mark.parametrize(
    ("output", "status", "params", "message"), BROKEN, ids=[case[3][:40] for case in BROKEN]
)
def test_a_tool_that_did_not_judge_is_an_error(
    tmp_path: Path, output: Any, status: int, params: dict[str, Any], message: str
) -> None:
    result = tool(tmp_path, output, status, **params)
    assert result.outcome is Outcome.ERROR
    assert message in result.message


@pytest.mark.parametrize("command", [["no-such-linter"], "no-such-linter"], ids=["argv", "text"])
def test_a_missing_tool_is_an_error_with_the_way_to_install_it(
    tmp_path: Path, command: Any
) -> None:
    result = tool(tmp_path, command=command, install="pip install no-such-linter")
    assert result.outcome is Outcome.ERROR
    assert "no-such-linter" in result.message
    assert result.message.endswith("; to install it: pip install no-such-linter")


def test_silence_means_nothing_found_where_the_rule_says_so(tmp_path: Path) -> None:
    assert tool(tmp_path, "", silent=True).outcome is Outcome.PASS
    assert tool(tmp_path, "", format="jsonl").outcome is Outcome.PASS


@pytest.mark.parametrize("allow", [False, True], ids=["as-it-is", "allowed"])
def test_nothing_run_passes_where_the_rule_says_so_only(tmp_path: Path, allow: bool) -> None:
    report = "1..2\nok 1 # SKIP\nok 2 # SKIP\n"
    result = tool(tmp_path, report, format="tap", allow_empty=allow)
    assert result.outcome is (Outcome.PASS if allow else Outcome.ERROR)
    assert ("all 2 are marked SKIP or TODO" in result.message) is not allow
    failed = tool(tmp_path, report, 1, format="tap", allow_empty=True)
    assert failed.message.startswith("exit status 1, but it reports nothing")


def test_the_report_may_be_on_stderr_or_in_a_file(tmp_path: Path) -> None:
    said = tool(tmp_path, FOUND, command="cat output >&2; exit 1", stream="stderr")
    written = tool(tmp_path, FOUND, command="echo noise; cp output r.json", report="r.json")
    assert said.message == written.message
    assert written.message.startswith("3 findings")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "needs the key 'command'"),
    ({"command": "x"}, "needs the key 'format'"),
    ({"command": "x", "format": "sarf"}, "did you mean sarif?"),
    ({"command": "x", "format": "json"}, "format json needs fields"),
    ({"command": "x", "format": "sarif", "fields": FIELDS}, "go with format json and jsonl, not"),
    ({"command": "x", "format": "json", "fields": {"rule": "r"}}, "there is no message"),
    ({"command": "x", "format": "json", "fields": "m"}, "fields must be a mapping"),
    ({"command": "x", "format": "json", "fields": {"message": "a..b"}}, "column 3 of 'a..b'"),
    ({"command": "x", "format": "jsonl", "fields": FIELDS, "items": "a"}, "items goes with"),
    ({"command": "x", "format": "tap", "max_findings": {"eror": 1}}, "max_findings: 'eror' is no"),
    ({"command": "x", "format": "tap", "max_findings": {}}, "max_findings must be"),
    ({"command": "x", "format": "tap", "levels": {"a": "bad"}}, "levels.a must be one of"),
    ({"command": "x", "format": "tap", "levels": []}, "levels must be a mapping to"),
    (
        {"command": "x", "format": "sarif", "allow_empty": True},
        "junit, tap, eslint-json, not sarif",
    ),
    ({"command": "x", "format": "tap", "ran": []}, "ran must be a list of exit statuses"),
    ({"command": "x", "format": "tap", "stream": "stdout", "report": "r"}, "both say where"),
    (
        {"command": ["x"], "format": "tap", "shell": "sh"},
        "shell goes with a command that is a text",
    ),
    ({"command": "x", "format": "tap", "max_finding": 1}, "did you mean max_findings?"),
]


@pytest.mark.parametrize(("params", "message"), REFUSED, ids=[case[1][:30] for case in REFUSED])
def test_unusable_parameters_are_refused_while_reading(
    params: dict[str, Any], message: str
) -> None:
    assert message in "; ".join(map(str, FindingsCheck().problems(findings(**params))))
    with pytest.raises(CriteriaError):
        FindingsCheck().compile(findings(**params), {})


def test_limits_may_come_from_a_variable(tmp_path: Path) -> None:
    spec = findings(command="echo [1]", format="ruff-json", max_findings={"var": "most"})
    assert list(FindingsCheck().problems(spec)) == []
    FindingsCheck().compile(spec, {"most": "3"})


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed")
@pytest.mark.parametrize("form", ["json", "json-lines", "sarif", "junit"])
def test_ruff_is_read_in_each_of_its_forms(tmp_path: Path, form: str) -> None:
    (tmp_path / "m.py").write_text("import os\n")
    options = ["--isolated", "--no-cache", "--output-format", form]
    command = [sys.executable, "-m", "ruff", "check", *options, "m.py"]
    known = {"json": "ruff-json", "json-lines": "jsonl"}
    fields = {"message": "message", "rule": "code", "file": "filename", "line": "location.row"}
    params: dict[str, Any] = {"command": command, "format": known.get(form, form)}
    if form == "json-lines":
        params["fields"] = fields
    bad = rule("a.x.bad", findings(**params))
    (tmp_path / "m.py").touch()
    found = evaluate(target(tmp_path / "m.py", bad), registry(FindingsCheck()))
    message = found.results[0].message
    assert message.startswith("1 finding (1 error), at most 0 are wanted; error: ")
    assert "F401" in message
