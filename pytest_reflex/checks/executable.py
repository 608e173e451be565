"""Checks of type `executable`: a command whose exit status, and perhaps output, is the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_reflex.checks.command import (
    ARTIFACT_VARIABLE,
    BLOCKS_VARIABLE,
    COMMAND_KINDS,
    TIMEOUT,
    Command,
    CommandCheck,
    check_command,
    describe,
    last_lines,
    last_said,
    output_globs,
    remarks,
    run_command,
    settle_command,
    shell_problems,
    stop_message,
    text_of,
)
from pytest_reflex.checks.options import TEXT, problems_of, whole_number
from pytest_reflex.errors import Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext, CompiledCheck, Decides, plainly
from pytest_reflex.process.run import Finished
from pytest_reflex.process.spawn import SpawnError
from pytest_reflex.search.patterns import (
    Pattern,
    SearchError,
    compile_pattern,
    pattern_problems,
)

__all__ = ["ARTIFACT_VARIABLE", "BLOCKS_VARIABLE", "KINDS", "TIMEOUT", "ExecutableCheck"]

MOST_RETRIES = 20

KINDS = {
    **COMMAND_KINDS,
    "retries": whole_number(0, MOST_RETRIES).means(
        "tries after the first that may be made before it fails; each one is shown", "0"
    ),
    "expect_exit": whole_number(0, 255, "an exit status").means("the exit status that passes", "0"),
    "expect_output": TEXT.means("a pattern that has to match the standard output as well"),
}


class ExecutableCheck(CommandCheck):
    """Run a command of the rule's author; see SPEC section 2 for the parameters.

    A check that names a command of the criteria (`commands:`) has been turned into its argv before
    it comes here.
    """

    name = "executable"
    parameters = KINDS

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield from problems_of(spec, KINDS)
        yield from shell_problems(spec, spec.params)
        output = spec.params.get("expect_output")
        yield from pattern_problems(output, key="expect_output", place=spec.place)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        params = resolve_params(spec, variables)
        command = self.command(params)
        pattern = _pattern(spec, params)
        run = _Execution(
            command=command,
            environment=self.environment,
            timeout=float(params["timeout"]),
            retries=params["retries"],
            expect_exit=params["expect_exit"],
            expect_output=pattern,
        )
        is_plain = params["expect_exit"] == 0 and pattern is None
        decides = Decides.SUCCESS if is_plain else Decides.OUTCOME
        return CompiledCheck(
            spec,
            run,
            commands=(check_command(command, params, decides, tries=params["retries"] + 1),),
            writes=output_globs(params),
            describe=lambda: _describe(spec.params),
            is_pattern=pattern is not None,
            preview=lambda rule, judge: _preview(params, pattern),
        )


def resolve_params(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that count, defaults included; raises CriteriaError."""
    return {"retries": 0, "expect_exit": 0, **settle_command(spec, KINDS, variables)}


def _pattern(spec: CheckSpec, params: Mapping[str, Any]) -> Pattern | None:
    output = params.get("expect_output")
    return compile_pattern(output, key="expect_output", place=spec.place) if output else None


def _preview(params: Mapping[str, Any], pattern: Pattern | None) -> dict[str, Any]:
    from pytest_reflex.checks.preview import describe_search

    found: dict[str, Any] = {"expect_exit": params["expect_exit"]}
    return found if pattern is None else {**found, "expect_output": describe_search(pattern)}


def _describe(params: Mapping[str, Any]) -> str:
    status = plainly(params.get("expect_exit", 0))
    text = f"the command `{describe(params)}` ends with exit status {status}"
    if "expect_output" in params:
        text += f" and its output matches /{params['expect_output']}/"
    text += f" within {plainly(params.get('timeout', f'{TIMEOUT:g}'))} seconds"
    return text + (f", in {params['retries']} more tries if need be" if "retries" in params else "")


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
        notes = tuple(
            f"attempt {number}: {result.outcome.value}: {result.message}"
            for number, result in enumerate(attempts, start=1)
        )
        return replace(attempts[-1], notes=attempts[-1].notes + notes)

    def _attempt(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        try:
            finished = run_command(self.command, self.environment, self.timeout, artifact, context)
        except SpawnError as error:
            return CheckResult(outcome=Outcome.ERROR, message=str(error))
        outcome, message, pattern = self._verdict(finished, context)
        return CheckResult(
            outcome=outcome,
            message=message,
            pattern=pattern,
            evidence=last_lines(finished),
            notes=tuple(remarks(finished)),
        )

    def _verdict(self, finished: Finished, context: CheckContext) -> tuple[Outcome, str, str]:
        """Return the outcome, what was found, and the pattern that this is about."""
        if why := stop_message(finished, self.command, self.timeout):
            return Outcome.ERROR, why, ""
        code = finished.returncode
        if code != self.expect_exit:
            if problem := self.command.problem(code):
                return Outcome.ERROR, f"{problem} ({self.command.text})", ""
            said = last_said(finished)
            text = f"exit status {code}, expected {self.expect_exit}"
            return Outcome.FAIL, f"{text}: {said}" if said else text, ""
        if self.expect_output is None:
            return Outcome.PASS, f"exit status {code}", ""
        outcome, message = self._judge_output(self.expect_output, finished, context)
        return outcome, message, self.expect_output.source

    def _judge_output(
        self, pattern: Pattern, finished: Finished, context: CheckContext
    ) -> tuple[Outcome, str]:
        if finished.stdout_truncated:
            size = f"{finished.stdout_total} bytes"
            return Outcome.ERROR, f"its output is too long to search: {size}"
        try:
            found = pattern.spans(
                text_of(finished.stdout), limit=1, seconds=context.pattern_seconds
            )
        except SearchError as error:
            return Outcome.ERROR, f"{error}: pattern in the output"
        if found:
            return Outcome.PASS, f"exit status {finished.returncode}, pattern found in the output"
        empty = "" if finished.stdout_total else ", which is empty"
        return Outcome.FAIL, f"pattern not found in the output{empty}"
