"""Colours for what a loop tells, by the words that its lines begin with; the text stays the same.

A stream that shows no colours takes them out again (`streams.say`, `streams.give`).
"""

from __future__ import annotations

import re
from typing import Any

import click

_GOOD: dict[str, Any] = {"fg": "green", "bold": True}
_BAD: dict[str, Any] = {"fg": "red", "bold": True}
_MILD: dict[str, Any] = {"fg": "yellow"}
_STRONG: dict[str, Any] = {"bold": True}
# The first pattern that fits a line decides; what it matches is painted.
_PAINTS: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = tuple(
    (re.compile(pattern), style)
    for pattern, style in (
        (r"── .*\| PASS ──$|Gate: passed(?:, .*)?$|Written to: .*", _GOOD),
        (r"── .*\| FAIL ──$|Gate: NOT passed(?:, .*)?$|Failed: (?!none$).*", _BAD),
        (r"Warnings: (?!none$).*|(?:Outside|Reverted|Not guarded|Not written\b[^:]*): .*", _MILD),
        (r"[A-Z_]+ gave nothing usable: .*|The fix of .*|Restored: .*", _MILD),
        (r"\[[\d:]+\] ERROR: .*", _BAD),
        (r"\[[\d:]+\] WARNING: .*|\[[\d:]+\] Reached max .*; the last iteration failed$", _MILD),
        (r"\[[\d:]+\] (?:Reached max iterations: .*|Success signal in .*)", _GOOD),
        (r"── .* ──$|Critique:$|Distance to success:$|Next:|  - [^:]+:", _STRONG),
    )
)
_CONTINUED = "    "


def painted(text: str) -> str:
    """Return lines with colours; a line that goes on under another one is painted like it."""
    lines: list[str] = []
    whole: dict[str, Any] = {}
    for line in text.split("\n"):
        if whole and line.startswith(_CONTINUED):
            lines.append(click.style(line, **whole))
            continue
        found = next(((m, style) for p, style in _PAINTS if (m := p.match(line))), None)
        whole = {}
        if found:
            match, style = found
            end = match.end()
            whole = style if end == len(line) and style is not _STRONG else {}
            line = click.style(line[:end], **style) + line[end:]
        lines.append(line)
    return "\n".join(lines)
