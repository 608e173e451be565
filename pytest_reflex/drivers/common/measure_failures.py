"""How many failures a command reports: read from the summary of a test runner or a linter. Pure.

Two numbers can be compared only where they were counted in the same way, behind the same exit
status: a test run that breaks off reports fewer failures, and is no better for that.
Limits: only the end of an output is read; a command whose summary nobody knows has one failure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pytest_reflex.checks.output import text_of
from pytest_reflex.drivers.common.measure import Measurement, Reader, by_exit_status
from pytest_reflex.model.plain import readable
from pytest_reflex.process.run import Finished
from pytest_reflex.search.patterns import SearchError, compile_pattern

_TAIL = 64 * 1024
_MOST_DIGITS = 12  # nobody counts further
_MOST_MATCHES = 100_000
_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Summary:
    """The line in which a tool sums up, and the numbers in it that count.

    The last such line does, or `every` one. Without `number` each line is one failure.
    """

    tool: str
    line: re.Pattern[str]
    number: re.Pattern[str] | None
    every: bool = False

    def count(self, text: str) -> int | None:
        lines = [match[0] for match in self.line.finditer(text)]
        if not lines:
            return None
        if self.number is None:
            return len(lines)
        counted = lines if self.every else lines[-1:]
        numbers = [number for line in counted for number in self.number.findall(line)]
        return None if any(map(_is_absurd, numbers)) else sum(map(int, numbers))


def _summary(tool: str, line: str, number: str = "", *, every: bool = False) -> _Summary:
    flags = re.MULTILINE | re.ASCII
    return _Summary(tool, re.compile(line, flags), re.compile(number) if number else None, every)


_SUMMARIES = (
    _summary("pytest", r"^(?:=+ )?\d+ [a-z]+\b.* in \d[\d.]*s\b.*$", r"(\d+) (?:failed|errors?)\b"),
    _summary("unittest", r"^FAILED \(.*\)$", r"(?:failures|errors|unexpected successes)=(\d+)"),
    _summary("cargo", r"^test result: .*$", r"(\d+) failed", every=True),
    _summary("jest", r"^\s*Tests:? +\d+ .*$", r"(\d+) failed"),
    _summary("phpunit", r"^Tests: \d+, .*$", r"(?:Failures|Errors): (\d+)"),
    _summary("rspec", r"^\d+ examples?, .*$", r"(\d+) (?:failures?|errors?)\b"),
    _summary("mocha", r"^\s*\d+ failing$", r"(\d+)"),
    _summary("node", r"^\S+ fail \d+$", r"(\d+)"),
    _summary("eslint", r"^\S \d+ problems? \(.*$", r"(\d+) problem"),
    _summary("linter", r"^Found \d+ (?:errors?|issues?|diagnostics?)\b.*$", r"Found (\d+)"),
    _summary("go", r"^\s*--- FAIL: .*$"),
)


def count_failures(text: str, pattern: str = "") -> tuple[str, int] | None:
    """Return how failures are counted in an output, and how many; None where nobody can tell.

    Of a `pattern` the last match counts: the numbers in its groups, or without groups each match.
    """
    text = readable(text)
    if pattern:
        return _by_pattern(text, pattern)
    for summary in _SUMMARIES:
        if (number := summary.count(text)) is not None:
            return summary.tool, number
    return None


def _by_pattern(text: str, pattern: str) -> tuple[str, int] | None:
    number = re.compile(pattern).groups
    template = "\n".join(rf"\{one}" for one in range(1, number + 1))
    try:
        found = compile_pattern(pattern, key="failures").expanded(
            text, template, limit=_MOST_MATCHES, seconds=_SECONDS
        )
    except SearchError:
        return None
    if not found:
        return None
    groups = [group for group in found[-1][2].split("\n") if group]
    if any(_is_absurd(group) or not group.isascii() or not group.isdigit() for group in groups):
        return None
    return pattern, sum(map(int, groups)) if number else len(found)


def _is_absurd(number: str) -> bool:
    return len(number) > _MOST_DIGITS


def by_failures(pattern: str = "") -> Reader:
    """Return what reads a command by its exit status, and counts what it reports as failed."""

    def read(finished: Finished) -> Measurement:
        found = by_exit_status(finished)
        if found.passed:
            return replace(found, failures=("pass", 0))
        said = b"\n".join((finished.stdout[-_TAIL:], finished.stderr[-_TAIL:]))
        how, number = count_failures(text_of(said), pattern) or ("exit status", 1)
        return replace(found, failures=(f"{how} {finished.returncode}", max(number, 1)))

    return read
