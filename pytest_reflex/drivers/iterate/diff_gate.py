"""A gate of kind `diff`: what one iteration may touch, by the files and lines that it changed.

Promises: what cannot be counted is an error and no pass. Limits: only the iteration itself is
judged; what an earlier one has changed stays changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    Measurement,
    MeasurementStatus,
    failure,
)
from pytest_reflex.drivers.iterate.listing import CannotTellError
from pytest_reflex.drivers.iterate.model import Gate
from pytest_reflex.drivers.iterate.tree_changes import TreeChanges
from pytest_reflex.errors import UsageError
from pytest_reflex.integrity.patterns import is_meant
from pytest_reflex.model.plain import counted, one_line

_SHOWN = 3


class DiffGate:
    """Compares the tree before and after the agent of an iteration; see `before` and `after`."""

    def __init__(self, gate: Gate, project: Path, exclude: Iterable[str]) -> None:
        check_patterns(gate.deny, "deny")
        self._gate = gate
        self._found = failure("the tree was not looked at before the iteration")
        self._changes = TreeChanges(
            project, exclude, always=gate.deny, with_lines=gate.max_lines is not None
        )

    def before(self) -> None:
        """Look at the tree before the agent."""
        try:
            self._changes.begin()
            self._found = failure("the tree was not looked at after the agent")
        except CannotTellError as error:
            self._found = _cannot(error)

    def after(self) -> None:
        """Look at the tree right after the agent: what gates write behind it is not its work."""
        try:
            self._found = self._compared()
        except CannotTellError as error:
            self._found = _cannot(error)

    def __call__(self, attempt: Attempt) -> Measurement:
        return self._found

    def _compared(self) -> Measurement:
        gate, changed = self._gate, self._changes.end()
        reasons = [*_refusal(gate, changed)]
        told = f"changed {counted(len(changed), 'file')}"
        if gate.max_lines is not None:
            try:
                number, exact = self._changes.changed_lines(gate.max_lines)
            except CannotTellError:
                if not reasons:
                    raise
                number, exact = 0, False
            lines = counted(number, "line")
            told = f"{told}, {lines}"
            if number > gate.max_lines:
                least = "" if exact else "at least "
                reasons.append(f"changed {least}{lines}, at most {gate.max_lines} allowed")
        status = MeasurementStatus.FAILED if reasons else MeasurementStatus.PASSED
        return Measurement(
            status=status,
            summary=one_line("; ".join(reasons) or told, SUMMARY),
            evidence="\n".join(map(one_line, changed)),
        )


def check_patterns(patterns: Iterable[str], key: str) -> None:
    """Raise UsageError for a pattern that means nothing in the project."""
    for pattern in patterns:
        if PurePath(pattern).is_absolute() or ".." in PurePath(pattern).parts:
            raise UsageError(
                f"{key}: {one_line(pattern)!r} leads out of the project",
                hint="patterns start at the project's folder",
            )


def _refusal(gate: Gate, changed: tuple[str, ...]) -> Iterable[str]:
    if gate.max_files is not None and len(changed) > gate.max_files:
        yield f"changed {counted(len(changed), 'file')}, at most {gate.max_files} allowed"
    if denied := [name for name in changed if is_meant(name, gate.deny)]:
        shown = ", ".join(one_line(name) for name in denied[:_SHOWN])
        more = f" and {len(denied) - _SHOWN} more" if len(denied) > _SHOWN else ""
        yield f"changed {shown}{more}, which the gate denies"


def _cannot(error: CannotTellError) -> Measurement:
    return failure(f"the changes cannot be determined: {error}")
