"""What a command printed, without the values of secret variables that it was given.

Limits: secret are variables with names like API_KEY, as `process.secrecy` has it; a secret that is
in the artifact is found there by whoever reads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.judged import Ballot
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.targets import CheckContext, RunCheck
from pytest_reflex.process.secrecy import hide, hide_ends, secrets


def discreet(run: RunCheck) -> RunCheck:
    """Return a check whose result names secret variables where it held their values."""

    def hiding(artifact: Artifact, context: CheckContext) -> CheckResult:
        result = run(artifact, context)
        ours = dict(os.environ)
        hidden = secrets(ours, ours, ())
        if not hidden:
            return result
        return replace(
            result,
            message=hide_ends(hide(result.message, hidden), hidden),
            evidence=hide_ends(hide(result.evidence, hidden), hidden),
            notes=tuple(hide(note, hidden) for note in result.notes),
            ballots=tuple(_hidden(ballot, hidden) for ballot in result.ballots),
        )

    return hiding


def _hidden(ballot: Ballot, hidden: Mapping[str, str]) -> Ballot:
    votes = (
        replace(
            vote,
            reasons=tuple(hide(reason, hidden) for reason in vote.reasons),
            error=hide(vote.error, hidden),
        )
        for vote in ballot.votes
    )
    return replace(ballot, votes=tuple(votes))
