"""The check type `code`: its parameters, and who judges, one of ours or the user's command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from pytest_reflex.checks.code.sources import (
    PYTHON_FILES,
    CodeInput,
    CodeReport,
    SourceFinding,
    sources_of,
)
from pytest_reflex.checks.command import preview_options
from pytest_reflex.checks.executable import ExecutableCheck
from pytest_reflex.checks.finding import Finding, Report, result_of, unread
from pytest_reflex.checks.options import (
    COUNT,
    SECONDS,
    TEXT,
    ParameterType,
    aspect_of,
    problems_of,
    settle,
)
from pytest_reflex.checks.selection import over_all_of
from pytest_reflex.errors import ArtifactError, CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, variable_name
from pytest_reflex.model.targets import CheckContext, CompiledCheck

ASPECTS = {
    "compiles": ("what does not compile; an artifact without a statement", "syntax"),
    "bugs": ("likely bugs, by rules of ruff", "linted"),
    "tests": ("tests of a folder that fail", "suite"),
    "functions": (
        "stubs, comments for code that was left out, wanted names that are not defined",
        "bodies",
    ),
    "annotations": ("functions with a parameter or result without a type", "annotated"),
    "types": ("what contradicts the types, by mypy", "typed"),
    "errors": ("errors that are hidden, by rules of ruff", "linted"),
    "logging": ("print in modules, misused loggers, by rules of ruff", "linted"),
    "conventions": ("what is not PEP 8, unused imports, by rules of ruff", "linted"),
    "input": ("unsafe use of what comes from outside, by rules of ruff", "linted"),
}
"""What may be looked at: what it finds in Python, in words, and the module beside this one that
finds it, imported when it is used.
"""

TIMEOUT = 300.0
LINE_LENGTH = 100

_NAMES = ParameterType(
    "a list of names, which may be empty",
    lambda value: isinstance(value, list | tuple) and all(isinstance(n, str) and n for n in value),
    lambda text: [part.strip() for part in text.split(",") if part.strip()],
    schema={"type": "array", "items": TEXT.schema},
)
_WORDS = ParameterType(
    "a text",
    lambda value: isinstance(value, str) and "\0" not in value,
    schema={"type": "string"},
)
KINDS = {
    "aspect": aspect_of(ASPECTS),
    "language": _WORDS.means(
        "the language of the artifact; any other than `python` needs `command`", "`python`"
    ),
    "command": _WORDS.means(
        "a shell command that checks in place of our tools, as in an executable check", "ours"
    ),
    "timeout": SECONDS.means("seconds for a tool or the command", f"{TIMEOUT:g}"),
    "names": _NAMES.means("with `functions`: names that have to be defined", "none"),
    "line_length": COUNT.means("with `conventions`: the longest line", str(LINE_LENGTH)),
}
_OF = {"names": ("functions",), "line_length": ("conventions",)}

Judge = Callable[[CodeInput, CheckContext], CodeReport]


class CodeCheck:
    """Look at one aspect of source code; what is not Python is left to `command`."""

    name = "code"
    parameters = KINDS

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        yield from problems_of(spec, KINDS)
        yield from _misplaced_keys(spec)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        params = resolve_params(spec, variables)
        if own := _of_user(spec, params):
            made = ExecutableCheck().compile(own, {})
            return replace(
                made, spec=spec, describe=None, preview=lambda rule, judge: preview_options(params)
            )
        language = params["language"]
        variable = variable_name(spec.params.get("command"))

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            try:
                sources = sources_of(artifact, language)
            except ArtifactError as error:
                return unread(error, artifact)
            if sources:
                result = _evaluate(CodeInput(artifact, sources, params), context)
            else:
                result = _not_ours(artifact, language, params["aspect"], variable)
            found_fault = bool(sources) and result.outcome is Outcome.FAIL
            return over_all_of(artifact, PYTHON_FILES, result, each=True, violated=found_fault)

        of_tool = getattr(_module(params), "command", None) if language == "python" else None
        return CompiledCheck(
            spec,
            run,
            commands=(of_tool(params),) if of_tool else (),
            preview=lambda rule, judge: preview_options(params),
        )


def resolve_params(spec: CheckSpec, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that count, defaults included; raises CriteriaError."""
    params = settle(spec, KINDS, variables)
    if found := list(_misplaced_keys(spec)):
        raise CriteriaError(found)
    language = params.get("language", "python").lower()
    timeout = float(params.get("timeout", TIMEOUT))
    return {"line_length": LINE_LENGTH, **params, "language": language, "timeout": timeout}


def _of_user(spec: CheckSpec, params: Mapping[str, Any]) -> CheckSpec | None:
    """Return the executable check that stands in place of our own tools, if there is one."""
    if not params.get("command", "").strip():
        return None
    own = {key: params[key] for key in ("command", "timeout")}
    return replace(spec, type="executable", params=own)


def _module(params: Mapping[str, Any]) -> Any:
    return import_module(f"pytest_reflex.checks.code.{ASPECTS[params['aspect']][1]}")


def _evaluate(reading: CodeInput, context: CheckContext) -> CheckResult:
    broken = [source.locate(source.fault) for source in reading.sources if source.fault]
    if broken:
        return _syntax_result(reading, broken, context)
    judge: Judge = _module(reading.params).judge
    seen = judge(reading, context)
    if seen.unmeasured:
        return CheckResult(outcome=Outcome.NOT_MEASURED, message=seen.unmeasured, needs=seen.needs)
    if seen.problem:
        return CheckResult(outcome=Outcome.ERROR, message=seen.problem)
    return _result(reading, seen.found, seen.summary)


def _syntax_result(
    reading: CodeInput, broken: Sequence[SourceFinding], context: CheckContext
) -> CheckResult:
    """Return what code comes to that does not compile: `compiles` has the finding, if it is one."""
    doubtful = tuple(source for source in reading.sources if source.may_be_newer)
    if doubtful:
        from pytest_reflex.checks.code.linted import newer

        fine = newer(replace(reading, sources=doubtful), context)
        faults = [one for one in broken if one.file not in fine]
        if not faults:
            first = broken[0]
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            message = (
                f"{first.file} needs a newer Python than {version}: line {first.finding.line}, "
                f"{first.finding.message}"
            )
            return CheckResult(outcome=Outcome.NOT_MEASURED, message=message)
        broken = faults
    result = _result(reading, broken, "", fault="Python")
    if reading.params["aspect"] == "compiles":
        return result
    return replace(result, outcome=Outcome.NOT_MEASURED)


def _result(
    reading: CodeInput, found: Sequence[SourceFinding], summary: str, *, fault: str = ""
) -> CheckResult:
    """Return the outcome; of a folder, messages and locations name the file.

    `fault` is what it could not be read as.
    """
    artifact = reading.artifact
    folder = artifact.is_folder
    findings = [replace(one.finding, file=one.file if folder else "") for one in found]
    result = result_of(Report(findings, summary, reading=fault), artifact)
    if not (folder and findings):
        return result
    file = findings[0].file
    cause = f"{file} as {fault}" if fault else ""
    return replace(result, message=f"{file}: {result.message}", cause=cause)


def _not_ours(artifact: Artifact, language: str, aspect: str, variable: str) -> CheckResult:
    if language == "python" and artifact.is_folder:
        message = f"there is no Python file in {artifact.name}"
        return result_of(Report([Finding(message)], reading="Python"), artifact)
    named = f"the variable {variable}" if variable else "the key command"
    kind = language if language != "python" else "no Python"
    message = f"{artifact.name} is {kind}: name a command that checks it ({aspect}) with {named}"
    return CheckResult(outcome=Outcome.NOT_MEASURED, message=message)


def _misplaced_keys(spec: CheckSpec) -> Iterable[Problem]:
    aspect = spec.params.get("aspect")
    for key, owners in _OF.items():
        if key in spec.params and aspect in ASPECTS and aspect not in owners:
            message = f"{key} goes with {' and '.join(owners)}, not with {aspect}"
            yield Problem(message=message, place=spec.place, path=(key,))
