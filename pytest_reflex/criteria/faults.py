"""Problems of one criteria file, gathered while it is read, each with its line and column."""

from __future__ import annotations

from typing import NoReturn

from pytest_reflex.errors import CriteriaError, Place, Problem

Spot = tuple[int, int]
"""Line and column, 1-based; (0, 0) where the position is not known."""

NOWHERE: Spot = (0, 0)
MOST_PROBLEMS = 100


class Faults:
    """Gathers what is wrong with one file, so that a user sees all of it at once.

    `path` is how messages name the file; `text` is its content, for hints that need the line.
    `controls` is whether a text in it may hold control characters (most files need no look).
    """

    def __init__(self, path: str, text: str = "") -> None:
        self.path = path
        self.text = text
        self.controls = False
        self.found: list[Problem] = []
        self._lines: list[str] | None = None
        self._settled: dict[Spot, str] = {}

    def place(self, spot: Spot) -> Place:
        # Twice as fast as Place(...), and every rule and check has one.
        return tuple.__new__(Place, (self.path, *spot))

    def add(self, message: str, spot: Spot = NOWHERE, *, hint: str = "", rule_id: str = "") -> None:
        """Note one problem; nothing where the value at `spot` was refused already."""
        if spot in self._settled:
            return
        if len(self.found) >= MOST_PROBLEMS:
            self._stop_counting()
        self.found.append(
            Problem(message=message, place=self.place(spot), hint=hint, rule_id=rule_id)
        )

    def _stop_counting(self) -> NoReturn:
        hint = "fix these first"
        more = Problem(message="there are more problems", place=Place(self.path), hint=hint)
        raise CriteriaError([*in_order(self.found), more])

    def refuse(
        self, message: str, spot: Spot, *, hint: str = "", rule_id: str = "", as_value: str = ""
    ) -> None:
        """Note that the value at `spot` is unusable; whoever looks at it later stays silent.

        `as_value` is what is said of it once its key is known, where that is another sentence.
        """
        self.add(message, spot, hint=hint, rule_id=rule_id)
        self._settled[spot] = as_value

    def retell_number(self, key: str, spot: Spot, *, rule_id: str = "") -> bool:
        """Tell a number that was refused as the value of `key`; False where none was."""
        if spot not in self._settled:
            return False
        place = self.place(spot)
        for index, old in enumerate(self.found):
            if old.place == place:
                as_value = self._settled[spot]
                message = f"{key} {as_value}" if as_value else f"{key}: {old.message}"
                self.found[index] = Problem(message=message, place=place, rule_id=rule_id)
        return True

    def stop(self, message: str, spot: Spot = NOWHERE, *, hint: str = "") -> NoReturn:
        """Note a problem after which nothing more can be read; raises CriteriaError."""
        self.add(message, spot, hint=hint)
        raise CriteriaError(in_order(self.found))

    def line(self, number: int) -> str:
        """Return a line of the file by its 1-based number; empty where there is none."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""


def in_order(problems: list[Problem]) -> list[Problem]:
    """Return the problems by line and column, files in the order in which they appear."""
    files: dict[str, int] = {}
    for problem in problems:
        files.setdefault(problem.place.path if problem.place else "", len(files))

    def key(problem: Problem) -> tuple[int, int, int]:
        place = problem.place or Place("")
        return files[place.path], place.line, place.column

    unique = {(str(problem), problem.place): problem for problem in problems}
    return sorted(unique.values(), key=key)
