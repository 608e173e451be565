"""What a run changed in its files as one document: artifact.md of a loop over a session. Pure.

The document is Markdown with a section per file and a unified diff in it, against the start of the
run; `patch -p1` takes it. `rebuilt` is the way back: with the texts of the start it gives every
file exactly, or says that the document does not fit them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_reflex.errors import StateError
from pytest_reflex.storage.delta import make_delta

TITLE = "# Changes since the start of the run"
CONTEXT = 3

_NOTHING = "/dev/null"
_NO_END = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
_TICKS = re.compile("`+")

Files = Mapping[str, str]
Tagged = tuple[str, str]


def document(start: Files, now: Files) -> str:
    """Return the document that tells the files of now from those of the start."""
    parts = [f"{TITLE}\n"]
    for path in sorted({*start, *now}):
        old, new = start.get(path), now.get(path)
        if old != new:
            parts.append(_section(path, old, new))
    return "\n".join(parts)


def _section(path: str, old: str | None, new: str | None) -> str:
    sides = (
        f"--- {_NOTHING if old is None else f'a/{path}'}",
        f"+++ {_NOTHING if new is None else f'b/{path}'}",
    )
    body = "\n".join((*sides, *_hunks(_tagged(old or "", new or ""))))
    fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(body)), 0)
    return f"## {path}\n\n{fence}diff\n{body}\n{fence}\n"


def _tagged(old: str, new: str) -> list[Tagged]:
    """Return every line of both texts with ` `, `-` or `+` before it."""
    lines, at, found = _lines(old), 0, list[Tagged]()
    for kind, what in make_delta(old, new):
        if kind == "+":
            found += [("+", line) for line in _lines(what)]
            continue
        found += [(" " if kind == "=" else "-", line) for line in lines[at : at + what]]
        at += what
    return found


def _hunks(tagged: Sequence[Tagged]) -> Iterator[str]:
    old = new = 0
    starts = []
    for tag, _ in tagged:
        starts.append((old, new))
        old, new = old + (tag != "+"), new + (tag != "-")
    for first, last in _windows(tagged):
        inside = tagged[first:last]
        before = sum(tag != "+" for tag, _ in inside)
        after = sum(tag != "-" for tag, _ in inside)
        old, new = starts[first]
        yield f"@@ -{old + bool(before)},{before} +{new + bool(after)},{after} @@"
        for tag, line in inside:
            yield tag + line.removesuffix("\n")
            if not line.endswith("\n"):
                yield _NO_END


def _windows(tagged: Sequence[Tagged]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines that a hunk shows: changes that lie close share one."""
    first = last = -1
    for at, (tag, _) in enumerate(tagged):
        if tag == " ":
            continue
        if last >= 0 and at - CONTEXT > last:
            yield first, last
            first = -1
        if first < 0:
            first = max(at - CONTEXT, 0)
        last = min(at + CONTEXT + 1, len(tagged))
    if first >= 0:
        yield first, last


def rebuilt(start: Files, text: str) -> dict[str, str]:
    """Return the files that a document leads to; raises StateError where it does not fit."""
    lines = text.split("\n")
    files = dict(start)
    if lines[0] != TITLE:
        raise StateError(f"the document of changes begins with {lines[0]!r:.80}")
    at = 1
    while at < len(lines):
        if lines[at].startswith("## "):
            at = _apply_section(lines, at, files)
        elif lines[at]:
            raise _misfit(lines, at)
        else:
            at += 1
    return files


def _apply_section(lines: Sequence[str], at: int, files: dict[str, str]) -> int:
    path = lines[at][3:]
    try:
        fence = lines[at + 2].removesuffix("diff")
        gone = lines[at + 4] == f"+++ {_NOTHING}"
        old, at = _lines(files.get(path, "")), at + 5
        new: list[str] = []
        taken = 0
        while lines[at] != fence:
            taken, at = _apply_hunk(lines, at, old, taken, new)
    except IndexError:
        raise StateError(f"the document of changes ends inside {path}") from None
    if gone:
        files.pop(path, None)
    else:
        files[path] = "".join([*new, *old[taken:]])
    return at + 1


def _apply_hunk(
    lines: Sequence[str], at: int, old: list[str], taken: int, new: list[str]
) -> tuple[int, int]:
    """Apply one hunk; return how many old lines are used up, and the line after the hunk."""
    found = _HUNK.fullmatch(lines[at])
    if not found:
        raise _misfit(lines, at)
    first, before, _, after = map(int, found.groups())
    begin = first - bool(before)
    new += old[taken:begin]
    taken, at = begin, at + 1
    while before or after:
        tag, content = lines[at][:1], lines[at][1:]
        ends = lines[at + 1] != _NO_END
        line = content + "\n" * ends
        if tag not in (" ", "-", "+") or (tag != "+" and old[taken : taken + 1] != [line]):
            raise _misfit(lines, at)
        if tag != "+":
            before, taken = before - 1, taken + 1
        if tag != "-":
            after -= 1
            new.append(line)
        at += 1 if ends else 2
    return taken, at


def _misfit(lines: Sequence[str], at: int) -> StateError:
    return StateError(
        f"the document of changes does not fit the start of the run at line {at + 1}: "
        f"{lines[at]!r:.80}"
    )


def counts(start: Files, now: Files) -> list[tuple[str, int, int]]:
    """Return path, lines added and lines removed of every file that changed."""
    found = []
    for path in sorted({*start, *now}):
        old, new = start.get(path), now.get(path)
        if old != new:
            tags = [tag for tag, _ in _tagged(old or "", new or "")]
            found.append((path, tags.count("+"), tags.count("-")))
    return found


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])
