"""Lines, columns and short excerpts of a text, as findings show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_reflex.model.plain import boundary, visible

WIDTH = 160
_BEFORE = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an artifact that begins at the start of line `line` (1-based)."""

    text: str
    line: int = 1

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character offset, in the artifact, 1-based code points."""
        line = self.line + self.text.count("\n", 0, offset)
        return line, offset - self.text.rfind("\n", 0, offset)


def lines_at(part: Part, offsets: Sequence[int], limit: int = 3) -> str:
    """Return the lines at some offsets as `12 | text`, each once, at most `limit` of them."""
    shown: dict[int, str] = {}
    for offset in offsets:
        line, _ = part.position(offset)
        if line not in shown:
            if len(shown) == limit:
                shown[-1] = "..."
                break
            shown[line] = f"{line} | {_line_around(part.text, offset)}"
    return "\n".join(shown.values())


def _line_around(text: str, offset: int) -> str:
    """Return the line at `offset`, or of a long one the stretch around it."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    if end - start <= WIDTH:
        return visible(text[start:end])
    left = start if offset - start <= _BEFORE else boundary(text, offset - _BEFORE)
    right = min(end, left + WIDTH)
    right = right if right == end else max(boundary(text, right), left + 1)
    return f"{'…' * (left > start)}{visible(text[left:right])}{'…' * (right < end)}"
