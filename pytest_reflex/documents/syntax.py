"""The one fault of a text that is not of the data language it should be."""

from __future__ import annotations

from typing import Self


class DataSyntaxError(ValueError):
    """The text is not of the language; `line` and `column` are 1-based, 0 where unknown.

    A second place is given by how the message goes on, such as ", first", and its line.
    """

    def __init__(
        self, reason: str, line: int = 0, column: int = 0, *, other: str = "", other_line: int = 0
    ) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.other = other
        self.other_line = other_line
        where = f"line {line}" + (f", column {column}" if column else "") if line else ""
        super().__init__(f"{where}: {self.message()}" if where else self.message())

    def message(self, first_line: int = 1) -> str:
        """Return what is wrong; lines in it count from the one in which the text begins."""
        if not self.other:
            return self.reason
        return f"{self.reason}{self.other} in line {first_line + self.other_line - 1}"

    @classmethod
    def at(cls, text: str, offset: int, reason: str) -> Self:
        """Return the fault of a character, given by its offset in the text."""
        line = text.count("\n", 0, offset) + 1
        return cls(reason, line, offset - text.rfind("\n", 0, offset))
