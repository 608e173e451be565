"""What a gate is given when it is tried, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event

PASS, FAIL, ERROR = "pass", "fail", "error"
SUMMARY = 300


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a gate: variables for what it starts, and what ends it."""

    variables: Mapping[str, str]
    cancel: Event


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate came to; see `GateResult` for the fields."""

    outcome: str
    summary: str
    output: str = ""
    left_children: bool = False


Judging = Callable[[Attempt], Verdict]
