"""Checks that are not run here: those that need a whole pytest session, and commands that no one
approved.

The loop puts it in place of the command, so that the rule is reported as not measured, with
the reason, and never as passed. A criteria file cannot use it.

By itself it is not measured. A criteria file cannot use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext, CompiledCheck

WITHHELD = "withheld"


class WithheldCheck:
    """`params` are the command and the reason why it was not run."""

    name = WITHHELD
    internal = True

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield Problem(
            message="a criteria file has no withheld checks",
            place=spec.place,
            hint="they stand for commands that an agent made",
        )

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        command, reason = one_line(str(spec.params["command"]), 120), spec.params["reason"]
        result = CheckResult(outcome=Outcome.NOT_MEASURED, message=f"not run: {command} ({reason})")

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            return result

        return CompiledCheck(spec, run)


SESSION = "session"


class SessionCheck:
    """`params` say which rule of which part of the session is meant."""

    name = SESSION
    internal = True

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield Problem(
            message="a criteria file has no session checks",
            place=spec.place,
            hint="they stand for tests and suites in a loop over a pytest session",
        )

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        result = CheckResult(
            outcome=Outcome.NOT_MEASURED, message="only pytest --reflex-loop runs it"
        )

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            return result

        return CompiledCheck(spec, run, describe=str)  # the rule says it all
