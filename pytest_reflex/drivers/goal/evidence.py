"""What a claim is worth where the program cannot verify a criterion itself.

A claim stays a claim, unless its evidence names a file of the project in which it can be seen: then
it is an observation, beside at least one criterion that the program verifies. Nobody's word makes
an execution output or a measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.drivers.goal.model import Criterion, Verification
from pytest_reflex.drivers.goal.standing import Claim

_WORD = re.compile(r"[\w./-]*[\w-]\.?[\w-]*")


def proof_by(criterion: Criterion, claim: Claim, project: Path, *, beside: bool) -> str:
    """Return the kind of proof that a claim gives; `beside` says that some other is verified."""
    kind, required = claim.kind, criterion.plan.required
    if Verification.ASSUMPTION in (kind, required):
        return Verification.ASSUMPTION.value
    if kind == Verification.CODE_REVIEW:
        return kind
    may_be_seen = required in (None, Verification.OBSERVATION) and beside
    if kind == Verification.OBSERVATION and may_be_seen and any(_files(claim.evidence, project)):
        return kind
    return Verification.CLAIM.value


def _files(evidence: str, project: Path) -> Iterator[str]:
    """Yield the files of a project that a text names, with something in them."""
    root = project.resolve()
    for word in _WORD.findall(evidence):
        try:
            path = (root / word).resolve()
            if path.is_relative_to(root) and path.is_file() and path.stat().st_size:
                yield word
        except (OSError, ValueError):
            continue
