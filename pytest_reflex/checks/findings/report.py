"""Findings of another tool: which count, under which level, and whether there are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_reflex.model.plain import one_line, pluralize

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


class UnreadableReportError(ValueError):
    """The report is none: the message is a sentence that says why."""


class NothingRunError(UnreadableReportError):
    """The report is one, and says that nothing was run or looked at."""


Reader = Callable[[bytes], list[ToolFinding]]
"""Returns the findings of a whole report; raises UnreadableError where it is not one."""


def utf8(data: bytes) -> str:
    """Return the text of a report; raises UnreadableReportError where it is empty or no UTF-8."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableReportError(f"the report is not UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise UnreadableReportError("the report is empty")
    return text


IGNORE = "ignore"
ALL = "all"
_WORDS = {
    "error": ("error", "err", "fatal", "critical", "blocker", "failure", "high"),
    "warning": ("warning", "warn", "medium", "major"),
    "note": (
        *("note", "info", "information", "informational", "style", "hint", "notice", "none"),
        *("convention", "refactor", "suggestion", "low", "minor"),
    ),
}
_LEVEL_OF = {word: level for level, words in _WORDS.items() for word in words}


@dataclass(frozen=True, slots=True)
class CountedFindings:
    """The findings that count, each with its level, and how many were ignored."""

    findings: tuple[tuple[str, ToolFinding], ...]
    ignored: int = 0

    def count(self, level: str) -> int:
        return sum(level in (ALL, found) for found, _ in self.findings)

    def summary(self) -> str:
        """Return such as "3 findings (1 error, 2 warnings)"."""
        if not self.findings:
            return "no findings"
        parts = [pluralize(count, level) for level in LEVELS if (count := self.count(level))]
        return f"{pluralize(len(self.findings), 'finding')} ({', '.join(parts)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingLimits:
    """How findings are counted.

    `rules` maps globs of rule ids, and `levels` words of the tool, to a level or to `ignore`; the
    first glob that fits wins over the level. `most` is how many may be there, by level or `all`.
    """

    most: Mapping[str, int]
    levels: Mapping[str, str]
    rules: Mapping[str, str]

    def count(self, findings: Iterable[ToolFinding]) -> CountedFindings:
        kept, ignored = [], 0
        for finding in findings:
            level = self._level(finding)
            if level == IGNORE:
                ignored += 1
            else:
                kept.append((level, finding))
        kept.sort(key=lambda pair: LEVELS.index(pair[0]))
        return CountedFindings(tuple(kept), ignored)

    def find_excess(self, counted: CountedFindings) -> str:
        """Return what there is too much of, such as "at most 0 errors are wanted", else ""."""
        for level, most in self.most.items():
            if counted.count(level) > most:
                what = "" if level == ALL else f" {level}s"
                return f"at most {most}{what} are wanted"
        return ""

    def _level(self, finding: ToolFinding) -> str:
        for pattern, level in self.rules.items():
            if fnmatchcase(finding.rule, pattern):
                return level
        if finding.level in self.levels:
            return self.levels[finding.level]
        # A level that is unknown here counts as an error.
        return _LEVEL_OF.get(finding.level.lower(), "error")
