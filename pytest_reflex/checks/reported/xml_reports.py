"""Reports that are XML: checkstyle and JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reflex.checks.reported.finding import ToolFinding, UnreadableError
from pytest_reflex.checks.reported.xml_tree import Element, number_in, read_xml


def read_checkstyle(data: bytes) -> list[ToolFinding]:
    """Return the errors of a checkstyle report; raises UnreadableError where it is none."""
    root = read_xml(data)
    if root.name != "checkstyle":
        raise UnreadableError(f"the report is no checkstyle report, but <{root.name}>")
    found = []
    for file in root.below("file"):
        if broken := file.below("exception"):
            why = " ".join(broken[0].text.split())[:120]
            raise UnreadableError(f"the tool failed at {file.attributes.get('name')}: {why}")
        found += [_checkstyle(error, file) for error in file.below("error")]
    return found


def _checkstyle(error: Element, file: Element) -> ToolFinding:
    message = error.attributes.get("message", "")
    if not message.strip():
        raise UnreadableError("an error in the checkstyle report has no message")
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

    Raises UnreadableError where it is none, has no test, or tells of more than it shows.
    """
    root = read_xml(data)
    if root.name not in ("testsuites", "testsuite"):
        raise UnreadableError(f"the report is no JUnit report, but <{root.name}>")
    suites = list(_suites(root))
    cases = [(suite, case) for suite in suites for case in suite.below("testcase")]
    if not cases:
        raise UnreadableError("the JUnit report has no test")
    for suite in suites:
        _refuse_hidden(suite)
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


def _refuse_hidden(suite: Element) -> None:
    cases = [case for inner in _suites(suite) for case in inner.below("testcase")]
    shown = sum(len(case.below("failure", "error")) for case in cases)
    told = number_in(suite, "failures") + number_in(suite, "errors")
    if told > shown:
        name = suite.attributes.get("name", "")
        raise UnreadableError(f"the suite {name!r} tells of {told} failures and shows {shown}")


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
