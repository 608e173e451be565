"""Reports of other tools: what is read of each form, and what is not a report at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.findings.parameters import FORMS, reader_of
from pytest_reflex.checks.findings.report import NothingRunError, ToolFinding, UnreadableReportError

FIELDS = {"message": "text", "rule": "id", "level": "kind", "file": "path", "line": "at.line"}


def read(form: str, report: Any, items: str | None = None) -> list[ToolFinding]:
    data = report if isinstance(report, bytes | str) else json.dumps(report)
    fields = FIELDS if form in ("json", "jsonl") else None
    return reader_of(form, fields, items, 1)(data.encode() if isinstance(data, str) else data)


def sarif(*results: dict[str, Any], **run: Any) -> dict[str, Any]:
    rules = [{"id": "R1"}, {"id": "R2", "defaultConfiguration": {"level": "note"}}]
    tool = {"driver": {"name": "t", "rules": rules}}
    return {"version": "2.1.0", "runs": [{"tool": tool, "results": list(results), **run}]}


SAID = {"message": {"text": "bad"}}
SPOT = {
    "physicalLocation": {
        "artifactLocation": {"uri": "file:///a%20b.py"},
        "region": {"startLine": 3, "startColumn": 7},
    }
}

CHECKSTYLE = """<?xml version="1.0"?>
<checkstyle version="8">
  <file name="a.js"><error line="2" column="4" severity="info" message="&lt;b&gt;"
    source="R"/></file>
  <file name="b.js"/>
</checkstyle>"""
JUNIT = """<testsuites><testsuite name="s" tests="3" failures="1" errors="0">
<testcase classname="C" name="t" file="t.py" line="9"><failure message="1 != 2">x</failure>
</testcase><testcase name="u"><skipped/></testcase><testcase name="v"/></testsuite></testsuites>"""

READ: list[tuple[str, Any, list[str]]] = [
    ("sarif", sarif(), []),
    ("sarif", sarif({**SAID, "ruleId": "R1", "locations": [SPOT]}), ["warning /a b.py:3:7 R1 bad"]),
    ("sarif", sarif({**SAID, "ruleIndex": 1}), ["note  R2 bad"]),
    ("sarif", sarif({**SAID, "ruleId": "R2", "level": "error"}), ["error  R2 bad"]),
    ("sarif", sarif({**SAID, "kind": "pass"}, {**SAID, "baselineState": "absent"}), []),
    ("sarif", sarif({**SAID, "suppressions": [{"kind": "inSource"}]}), []),
    ("sarif", sarif({**SAID, "suppressions": [{"status": "rejected"}]}), ["warning   bad"]),
    (
        "checkstyle",
        CHECKSTYLE,
        ["info a.js:2:4 R <b>"],
    ),
    ("checkstyle", "<checkstyle/>", []),
    (
        "junit",
        JUNIT,
        ["error t.py:9 C.t 1 != 2"],
    ),
    (
        "junit",
        '<testsuite><testcase name="t"><error>first\nsecond</error></testcase></testsuite>',
        ["error  t first"],
    ),
    ("tap", "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b\n  ---\n  at: x\n  ...\n", [" test 2 b"]),
    ("tap", "ok\nnot ok # TODO later\nnot ok 3 no # skip\n# a remark\n1..3\n", []),
    ("tap", "1..1\nnot ok\n    ok 1 - inner\n", [" test 1 not ok"]),
    ("json", [{"text": "m", "id": 7, "at": {"line": 4}, "path": "a"}], [" a:4 7 m"]),
    ("json", [], []),
    ("jsonl", "", []),
    ("jsonl", '{"text": "m", "kind": "warning"}\n\n{"text": "n"}\n', ["warning   m", "   n"]),
]


def told(found: ToolFinding) -> str:
    return " ".join((found.level, found.place, found.rule, found.message))


@pytest.mark.parametrize(
    ("form", "report", "expected"), READ, ids=[f"{i}-{c[0]}" for i, c in enumerate(READ)]
)
def test_findings_are_read(form: str, report: Any, expected: list[str]) -> None:
    squeezed = [" ".join(told(found).split()) for found in read(form, report)]
    assert squeezed == [" ".join(line.split()) for line in expected]


TOOLS: list[tuple[str, Any, str]] = [
    (
        "ruff-json",
        [{"code": "F401", "filename": "a.py", "location": {"row": 1, "column": 8}, "message": "m",
          "severity": "error"}],
        "error a.py:1:8 F401 m",
    ),
    ("ruff-json", [{"code": None, "filename": "a.py", "message": "no"}], "a.py no"),
    (
        "eslint-json",
        [{"filePath": "ok.js", "messages": []},
         {"filePath": "a.js", "messages": [
             {"ruleId": "eqeqeq", "severity": 1, "message": "m", "line": 2, "column": 3}]}],
        "warning a.js:2:3 eqeqeq m",
    ),
    (
        "markdownlint-json",
        [{"fileName": "a.md", "lineNumber": 3, "ruleNames": ["MD013", "line-length"],
          "ruleDescription": "Line length", "errorRange": [81, 9]}],
        "a.md:3:81 MD013 Line length",
    ),
    (
        "spectral-json",
        [{"code": "info-contact", "path": ["info"], "message": "m", "severity": 2,
          "range": {"start": {"line": 0, "character": 0}}, "source": "/a.yaml"}],
        "note /a.yaml:1:1 info-contact m",
    ),
    (
        "hadolint-json",
        [{"line": 1, "code": "DL3006", "message": "m", "column": 1, "file": "Dockerfile",
          "level": "style"}],
        "style Dockerfile:1:1 DL3006 m",
    ),
    (
        "shellcheck-json",
        [{"file": "a.sh", "line": 2, "column": 3, "level": "info", "code": 2086, "message": "m"}],
        "info a.sh:2:3 2086 m",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("form", "report", "expected"), TOOLS, ids=[case[0] for case in TOOLS])
def test_the_json_of_a_tool_is_read_by_its_name(form: str, report: Any, expected: str) -> None:
    (found,) = read(form, report)
    assert " ".join(told(found).split()) == expected
    if form != "eslint-json":
        assert read(form, []) == []


def test_f38_a_line_of_jsonl_ends_at_a_line_feed_only() -> None:
    texts = ["a\u2028b", "c\x85d", "e\x0cf"]
    report = "\r\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts[:2])
    assert [found.message for found in read("jsonl", report)] == texts[:2]
    assert read("tap", "1..1\nok 1 - a\u2028not ok 2 - b\n") == []


SKIPPED = '<testsuite tests="2"><testcase name="a"><skipped/></testcase>{}</testsuite>'
NOTHING_RUN: list[tuple[str, Any, str]] = [
    ("junit", SKIPPED.format('<testcase name="b" status="notrun"/>'), "all 2 are skipped"),
    ("junit", "<testsuites/>", "the JUnit report has no test"),
    ("tap", "1..2\nok 1 # SKIP\nok 2 # skip no net\n", "all 2 are marked SKIP or TODO"),
    ("tap", "1..1\nnot ok 1 later # TODO\n", "all 1 are marked SKIP or TODO"),
    ("tap", "1..0 # SKIP\n", "no test was run"),
    ("eslint-json", [], "no file was looked at"),
]


@pytest.mark.parametrize(
    ("form", "report", "message"), NOTHING_RUN, ids=[f"{c[0]}-{c[2][:9]}" for c in NOTHING_RUN]
)
def test_a_report_by_which_nothing_was_run_has_not_judged(
    form: str, report: Any, message: str
) -> None:
    with pytest.raises(NothingRunError, match=message):
        read(form, report)


HIDDEN = [
    '<testsuite name="s" tests="9">{}</testsuite>',
    '<testsuites name="s" tests="9"><testsuite tests="1">{}</testsuite></testsuites>',
]


@pytest.mark.parametrize("report", HIDDEN, ids=["suite", "suites"])
def test_tests_that_a_junit_report_tells_of_have_to_be_in_it(report: str) -> None:
    with pytest.raises(
        UnreadableReportError, match="the suite 's' declares 9 tests and contains 1"
    ):
        read("junit", report.format('<testcase name="a"/>'))


def test_pytest_counts_subtests_and_shows_the_test_that_they_are_in() -> None:
    suite = '<testsuite name="{}" tests="4"><testcase name="a"/></testsuite>'
    assert read("junit", suite.format("pytest")) == []
    inside = f'<testsuites name="pytest tests">{suite.format("mine")}</testsuites>'
    assert read("junit", inside) == []


DEEP = "<checkstyle>" + "<a>" * 200 + "</a>" * 200 + "</checkstyle>"
BOMB = '<!DOCTYPE b [<!ENTITY a "aaaa"><!ENTITY c "&a;&a;">]><checkstyle>&c;</checkstyle>'
ENTITY = '<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><checkstyle>&a;</checkstyle>'

NO_REPORT: list[tuple[str, Any, str]] = [
    ("sarif", {}, "not a SARIF log of version 2.1.0"),
    ("sarif", {"version": "2.1.0", "runs": []}, "the SARIF log has no runs"),
    (
        "sarif",
        {"version": "2.1.0", "runs": [{}]},
        "has no results: the tool did not check anything",
    ),
    ("sarif", {"version": "2.1.0", "runs": [3]}, "a run in the SARIF log is not a map"),
    ("sarif", sarif(invocations=[{"executionSuccessful": False}]), "that it did not succeed"),
    ("sarif", sarif({"ruleId": "R1"}), "has no message: {'ruleId': 'R1'}"),
    ("sarif", "[[", "the report is not JSON: "),
    ("checkstyle", "<html/>", "not a checkstyle report, but <html>"),
    ("checkstyle", "<checkstyle><file", "the report is not XML: "),
    ("checkstyle", DEEP, "nested deeper than 100 levels"),
    ("checkstyle", BOMB, "declares a document type"),
    ("checkstyle", ENTITY, "declares a document type"),
    ("checkstyle", "<checkstyle><file name='a'><error/></file></checkstyle>", "has no message"),
    (
        "checkstyle",
        "<checkstyle><file name='a'><exception>boom</exception></file></checkstyle>",
        "the tool failed at a: boom",
    ),
    ("junit", "<checkstyle/>", "not a JUnit report, but <checkstyle>"),
    ("junit", "<testsuites/>", "has no test"),
    (
        "junit",
        '<testsuite name="s" failures="2"><testcase name="t"/></testsuite>',
        "the suite 's' declares 2 failures and contains 0",
    ),
    ("tap", "ok 1\n", "has no plan"),
    ("tap", "1..3\nok 1\nok 2\n", "3 tests were planned, 2 are reported"),
    ("tap", "1..2\nok 1\nok 3\n", "test 3 comes where test 2 is expected"),
    ("tap", "1..1\n1..1\nok\n", "two plans"),
    ("tap", "1..0 # SKIP all\n", "no test was run"),
    ("tap", "1..2\nok 1\nBail out! no disk\n", "the tests were given up: no disk"),
    ("tap", "okay then\n1..1\n", "1 tests were planned, 0 are reported"),
    ("json", {"text": "m"}, "no list of findings: the document is not a list"),
    ("json", ["m"], "a finding in the report is not a map, but 'm'"),
    ("sarif", sarif({"message": "m"}), "the report is not built as a SARIF log"),
    ("sarif", sarif({**SAID, "suppressions": [1]}), "the report is not built as a SARIF log"),
    ("json", '"m"', "the report is not a list of findings, but 'm'"),
    ("json", [{"id": 1}], "a finding in the report has no text 'text'"),
    ("json", [{"text": "m", "at": {"line": "x"}}], "'at.line' is not a number: 'x'"),
    ("jsonl", '{"text": "m"}\nnot json\n', "line 2 of the report is not JSON"),
    ("ruff-json", {"error": "broken"}, "no list of findings"),
]


@pytest.mark.parametrize(
    ("form", "report", "why"), NO_REPORT, ids=[f"{i}-{c[0]}" for i, c in enumerate(NO_REPORT)]
)
def test_what_is_no_report_is_refused(form: str, report: Any, why: str) -> None:
    with pytest.raises(UnreadableReportError) as caught:
        read(form, report)
    assert why in str(caught.value)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "jsonl"])
@pytest.mark.parametrize("report", [b"", b" \n", b"\xff\xfe\x00"], ids=["empty", "blank", "binary"])
def test_nothing_and_noise_are_no_report(form: str, report: bytes) -> None:
    with pytest.raises(UnreadableReportError):
        read(form, report)


@pytest.mark.long
@given(st.sampled_from(tuple(FORMS)), st.one_of(st.binary(max_size=60), st.text(max_size=60)))
@settings(deadline=None, max_examples=150)
def test_noise_is_refused_and_breaks_nothing(form: str, report: Any) -> None:
    try:
        assert read(form, report) in ([], read(form, report))
    except UnreadableReportError:
        return


def test_the_list_of_findings_has_to_be_there() -> None:
    assert read("json", {"issues": []}, "issues.*") == []
    assert len(read("json", {"issues": [{"text": "m"}]}, "issues.*")) == 1
    with pytest.raises(UnreadableReportError, match=r"nothing is at items 'issues\.\*'"):
        read("json", {"error": "x"}, "issues.*")
