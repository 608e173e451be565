"""One event of an iteration loop as its log has it, and at which volume people are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any


class Severity(StrEnum):
    """How much a line matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Volume(IntEnum):
    """What is reported: warnings, errors and the end; the seed's lines; statistics and gates
    too.
    """

    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One event: a line for people and what else programs may read.

    `output` is foreign text, `excerpt` the line of it that is shown where the whole is not, `below`
    lines of our own that people are shown first.
    The `last` one is reported at any volume, a `silent` one only kept. `tone` is that of its text
    where it is not that of its level.
    """

    event: str
    message: str
    level: Severity = Severity.INFO
    fields: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    excerpt: str = ""
    below: str = ""
    last: bool = False
    silent: bool = False
    tone: str = ""

    def is_told(self, volume: Volume) -> bool:
        if self.silent:
            return False
        if self.last or self.level in (Severity.WARNING, Severity.ERROR):
            return True
        return volume >= (Volume.VERBOSE if self.level is Severity.DEBUG else Volume.NORMAL)
