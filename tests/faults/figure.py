"""One figure of the scorecard: how many of how many cases came out as they must."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """`good` of `total` cases held; `failures` says what the others did, one line each.

    `note` carries a measured value beside the count (a worst overrun in seconds, for example).
    """

    good: int
    total: int
    note: str = ""
    failures: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every case held, and there was one."""
        return 0 < self.total == self.good

    def to_json(self) -> dict[str, Any]:
        return {
            "good": self.good,
            "total": self.total,
            "holds": self.holds,
            "note": self.note,
            "failures": list(self.failures),
        }


# A figure's module has `figure(full)`: every case, or the sample that the suite runs too.
Measure = Callable[[bool], Figure]


def of_cases(cases: Iterable[tuple[str, Sequence[str] | None]], note: str = "") -> Figure:
    """Return the figure of cases, each with its name and with what was wrong (nothing: it held).

    A case with None did not come about and is not counted. Failures are printed on stderr as they
    come, as the cases of some figures take hours.
    """
    total, failures = 0, []
    for name, wrong in cases:
        if wrong is None:
            continue
        total += 1
        if wrong:
            failures.append(f"{name}: {'; '.join(wrong)}")
            sys.stderr.write(f"{failures[-1]}\n")
    good = total - len(failures)
    return Figure(good=good, total=total, note=note, failures=tuple(failures))
