"""What a check says, without the values of secret variables: of a command, or of the artifact.

Limits: secret are variables with names like API_KEY and passwords in URLs, as `process.secrecy` has
it; the artifact itself keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.judged import Ballot
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.targets import CheckContext, RunCheck
from pytest_reflex.process.secrecy import hide, hide_ends, own_secrets


def discreet(run: RunCheck, known: Mapping[str, str] | None = None) -> RunCheck:
    """Return a check whose result names secret variables where it held their values.

    `known` are the secrets; where they are not given, those of the moment when it has run.
    """

    def hiding(artifact: Artifact, context: CheckContext) -> CheckResult:
        result = run(artifact, context)
        if not isinstance(result, CheckResult):  # whoever calls it says so
            return result
        hidden = own_secrets() if known is None else known
        return replace(
            result,
            message=hide_ends(hide(result.message, hidden), hidden),
            evidence=hide_ends(hide(result.evidence, hidden), hidden),
            expected=hide(result.expected, hidden),
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
