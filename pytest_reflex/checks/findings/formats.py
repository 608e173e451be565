"""Report formats beside plain JSON: SARIF, TAP, checkstyle, JUnit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import unquote

from pytest_reflex.checks.findings.report import (
    MOST,
    NothingRunError,
    ToolFinding,
    UnreadableReportError,
    utf8,
)
from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError

_NO_FINDING = ("pass", "notApplicable", "informational")


def read_sarif(data: bytes) -> list[ToolFinding]:
    """Return the findings of a SARIF log; raises UnreadableReportError where it is none, or says
    that the tool did not come to its end.
    """
    text = utf8(data)
    try:
        log = read_data(text, "json")[0].value
    except (DataSyntaxError, ArtifactError) as error:
        raise UnreadableReportError(f"the report is not JSON: {error}") from None
    if not isinstance(log, dict) or log.get("version") != "2.1.0":
        raise UnreadableReportError("the report is not a SARIF log of version 2.1.0")
    runs = log.get("runs")
    if not isinstance(runs, list) or not runs:
        raise UnreadableReportError("the SARIF log has no runs")
    found: list[ToolFinding] = []
    for run in runs:
        try:
            found += _findings(_map(run, "a run"))
        except (AttributeError, TypeError):
            raise UnreadableReportError("the report is not built as a SARIF log is") from None
        if len(found) > MOST:
            raise UnreadableReportError(f"the report has more than {MOST:,} findings")
    return found


def _findings(run: dict[str, Any]) -> Iterator[ToolFinding]:
    for invocation in run.get("invocations") or ():
        if _map(invocation, "an invocation").get("executionSuccessful") is False:
            raise UnreadableReportError("the tool says in its SARIF log that it did not succeed")
    results = run.get("results")
    if not isinstance(results, list):
        raise UnreadableReportError(
            "a run in the SARIF log has no results: the tool did not check anything"
        )
    rules = _rules(run)
    for result in results:
        result = _map(result, "a result")
        if not _is_dismissed(result):
            yield _finding(result, rules)


def _is_dismissed(result: dict[str, Any]) -> bool:
    suppressions = result.get("suppressions") or ()
    accepted = [s.get("status", "accepted") == "accepted" for s in suppressions]
    gone = result.get("baselineState") == "absent" or result.get("kind") in _NO_FINDING
    return gone or (bool(accepted) and all(accepted))


def _finding(result: dict[str, Any], rules: list[Any]) -> ToolFinding:
    reference = result.get("rule") or {}
    index = result.get("ruleIndex", reference.get("index", -1))
    rule = rules[index] if isinstance(index, int) and 0 <= index < len(rules) else {}
    name = result.get("ruleId") or reference.get("id") or rule.get("id") or ""
    if not rule:
        rule = next((each for each in rules if each.get("id") == name), {})
    default = (rule.get("defaultConfiguration") or {}).get("level", "warning")
    message = result.get("message") or {}
    text = message.get("text") or message.get("markdown") or _template(message, rule)
    if not isinstance(text, str) or not text.strip():
        raise UnreadableReportError(f"a result in the SARIF log has no message: {str(result)[:60]}")
    file, line, column = _place(result)
    return ToolFinding(
        message=text,
        rule=str(name),
        level=str(result.get("level", default)),
        file=file,
        line=line,
        column=column,
    )


def _template(message: dict[str, Any], rule: dict[str, Any]) -> Any:
    strings = rule.get("messageStrings") or {}
    return (strings.get(message.get("id")) or {}).get("text")


def _place(result: dict[str, Any]) -> tuple[str, int, int]:
    locations = result.get("locations") or [{}]
    physical = _map(locations[0], "a location").get("physicalLocation") or {}
    uri = str((physical.get("artifactLocation") or {}).get("uri", ""))
    region = physical.get("region") or {}
    numbers = [region.get(key, 0) for key in ("startLine", "startColumn")]
    line, column = (n if isinstance(n, int) and n > 0 else 0 for n in numbers)
    return unquote(uri.removeprefix("file://")), line, column


def _rules(run: dict[str, Any]) -> list[Any]:
    driver = (run.get("tool") or {}).get("driver") or {}
    return [_map(rule, "a rule") for rule in driver.get("rules") or ()]


def _map(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableReportError(f"{what} in the SARIF log is not a map")
    return value


_RESULT = re.compile(r"(not )?ok(?: +(\d{1,9}))?(?: +-)?(?: +(.*))?")
_PLAN = re.compile(r"1\.\.(\d{1,9})(?: *#(.*))?")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(todo|skip\S*)\b", re.IGNORECASE)
_BAIL = re.compile(r"bail out!(.*)", re.IGNORECASE)


def read_tap(data: bytes) -> list[ToolFinding]:
    """Return the tests that are not ok; the rule is `test N`, the message the description.

    What is marked TODO or SKIP is not a finding, and was not run. What is indented (subtests, YAML)
    belongs to the test before it. Raises UnreadableReportError without a plan, on fewer or more
    tests than planned, on a test out of order and on "Bail out!"; NothingRunError where no test was
    run.
    """
    planned: int | None = None
    count, ran, found = 0, 0, []
    for line in utf8(data).split("\n"):
        if bail := _BAIL.fullmatch(line.rstrip()):
            raise UnreadableReportError(
                f"the tests were given up: {bail[1].strip() or 'Bail out!'}"
            )
        if plan := _PLAN.fullmatch(line.rstrip()):
            if planned is not None:
                raise UnreadableReportError("the TAP report has two plans")
            planned = int(plan[1])
        elif result := _RESULT.fullmatch(line.rstrip()):
            count += 1
            if result[2] and int(result[2]) != count:
                raise UnreadableReportError(
                    f"test {result[2]} comes where test {count} is expected"
                )
            description = result[3] or ""
            if _DIRECTIVE.search(description):
                continue
            ran += 1
            if result[1]:
                found.append(ToolFinding(message=description or "not ok", rule=f"test {count}"))
    _refuse_gap(planned, count, ran)
    return found


def _refuse_gap(planned: int | None, count: int, ran: int) -> None:
    if planned is None:
        raise UnreadableReportError("the TAP report has no plan (1..N)")
    if planned != count:
        raise UnreadableReportError(f"{planned} tests were planned, {count} are reported")
    if not ran:
        marked = f": all {count} are marked SKIP or TODO" if count else ""
        raise NothingRunError(f"no test was run{marked}")


MAX_DEPTH = 100


@dataclass(slots=True)
class Element:
    """An element with its attributes, its children, and the text directly in it."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def below(self, *names: str) -> list[Element]:
        """Return the children of these names."""
        return [child for child in self.children if child.name in names]


def read_xml(data: bytes) -> Element:
    """Return the root of an XML document; raises UnreadableReportError where it is none."""
    from xml.parsers.expat import ExpatError, ParserCreate

    if not data.strip():
        raise UnreadableReportError("the report is empty")
    top = Element("", {})
    open_elements = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MAX_DEPTH:
            raise UnreadableReportError(f"the report is nested deeper than {MAX_DEPTH} levels")
        element = Element(name.rpartition(":")[2], attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def text(words: str) -> None:
        open_elements[-1].text += words

    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: open_elements.pop()
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(data.lstrip(), True)
    except ExpatError as error:
        raise UnreadableReportError(f"the report is not XML: {error}") from None
    except (LookupError, ValueError) as error:
        raise UnreadableReportError(str(error)) from None
    return top.children[0]


def number_in(element: Element, name: str) -> int:
    """Return an attribute that is a whole number >= 0; 0 where there is none."""
    value = element.attributes.get(name, "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0


def _refuse(*_: Any) -> NoReturn:
    raise UnreadableReportError("the report declares a document type (DOCTYPE), which is not read")


_BY_PYTEST = ("pytest", "pytest tests")
_NOT_RUN = ("notrun", "skipped", "disabled")


def read_checkstyle(data: bytes) -> list[ToolFinding]:
    """Return the errors of a checkstyle report; raises UnreadableReportError where it is none."""
    root = read_xml(data)
    if root.name != "checkstyle":
        raise UnreadableReportError(f"the report is not a checkstyle report, but <{root.name}>")
    found = []
    for file in root.below("file"):
        if broken := file.below("exception"):
            why = " ".join(broken[0].text.split())[:120]
            raise UnreadableReportError(f"the tool failed at {file.attributes.get('name')}: {why}")
        found += [_checkstyle(error, file) for error in file.below("error")]
    return found


def _checkstyle(error: Element, file: Element) -> ToolFinding:
    message = error.attributes.get("message", "")
    if not message.strip():
        raise UnreadableReportError("an error in the checkstyle report has no message")
    return ToolFinding(
        message=message,
        rule=error.attributes.get("source", ""),
        level=error.attributes.get("severity", ""),
        file=file.attributes.get("name", ""),
        line=number_in(error, "line"),
        column=number_in(error, "column"),
    )


def read_junit(data: bytes) -> list[ToolFinding]:
    """Return the failures and errors of a JUnit report, the rule being the name of the test.

    Raises UnreadableReportError where it is none, or declares more tests or failures than it
    contains; NothingRunError where no test was run.
    """
    root = read_xml(data)
    if root.name not in ("testsuites", "testsuite"):
        raise UnreadableReportError(f"the report is not a JUnit report, but <{root.name}>")
    suites = list(_suites(root))
    cases = [(suite, case) for suite in suites for case in suite.below("testcase")]
    # pytest counts each subtest, and shows the test that it is in.
    by_pytest = any(each.attributes.get("name") in _BY_PYTEST for each in (root, *suites))
    for suite in {id(each): each for each in (root, *suites)}.values():
        _refuse_hidden(suite, counts_tests=not by_pytest)
    if not cases:
        raise NothingRunError("the JUnit report has no test")
    if not any(_was_run(case) for _, case in cases):
        raise NothingRunError(f"no test was run: all {len(cases)} are skipped")
    return [
        _junit(fault, case, suite)
        for suite, case in cases
        for fault in case.below("failure", "error")
    ]


def _suites(element: Element) -> Iterator[Element]:
    if element.name == "testsuite":
        yield element
    for child in element.below("testsuite"):
        yield from _suites(child)


def _refuse_hidden(suite: Element, *, counts_tests: bool) -> None:
    name = suite.attributes.get("name", "")
    cases = [case for inner in _suites(suite) for case in inner.below("testcase")]
    tests = number_in(suite, "tests")
    if counts_tests and tests > len(cases):
        raise UnreadableReportError(
            f"the suite {name!r} declares {tests} tests and contains {len(cases)}"
        )
    shown = sum(len(case.below("failure", "error")) for case in cases)
    declared = number_in(suite, "failures") + number_in(suite, "errors")
    if declared > shown:
        raise UnreadableReportError(
            f"the suite {name!r} declares {declared} failures and contains {shown}"
        )


def _was_run(case: Element) -> bool:
    # GoogleTest marks what it did not run by an attribute alone.
    return not case.below("skipped") and case.attributes.get("status") not in _NOT_RUN


def _junit(fault: Element, case: Element, suite: Element) -> ToolFinding:
    names = [case.attributes.get(key, "") for key in ("classname", "name")]
    text = fault.attributes.get("message") or fault.text.strip().partition("\n")[0]
    return ToolFinding(
        message=text or fault.attributes.get("type") or f"a test has a {fault.name}",
        rule=".".join(name for name in names if name),
        level="error",
        file=case.attributes.get("file") or suite.attributes.get("file", ""),
        line=number_in(case, "line"),
        column=number_in(case, "column"),
    )
