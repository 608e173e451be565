"""One finding of another tool, and the fault of a report that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_reflex.model.plain import one_line

LEVELS = ("error", "warning", "note")
MOST = 100_000
"""Findings in one report; a tool that says more is misled rather than right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinding:
    """What a tool says of one place; `level` is the tool's own word, empty where it has none.

    `line` and `column` are 1-based, 0 where the tool gives none; `file` is as the tool writes it.
    """

    message: str
    rule: str = ""
    level: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str:
        numbers = ":".join(str(number) for number in (self.line, self.column) if number)
        if not self.file:
            return f"line {self.line}" if self.line else ""
        return f"{self.file}:{numbers}" if numbers else self.file

    @property
    def words(self) -> str:
        """What is said, without its place."""
        rule = f" [{self.rule}]" if self.rule else ""
        return one_line(" ".join(self.message.split()) + rule, 200)

    def __str__(self) -> str:
        return f"{one_line(self.place, 120)}: {self.words}" if self.place else self.words


class UnreadableError(ValueError):
    """The report is none: the message is a sentence that says why."""


class NothingRunError(UnreadableError):
    """The report is one, and says that nothing was run or looked at."""


Reader = Callable[[bytes], list[ToolFinding]]
"""Returns the findings of a whole report; raises UnreadableError where it is not one."""


def utf8(data: bytes) -> str:
    """Return the text of a report; raises UnreadableError where it is empty or no UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"the report is not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise UnreadableError("the report is empty")
    return text
