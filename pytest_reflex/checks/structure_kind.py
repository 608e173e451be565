"""The shape that every kind of structure check has; one file per kind makes one of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_reflex.checks.finding import Report
from pytest_reflex.checks.options import Kind
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext

Judge = Callable[[Artifact, CheckContext], Report]
JudgeTogether = Callable[[Artifact, Sequence[Artifact], CheckContext], Report]
"""Judges the chosen files of an artifact as one; the artifact is a folder, or the only file."""


class ParameterError(ValueError):
    """A judge cannot be made because of the parameter `key`; the message is about it."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def _forbids_nothing(params: Mapping[str, Any]) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureKind:
    """One key of `type: structure` and what it means.

    `value` is what the key may hold beside a table with the keys `inside` (None: a table only);
    `beside` are keys that may stand next to it in the check. `make` gets all of them in one
    mapping, the settled value under `key` where it is not a table and the author's words for the
    check under `expected`, and returns the judge; it raises ValueError, the message a sentence
    about the parameters, where they cannot be used. `whole` where the keys of a table are not ours:
    the table as it is stands under `key`. `forbids` returns whether settled parameters say what
    must not be there: of a folder, in none of its files. A kind that has `across` beside its key
    says with `together` what its files are as one, and `make_together` returns the judge of that.
    """

    key: str
    make: Callable[[Mapping[str, Any]], Judge]
    value: Kind | None = None
    inside: Mapping[str, Kind] = field(default_factory=dict)
    beside: Mapping[str, Kind] = field(default_factory=dict)
    whole: bool = False
    forbids: Callable[[Mapping[str, Any]], bool] = _forbids_nothing
    together: str = ""
    make_together: Callable[[Mapping[str, Any]], JudgeTogether] | None = None
