"""Which lines may hold the form of a secret, and a bound on what it costs to look closely.

Nearly every line of a long file holds none. So each form is looked for in many lines at once, and
in the lines themselves only where the many have it somewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.errors import ArtifactError

LINES_AT_ONCE = 200
PIECE = 20_000  # characters of a line that are looked at at once
OVERLAP = 4_000
MAX_WORK = 500_000_000  # steps of the detectors' patterns; about 6 s

# From each of these a pattern of the detectors runs on to the end of its line.
_GAP = re.compile(r"[\s\"'`,;{}\[\]()<>]")
_BEGINNINGS = ("sk-", "eyJ", "//")


@dataclass(frozen=True, slots=True)
class Form:
    """A detector, and its patterns as they look for it in many lines at once."""

    detector: Any
    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, detector: Any) -> Form:
        return cls(
            detector, tuple(re.compile(p.pattern, p.flags | re.M) for p in detector.denylist)
        )

    def is_in(self, lines: str) -> bool:
        return any(pattern.search(lines) for pattern in self.patterns)


def pieces_of(line: str) -> Iterator[str]:
    """Yield a line, or of a very long one pieces that share what is at their ends.

    What is no longer than `OVERLAP` is whole in one of them. They begin and end between words where
    there is such a place, so that no piece shows a form that the line has not.
    """
    begin = 0
    while len(line) - begin > PIECE:
        end = begin + PIECE
        shared = end - OVERLAP
        gaps = [shared + found.end() for found in _GAP.finditer(line[shared:end])]
        has_words = bool(gaps) and gaps[-1] - gaps[0] >= OVERLAP // 2
        yield line[begin : gaps[-1] if has_words else end]
        begin = gaps[0] if has_words else shared
    yield line[begin:]


class Purse:
    """The steps that are left; raises ArtifactError, with the line, once there are none."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def pay_for_line(self, number: int, line: str) -> None:
        self._pay(number, sum(line.count(begin) for begin in _BEGINNINGS) * len(line))

    def _pay(self, number: int, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise ArtifactError(
                "too much in it begins as a secret does to look at all of it: "
                f"it was given up at line {number}",
                hint="split the file, or use an executable check",
            )


def suspects(lines: Sequence[str], forms: Sequence[Form]) -> Iterator[tuple[int, str, Any]]:
    """Yield number, line and detector where the line, or one near it, has the detector's form.

    No line that has one is left out: a line end is to each pattern what an end of the text is.
    """
    for first in range(0, len(lines), LINES_AT_ONCE):
        some = lines[first : first + LINES_AT_ONCE]
        together = "\n".join(some)
        likely = [form.detector for form in forms if form.is_in(together)]
        for number, line in enumerate(some if likely else (), start=first + 1):
            for detector in likely:
                yield number, line, detector
