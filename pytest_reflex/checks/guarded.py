"""Run a check so that whatever goes wrong in it is a result, and never the end of a session."""

from __future__ import annotations

from pytest_reflex.checks.finding import unread
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.targets import CheckContext, RunCheck


def guarded(run: RunCheck, artifact: Artifact, context: CheckContext) -> CheckResult:
    """Return what a check came to; an exception in it is an error that names it."""
    try:
        result = run(artifact, context)
    except ReflexError as error:
        return unread(error, artifact)
    except Exception as error:
        told = one_line(f"{type(error).__name__}: {error}", 200)
        return CheckResult(outcome=Outcome.ERROR, message=f"the check itself failed: {told}")
    if not isinstance(result, CheckResult):
        message = f"the check returned {one_line(repr(result), 60)}, not a CheckResult"
        return CheckResult(outcome=Outcome.ERROR, message=message)
    return result
