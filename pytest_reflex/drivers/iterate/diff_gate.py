"""A gate of kind `diff`: which files and lines one iteration changed, and whether it may.

Files count as they do for `tree`; beside them those that `always` patterns find, also where git
ignores them. A file that was renamed counts twice: one is gone, one is new.
Limits: what git ignores does not count, unless what it ignores was changed by the iteration itself.
Lines are kept as hashes, of texts up to 2 MB and 4,000,000 lines in all. How many of them differ is
counted as `git diff --numstat` does: the length of the shortest edit script (Myers 1986). Where
that is longer than the bound there is a lower bound only, and so it is said.

Promises: what cannot be counted is an error and no pass. Limits: only the iteration itself is
judged; what an earlier one has changed stays changed.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import TypeAlias

from pytest_reflex.drivers.common.measure import (
    SUMMARY,
    Attempt,
    Measurement,
    MeasurementStatus,
    failure,
)
from pytest_reflex.drivers.iterate.model import IterationGate
from pytest_reflex.drivers.iterate.tree import (
    MOST_PATHS,
    UnreadableTreeError,
    WorkingTree,
    display_path,
    ignore_file,
    is_ignored,
    paths_in,
    walk,
)
from pytest_reflex.errors import UsageError
from pytest_reflex.integrity.patterns import is_meant
from pytest_reflex.model.plain import list_first, one_line, pluralize

MOST_TEXT = 2_000_000
MOST_LINES = 4_000_000
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_EDITS = 5_000  # beyond that the search takes long

Lines: TypeAlias = "array[int]"
"""The lines of a text, each as a hash that holds within this process."""


@dataclass(frozen=True, slots=True)
class LineCount:
    """A number of lines; where it is not `exact` there are at least so many."""

    number: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Look:
    """A tree at one time: what counts, what else lies there, and what git ignores."""

    entries: Mapping[bytes, bytes]
    names: frozenset[bytes]
    ignored: bytes | None


class TreeChanges:
    """Looks at a project before and after an iteration; `exclude` are folders that never count."""

    def __init__(
        self,
        project: Path,
        exclude: Iterable[str] = (),
        *,
        always: Iterable[str] = (),
        with_lines: bool = False,
    ) -> None:
        self._project, self._base = project, os.fsencode(os.path.abspath(project))
        self._tree, self._always = WorkingTree(project, exclude), tuple(always)
        self._lines: dict[bytes, tuple[bytes, Lines | None]] | None = {} if with_lines else None
        self._before: _Look | None = None
        self._different: Mapping[bytes, tuple[bytes, bytes]] = {}

    def begin(self) -> None:
        """Look at the tree as it is before an iteration. Raises UnreadableTreeError."""
        self._before = None
        look = self._look()
        if self._lines is not None:
            self._keep_lines(look.entries)
        self._before = look

    def end(self) -> tuple[str, ...]:
        """Return the names of the files that are not as they were. Raises UnreadableTreeError."""
        before = self._before
        if before is None:
            raise UnreadableTreeError("the tree was not looked at before the iteration")
        now = self._look(before)
        self._different = {
            path: (old, new)
            for path in before.entries.keys() | now.entries.keys()
            if (old := before.entries.get(path, b"")) != (new := now.entries.get(path, b""))
        }
        return tuple(sorted(map(display_path, self._different)))

    def count_lines(self, most: int) -> tuple[int, bool]:
        """Return how many lines of these files changed, and whether that is exact.

        Where there are more than `most`, there are perhaps more than that. Raises
        UnreadableTreeError.
        """
        total, exact = 0, True
        for path, (before, after) in sorted(self._different.items()):
            old, new = self._lines_before(path, before), self._lines_now(path, after)
            if old is None or new is None:
                raise _uncountable(path, "it is not text, or too large")
            count = count_changed_lines(old, new, max(most - total, 0))
            if count is None:
                raise _uncountable(path, "too many of them are different")
            total, exact = total + count.number, exact and count.exact
        return total, exact

    def _look(self, before: _Look | None = None) -> _Look:
        paths = {*paths_in(self._project)}
        names = frozenset(islice(walk(os.fsencode(self._project)), MOST_PATHS + 1))
        if len(names) > MOST_PATHS:
            raise UnreadableTreeError("there are too many files")
        ignored = ignore_file(self._project)
        if self._always:
            paths.update(name for name in names if is_meant(os.fsdecode(name), self._always))
        if before is not None:
            paths.update(before.entries)
        entries = self._tree.entries(paths)
        look = _Look(entries, names, ignored)
        if before is not None and self._ignores_otherwise(before, look):
            return _Look(entries | self._tree.entries(names - before.names), names, ignored)
        return look

    def _ignores_otherwise(self, before: _Look, now: _Look) -> bool:
        """Return whether an iteration changed what git ignores."""
        if before.ignored != now.ignored:
            return True
        listed = before.entries.keys() | now.entries.keys()
        if any(before.entries.get(path) != now.entries.get(path) for path in _ignore_files(listed)):
            return True
        # One that is ignored by itself; a folder of caches that git ignores anyway often has one.
        return any(
            not is_ignored(self._project, os.path.dirname(path))
            for path in _ignore_files(now.names - before.names - listed)
        )

    def _keep_lines(self, entries: Mapping[bytes, bytes]) -> None:
        known, self._lines = self._lines or {}, {}
        room = MOST_LINES
        for path, entry in entries.items():
            kept = known.get(path)
            lines = kept[1] if kept and kept[0] == entry else self._lines_now(path, entry)
            room -= len(lines or ())
            self._lines[path] = entry, lines if room >= 0 else None

    def _lines_before(self, path: bytes, entry: bytes) -> Lines | None:
        if not entry:
            return lines_of(b"")
        kept = (self._lines or {}).get(path)
        return kept[1] if kept and kept[0] == entry else None

    def _lines_now(self, path: bytes, entry: bytes) -> Lines | None:
        """Return the lines of a file that is there, a single one for a link; None: no text."""
        if not entry:
            return lines_of(b"")
        if entry.startswith(b"link "):
            return lines_of(entry)
        if entry.startswith(b"special "):
            return None
        try:
            with open(os.open(os.path.join(self._base, path), _OPEN), "rb") as file:
                data = file.read(MOST_TEXT + 1)
        except OSError as error:
            raise UnreadableTreeError(str(error)) from None
        return None if len(data) > MOST_TEXT or b"\0" in data else lines_of(data)


def _ignore_files(paths: Iterable[bytes]) -> Iterator[bytes]:
    return (path for path in paths if os.path.basename(path) == b".gitignore")


def _uncountable(path: bytes, why: str) -> UnreadableTreeError:
    return UnreadableTreeError(
        f"the lines of {one_line(display_path(path))} cannot be counted: {why}"
    )


def lines_of(data: bytes) -> Lines:
    return array("q", map(hash, data.splitlines(keepends=True)))


def count_changed_lines(before: Lines, after: Lines, most: int) -> LineCount | None:
    """Return how many lines were removed and added; above `most` perhaps only at least so many.

    None where the texts are too different to be counted within that.
    """
    old, new = _different(before, after)
    if not old or not new:
        return LineCount(len(old) + len(new))
    counts = Counter(old)
    counts.subtract(new)
    least = sum(map(abs, counts.values()))
    if least > most:
        return LineCount(least, exact=least == len(old) + len(new))
    found = _edits(old, new, min(most, _MOST_EDITS))
    if found is not None:
        return LineCount(found)
    return LineCount(most + 1, exact=False) if most <= _MOST_EDITS else None


def _different(before: Lines, after: Lines) -> tuple[Lines, Lines]:
    """Return what lies between the lines that two texts begin and end with alike."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def _edits(old: Sequence[int], new: Sequence[int], most: int) -> int | None:
    """Return the length of the shortest edit script; None where it is above `most`."""
    furthest = {1: 0}
    for edits in range(min(most, len(old) + len(new)) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            down, right = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
            goes_down = diagonal == -edits or (diagonal != edits and right < down)
            x = down if goes_down else right + 1
            y = x - diagonal
            while x < len(old) and 0 <= y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return edits
    return None


_SHOWN = 3


class DiffGate:
    """Compares the tree before and after the agent of an iteration; see `before` and `after`."""

    def __init__(self, gate: IterationGate, project: Path, exclude: Iterable[str]) -> None:
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
        except UnreadableTreeError as error:
            self._found = _cannot(error)

    def after(self) -> None:
        """Look at the tree right after the agent: what gates write behind it is not its work."""
        try:
            self._found = self._compare()
        except UnreadableTreeError as error:
            self._found = _cannot(error)

    def __call__(self, attempt: Attempt) -> Measurement:
        return self._found

    def _compare(self) -> Measurement:
        gate, changed = self._gate, self._changes.end()
        reasons = [*_refusal(gate, changed)]
        text = f"changed {pluralize(len(changed), 'file')}"
        if gate.max_lines is not None:
            try:
                number, exact = self._changes.count_lines(gate.max_lines)
            except UnreadableTreeError:
                if not reasons:
                    raise
                number, exact = 0, False
            lines = pluralize(number, "line")
            text = f"{text}, {lines}"
            if number > gate.max_lines:
                least = "" if exact else "at least "
                reasons.append(f"changed {least}{lines}, at most {gate.max_lines} allowed")
        status = MeasurementStatus.FAILED if reasons else MeasurementStatus.PASSED
        return Measurement(
            status=status,
            summary=one_line("; ".join(reasons) or text, SUMMARY),
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


def _refusal(gate: IterationGate, changed: tuple[str, ...]) -> Iterable[str]:
    if gate.max_files is not None and len(changed) > gate.max_files:
        yield f"changed {pluralize(len(changed), 'file')}, at most {gate.max_files} allowed"
    if denied := [name for name in changed if is_meant(name, gate.deny)]:
        shown = list_first(map(one_line, denied), _SHOWN)
        yield f"changed {shown}, which the gate denies"


def _cannot(error: UnreadableTreeError) -> Measurement:
    return failure(f"the changes cannot be determined: {error}")
