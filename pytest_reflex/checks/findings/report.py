"""Which findings count, under which level, and whether there are too many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_reflex.checks.reported.finding import LEVELS, ToolFinding

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
class Counted:
    """The findings that count, each with its level, and how many were ignored."""

    findings: tuple[tuple[str, ToolFinding], ...]
    ignored: int = 0

    def count(self, level: str) -> int:
        return sum(level in (ALL, found) for found, _ in self.findings)

    def summary(self) -> str:
        """Return such as "3 findings (1 error, 2 warnings)"."""
        if not self.findings:
            return "no findings"
        parts = [
            f"{count} {level}{'s' if count > 1 else ''}"
            for level in LEVELS
            if (count := self.count(level))
        ]
        total = len(self.findings)
        return f"{total} finding{'s' if total > 1 else ''} ({', '.join(parts)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How findings are counted.

    `rules` maps globs of rule ids, and `levels` words of the tool, to a level or to `ignore`; the
    first glob that fits wins over the level. `most` is how many may be there, by level or `all`.
    """

    most: Mapping[str, int]
    levels: Mapping[str, str]
    rules: Mapping[str, str]

    def counted(self, findings: Iterable[ToolFinding]) -> Counted:
        kept, ignored = [], 0
        for finding in findings:
            level = self._level(finding)
            if level == IGNORE:
                ignored += 1
            else:
                kept.append((level, finding))
        kept.sort(key=lambda pair: LEVELS.index(pair[0]))
        return Counted(tuple(kept), ignored)

    def exceeded(self, counted: Counted) -> str:
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
        # What a tool calls by a name of its own is not made little of.
        return _LEVEL_OF.get(finding.level.lower(), "error")
