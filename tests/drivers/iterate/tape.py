"""A log that writes into a list, under a clock that the test sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.logfile import LogFile, Verbosity
from pytest_reflex.drivers.iterate.model import FailureCause, Iteration, State, Status

START = datetime(2026, 2, 6, 10, 0, 0, tzinfo=UTC)


class Tape:
    """`lines` are what the log told; `now` is moved on by seconds."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        volume: Verbosity = Verbosity.NORMAL,
        hidden: Mapping[str, str] | None = None,
        file: LogFile | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.now = START
        self.log = Log(
            "build",
            self.lines.append,
            clock=lambda: self.now,
            as_json=as_json,
            volume=volume,
            hidden=hidden,
            file=file,
        )

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def round(self, number: int, total: int, seconds: float, *, failures: int = 0) -> None:
        """Tell a whole iteration; one with `failures` has exit status 1 and may abort at 3."""
        self.log.round_starts(number, total)
        self.wait(seconds)
        cause = FailureCause.EXIT if failures else None
        ended = Iteration(
            number=number, seconds=seconds, cause=cause, detail="exit 1" if cause else ""
        )
        self.log.report_iteration(
            ended, total, failures=failures, threshold=3, aborting=failures == 3
        )

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


def state(
    *elapsed: float, total: int = 10, failures: int = 0, status: Status = Status.COMPLETED
) -> State:
    return State(
        procedure_name="build",
        max_iterations=total,
        failure_threshold=3,
        started_at="2026-02-06T10:00:00Z",
        iteration=len(elapsed),
        consecutive_failures=failures,
        status=status,
        elapsed=elapsed,
    )
