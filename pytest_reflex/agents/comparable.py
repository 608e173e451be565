"""What two runs of the same task may differ in, and nothing else, taken out of a text.

Openly: the run's id and folder, the project's folder, our temporary folders, measured times
("0.12s") and addresses of objects. A text that differs in anything else is another text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_VARYING = (
    (re.compile(r"(?:/[\w.+-]+)*/reflex-(?:[a-z]+-)?[a-z0-9_]{8}(?![\w-])"), "{temporary}"),
    (re.compile(r"\b\d+\.\d+ ?(?:ms|s|seconds)\b"), "{time}"),
    (re.compile(r"\b0x[0-9a-f]{6,16}\b"), "{address}"),
)
_TIME_OF_START = "-20260101-000000"
_SHOWN, _BEFORE = 100, 30


def comparable(text: str, *, run_ids: Iterable[str] = (), folders: Iterable[str] = ()) -> str:
    """Return a text with the words `{run}`, `{project}`, `{temporary}`, `{time}` and `{address}`.

    `run_ids` and `folders` are those of both runs, because an answer of the one may have carried
    them into the other.
    """
    for run_id in run_ids:
        text = text.replace(run_id, "{run}")
        alias = run_id[: -len(_TIME_OF_START)]
        text = text.replace(f"/{alias}/artifact.md", "/{run}/artifact.md")
    for folder in sorted((f for f in folders if len(f) > 1), key=len, reverse=True):
        text = re.sub(re.escape(folder) + r"(?![\w.-])", "{project}", text)
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def first_difference(recorded: str, now: str) -> tuple[int, str, str]:
    """Return the first line (1-based) in which two texts differ, as it was and as it is.

    Of a long line the part around the difference is returned; "no line" where there is none.
    """
    old, new = recorded.split("\n"), now.split("\n")
    shared = min(len(old), len(new))
    number = next((n for n in range(shared) if old[n] != new[n]), shared)
    was, is_now = (lines[number] if number < len(lines) else None for lines in (old, new))
    start = max(_same_start(was or "", is_now or "") - _BEFORE, 0)
    return number + 1, _part(was, start), _part(is_now, start)


def _same_start(one: str, other: str) -> int:
    shared = min(len(one), len(other))
    return next((n for n in range(shared) if one[n] != other[n]), shared)


def _part(line: str | None, start: int) -> str:
    if line is None:
        return "no line"
    before, after = "…" if start else "", "…" if len(line) > start + _SHOWN else ""
    return repr(f"{before}{line[start : start + _SHOWN]}{after}")
