"""Operators that plant a fault in a document: text in, text out, None where they do not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Change = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One kind of fault: the rule that has to notice it, and where it can be planted.

    Of a folder one file is changed, or each of them where the fault is only one then (`each_file`).
    `where` is a pattern for the paths of files in which it is a fault.
    """

    templates: tuple[str, ...]
    rule: str
    formats: tuple[str, ...]
    name: str
    change: Change
    each_file: bool = False
    where: str = ""


def append(addition: str, text: str) -> str:
    """Return the text with a part more at its end."""
    return f"{text.rstrip()}\n\n{addition}\n"
