"""Checks that are not run here: those that need a whole pytest session, and commands that no one
approved.

A loop puts them in place of what is not run, so that the rule is reported as not measured, with
the reason, and never as passed. A criteria file cannot use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext, CompiledCheck

WITHHELD = "withheld"
SESSION = "session"


class _NotRunCheck:
    """A check that is not run; `stands_for` is what such checks are for, in words."""

    name = ""
    stands_for = ""
    internal = True

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield Problem(
            message=f"a criteria file has no {self.name} checks",
            place=spec.place,
            hint=f"they stand for {self.stands_for}",
        )


class WithheldCheck(_NotRunCheck):
    """`params` are the command and the reason why it was not run."""

    name = WITHHELD
    stands_for = "commands that an agent made"

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        command, reason = one_line(str(spec.params["command"]), 120), spec.params["reason"]
        return CompiledCheck(spec, _not_measured(f"not run: {command} ({reason})"))


class SessionCheck(_NotRunCheck):
    """`params` say which rule of which part of the session is meant."""

    name = SESSION
    stands_for = "tests and suites in a loop over a pytest session"

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        run = _not_measured("only pytest --reflex-loop runs it")
        return CompiledCheck(spec, run, describe=str)  # the rule says it all


def _not_measured(message: str) -> Callable[[Artifact, CheckContext], CheckResult]:
    result = CheckResult(outcome=Outcome.NOT_MEASURED, message=message)

    def run(artifact: Artifact, context: CheckContext) -> CheckResult:
        return result

    return run
