"""The words of the domain as enums; their values are the seeds' wire words."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How much a failed rule matters: `fail` blocks, `warn` lowers the score, `info` is tracked."""

    FAIL = "fail"
    WARN = "warn"
    INFO = "info"


DEFAULT_WEIGHT: dict[Severity, int] = {Severity.FAIL: 2, Severity.WARN: 1, Severity.INFO: 0}


class Level(StrEnum):
    """Strictness of an evaluation (wire key `phase`): A is basic, B adds the stricter rules."""

    A = "A"
    B = "B"


ACTIVE_LEVELS = {Level.A: (Level.A,), Level.B: (Level.A, Level.B)}
"""The levels whose rules are active at a level."""


class Outcome(StrEnum):
    """What became of one check. Only `pass` earns weight; `error` means it could not judge.

    `not_applicable` is that of a rule whose conditions do not hold: it does not count at all.
    """

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    NOT_MEASURED = "not_measured"
    NOT_APPLICABLE = "not_applicable"


class Step(StrEnum):
    """A step of an iteration (wire key `current_step`)."""

    PLAN = "PLAN"
    PRODUCE = "PRODUCE"
    PREPARE = "PREPARE"
    PRODUCE_PREPARE = "PRODUCE_PREPARE"
    EVALUATE = "EVALUATE"
    CRITIQUE = "CRITIQUE"
    REFINE = "REFINE"
