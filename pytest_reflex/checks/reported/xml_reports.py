"""Reports that are XML: checkstyle and JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reflex.checks.reported.finding import NothingRunError, ToolFinding, UnreadableError
from pytest_reflex.checks.reported.xml_tree import Element, number_in, read_xml

_BY_PYTEST = ("pytest", "pytest tests")
_NOT_RUN = ("notrun", "skipped", "disabled")


def read_checkstyle(data: bytes) -> list[ToolFinding]:
    """Return the errors of a checkstyle report; raises UnreadableError where it is none."""
    root = read_xml(data)
    if root.name != "checkstyle":
        raise UnreadableError(f"the report is not a checkstyle report, but <{root.name}>")
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

    Raises UnreadableError where it is none, or tells of more tests or failures than it shows;
    NothingRunError where no test was run.
    """
    root = read_xml(data)
    if root.name not in ("testsuites", "testsuite"):
        raise UnreadableError(f"the report is not a JUnit report, but <{root.name}>")
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
        raise UnreadableError(f"the suite {name!r} tells of {tests} tests and shows {len(cases)}")
    shown = sum(len(case.below("failure", "error")) for case in cases)
    told = number_in(suite, "failures") + number_in(suite, "errors")
    if told > shown:
        raise UnreadableError(f"the suite {name!r} tells of {told} failures and shows {shown}")


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
