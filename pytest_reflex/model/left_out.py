"""What lies in a folder and was not read with it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pytest_reflex.model.plain import one_line

SHOWN = 3
FOLLOW_LINKS = "to follow links: --outside, in pytest --reflex-outside"


class Reason(StrEnum):
    """Why something was not read; the values are the words of the JSON report."""

    EXCLUDED = "excluded"
    LINK_INSIDE = "link_inside"
    DANGLING_LINK = "dangling_link"
    SPECIAL = "special"
    LINK_OUTSIDE = "link_outside"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"


UNCHECKED = frozenset({Reason.LINK_OUTSIDE, Reason.UNREADABLE, Reason.TOO_LARGE})
"""The reasons for which text may be there that nobody has looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One file or folder that was not read.

    `path` is its name in the folder, with slashes. `detail` is where a link leads (inside: as a
    name in the folder), or what the system said, or how large it is. `is_folder` is True also
    where nobody can see what it is.
    """

    path: str
    reason: Reason
    detail: str = ""
    is_folder: bool = field(default=False, compare=False)

    @property
    def is_unchecked(self) -> bool:
        return self.reason in UNCHECKED

    def __str__(self) -> str:
        return f"{one_line(self.path, 120)} ({_WORDS[self.reason].format(one_line(self.detail))})"

    def to_json(self) -> dict[str, Any]:
        wire = {"path": self.path, "reason": self.reason.value}
        return {**wire, "detail": self.detail} if self.detail else wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> LeftOut:
        return cls(path=wire["path"], reason=Reason(wire["reason"]), detail=wire.get("detail", ""))


_WORDS = {
    Reason.EXCLUDED: "excluded by name",
    Reason.LINK_INSIDE: "links to {}, which is checked there",
    Reason.DANGLING_LINK: "a link that leads nowhere",
    Reason.SPECIAL: "{}, which holds no text",
    Reason.LINK_OUTSIDE: "links to {}, outside the folder",
    Reason.UNREADABLE: "cannot be read: {}",
    Reason.TOO_LARGE: "too large: {}",
}


def listed(left_out: Iterable[LeftOut]) -> str:
    """Return a few of them in words, the number of the others, and the option that may help."""
    found = list(left_out)
    told = ", ".join(map(str, found[:SHOWN]))
    if len(found) > SHOWN:
        told += f" and {len(found) - SHOWN} more"
    if any(one.reason is Reason.LINK_OUTSIDE for one in found):
        told += f"; {FOLLOW_LINKS}"
    return told
