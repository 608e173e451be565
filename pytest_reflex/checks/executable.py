"""Checks of type `executable`: a command whose exit status, and perhaps output, is the verdict."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_reflex.checks.blocks_folder import BlocksFolder
from pytest_reflex.checks.command import Command, command_of
from pytest_reflex.checks.options import COUNT, SECONDS, TEXT, Kind, problems_of, settle
from pytest_reflex.checks.output import last_lines, text_of
from pytest_reflex.checks.search.patterns import Pattern, SearchError, compile_pattern
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext, RunCheck
from pytest_reflex.model.words import Outcome
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError

TIMEOUT = 60.0
MOST_RETRIES = 20

ARTIFACT_VARIABLE = "PYTEST_REFLEX_ARTIFACT"
BLOCKS_VARIABLE = "PYTEST_REFLEX_BLOCKS"


def _is_command(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip()) and "\0" not in value
    if not isinstance(value, Sequence) or not value:
        return False
    return all(isinstance(part, str) and "\0" not in part for part in value) and bool(value[0])


def _is_shell(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(shlex.split(value)) and "\0" not in value
    except ValueError:
        return False


KINDS = {
    "command": Kind("a command for the shell, or a list of program and arguments", _is_command),
    "shell": Kind("a program with its options, quoted as in a shell", _is_shell),
    "timeout": SECONDS,
    "retries": Kind(
        f"a whole number from 0 to {MOST_RETRIES}",
        lambda value: COUNT.fits(value) and value <= MOST_RETRIES,
        int,
    ),
    "expect_exit": Kind(
        "an exit status from 0 to 255", lambda value: COUNT.fits(value) and value <= 255, int
    ),
    "expect_output": TEXT,
}


class ExecutableCheck:
    """Run a command of the rule's author; see SPEC section 2 for the parameters.

    A check that names a command of the criteria (`commands:`) has been turned into its argv before
    it comes here.
    """

    name = "executable"
    in_process = False

    def __init__(self) -> None:
        self._environment: dict[str, str] | None = None

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield from problems_of(spec, KINDS, required=("command",))
        yield from _contradictions(spec, spec.params)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> RunCheck:
        params = settle(spec, KINDS, variables, required=("command",))
        if found := list(_contradictions(spec, params)):
            raise CriteriaError(found)
        if self._environment is None:
            self._environment = inherited()
        output = params.get("expect_output")
        return _Execution(
            command=command_of(params["command"], params.get("shell", ""), self._environment),
            environment=self._environment,
            timeout=float(params.get("timeout", TIMEOUT)),
            retries=params.get("retries", 0),
            expect_exit=params.get("expect_exit", 0),
            expect_output=compile_pattern(output, key="expect_output", place=spec.place)
            if output
            else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Execution:
    command: Command
    environment: Mapping[str, str]
    timeout: float
    retries: int
    expect_exit: int
    expect_output: Pattern | None

    def __call__(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        attempts: list[CheckResult] = []
        for _ in range(self.retries + 1):
            attempts.append(self._attempt(artifact, context))
            if attempts[-1].outcome is Outcome.PASS or context.cancelled:
                break
        if len(attempts) == 1:
            return attempts[0]
        told = tuple(
            f"attempt {number}: {result.outcome.value}: {result.message}"
            for number, result in enumerate(attempts, start=1)
        )
        return replace(attempts[-1], notes=attempts[-1].notes + told)

    def _attempt(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        blocks = context.blocks or BlocksFolder(artifact)
        own = {ARTIFACT_VARIABLE: os.fspath(artifact.path), BLOCKS_VARIABLE: str(blocks())}
        try:
            finished = run(
                self.command.argv,
                cwd=context.root,
                env={**self.environment, **context.environment, **own},
                timeout=self.timeout,
                cancel=context.cancel,
            )
        except SpawnError as error:
            return CheckResult(outcome=Outcome.ERROR, message=str(error))
        outcome, message = self._verdict(finished, context)
        return CheckResult(
            outcome=outcome,
            message=message,
            evidence=last_lines(finished),
            notes=tuple(_remarks(finished)),
        )

    def _verdict(self, finished: Finished, context: CheckContext) -> tuple[Outcome, str]:
        if why := self._stopped(finished):
            return Outcome.ERROR, why
        code = finished.returncode
        if code != self.expect_exit:
            if trouble := self.command.trouble(code):
                return Outcome.ERROR, f"{trouble} ({self.command.text})"
            return Outcome.FAIL, f"exit status {code}, expected {self.expect_exit}"
        if self.expect_output is None:
            return Outcome.PASS, f"exit status {code}"
        return self._judge_output(self.expect_output, finished, context)

    def _stopped(self, finished: Finished) -> str:
        if finished.timed_out:
            return f"it ran longer than {self.timeout:g} s and was stopped ({self.command.text})"
        if finished.cancelled:
            return "it was stopped because the session ended"
        return "it wrote too much and was stopped" if finished.overflow else ""

    def _judge_output(
        self, pattern: Pattern, finished: Finished, context: CheckContext
    ) -> tuple[Outcome, str]:
        shown = one_line(pattern.source, 80)
        if finished.stdout_truncated:
            size = f"{finished.stdout_total} bytes"
            return Outcome.ERROR, f"its output is too long to look for '{shown}': {size}"
        try:
            found = pattern.spans(
                text_of(finished.stdout), limit=1, seconds=context.pattern_seconds
            )
        except SearchError as error:
            return Outcome.ERROR, f"{error}: '{shown}' in the output"
        if found:
            return Outcome.PASS, f"exit status {finished.returncode}, the output has '{shown}'"
        empty = "" if finished.stdout_total else "; there was none"
        return Outcome.FAIL, f"the output has no match for '{shown}'{empty}"


def _contradictions(spec: CheckSpec, params: Mapping[str, Any]) -> Iterator[Problem]:
    if "shell" in params and not isinstance(params.get("command", ""), str):
        yield Problem(
            message="shell goes with a command that is a text, not a list",
            place=spec.place,
            hint="a list is run without a shell",
        )


def _remarks(finished: Finished) -> Iterator[str]:
    if finished.left_children:
        yield "left children: processes that it started were still running, and were killed"
    if finished.truncated:
        total = finished.stdout_total + finished.stderr_total
        yield f"output truncated: {total} bytes, beginning and end were kept"
