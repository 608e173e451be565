"""TAP, versions 12 to 14: the tests that are not ok, if there are as many as were planned."""

from __future__ import annotations

import re

from pytest_reflex.checks.reported.finding import (
    NothingRunError,
    ToolFinding,
    UnreadableError,
    utf8,
)

_RESULT = re.compile(r"(not )?ok(?: +(\d{1,9}))?(?: +-)?(?: +(.*))?")
_PLAN = re.compile(r"1\.\.(\d{1,9})(?: *#(.*))?")
_DIRECTIVE = re.compile(r"(?<!\\)#\s*(todo|skip\S*)\b", re.IGNORECASE)
_BAIL = re.compile(r"bail out!(.*)", re.IGNORECASE)


def read_tap(data: bytes) -> list[ToolFinding]:
    """Return the tests that are not ok; the rule is `test N`, the message the description.

    What is marked TODO or SKIP is not a finding, and was not run. What is indented (subtests, YAML)
    belongs to the test before it. Raises UnreadableError without a plan, on fewer or more tests
    than planned, on a test out of order and on "Bail out!"; NothingRunError where no test was run.
    """
    planned: int | None = None
    count, ran, found = 0, 0, []
    for line in utf8(data).split("\n"):
        if bail := _BAIL.fullmatch(line.rstrip()):
            raise UnreadableError(f"the tests were given up: {bail[1].strip() or 'Bail out!'}")
        if plan := _PLAN.fullmatch(line.rstrip()):
            if planned is not None:
                raise UnreadableError("the TAP report has two plans")
            planned = int(plan[1])
        elif result := _RESULT.fullmatch(line.rstrip()):
            count += 1
            if result[2] and int(result[2]) != count:
                raise UnreadableError(f"test {result[2]} stands where test {count} should")
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
        raise UnreadableError("the TAP report has no plan (1..N)")
    if planned != count:
        raise UnreadableError(f"{planned} tests were planned, {count} are reported")
    if not ran:
        marked = f": all {count} are marked SKIP or TODO" if count else ""
        raise NothingRunError(f"no test was run{marked}")
