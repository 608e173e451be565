"""Whether a rule applies: its conditions, each decided by the check that has the same keys.

Promises: a rule is not applicable only where a condition was looked at and does not hold. What
cannot be looked at (data that cannot be read, a search that is cut off, a file that was left out)
is an error of the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.finding import Report, result_of, unread
from pytest_reflex.checks.guarded import guarded
from pytest_reflex.checks.options import REQUIRED, TEXTS, problems_of, settle
from pytest_reflex.errors import ArtifactError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.globs import selects
from pytest_reflex.model.left_out import listed
from pytest_reflex.model.plain import as_text, one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import NOT, CheckSpec, Condition
from pytest_reflex.model.targets import CheckContext, CheckType, CompiledCheck, RunCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

_KINDS = {
    "file": TEXTS.means("the artifact has such a name; of a folder, a file in it has", REQUIRED)
}
_LONGEST = 400


class FileCondition:
    """`file`: the name of the artifact, or of a file in a folder, is one of those that globs mean.

    A name is as reports have it: from the root of the project, and in a folder from there.
    """

    name = "file"
    parameters = _KINDS

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        return problems_of(spec, self.parameters)

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        globs = _globs(settle(spec, self.parameters, variables)["file"])
        told = one_line(", ".join(globs), 120)

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            if artifact.is_folder:
                found = [file.name for file in artifact.select(globs)]
                # Of a file that was not read the name is known.
                missed = [one for one in artifact.left_out if one.is_unchecked]
                found += [m.path for m in missed if not m.is_folder and selects(globs, m.path)]
                there = f"{one_line(min(found))} is in it" if found else ""
            else:
                name = _from_root(artifact, context)
                there = f"{one_line(name)} matches {told}" if selects(globs, name) else ""
            missing = f"no file of {one_line(artifact.name)} matches {told}"
            if not artifact.is_folder:
                missing = f"{one_line(artifact.name)} does not match {told}"
            outcome = Outcome.PASS if there else Outcome.FAIL
            return CheckResult(outcome=outcome, message=there or missing)

        return CompiledCheck(spec, run)


FILE = FileCondition()


def type_of(condition: CheckSpec, registry: Registry) -> CheckType:
    """Return the type of check that decides a condition; raises CriteriaError."""
    return FILE if condition.type == FILE.name else registry.get(condition.type)


def only_when(
    conditions: Sequence[Condition], run: RunCheck, variables: Mapping[str, Any], registry: Registry
) -> RunCheck:
    """Return a check that is made only where all conditions hold; raises CriteriaError.

    They are looked at in their order; the first one that does not hold ends it.
    """
    compiled = [
        (one, type_of(one.check, registry).compile(one.check, variables).run) for one in conditions
    ]

    def conditional(artifact: Artifact, context: CheckContext) -> CheckResult:
        for condition, decide in compiled:
            if stopped := _not_holding(condition, decide, artifact, context):
                return stopped
        return run(artifact, context)

    return conditional


def _not_holding(
    condition: Condition, decide: RunCheck, artifact: Artifact, context: CheckContext
) -> CheckResult | None:
    """Return why the check is not made; None where the condition holds."""
    found = guarded(decide, artifact, context)
    unknown = found if found.outcome not in (Outcome.PASS, Outcome.FAIL) else None
    if found.outcome is Outcome.FAIL:
        unknown = _unseen(condition.check, artifact)
    if unknown:
        message = f"its condition ({words(condition)}) cannot be evaluated: {unknown.message}"
        return replace(unknown, outcome=Outcome.ERROR, message=message)
    if (found.outcome is Outcome.PASS) is not condition.negated:
        return None
    message = f"condition not met: {found.message}" if found.pattern else found.message
    return CheckResult(outcome=Outcome.NOT_APPLICABLE, message=message, pattern=found.pattern)


def _unseen(spec: CheckSpec, artifact: Artifact) -> CheckResult | None:
    """Return why what a condition asks for may be there although it was not found."""
    globs = _globs(spec.params.get("files") or spec.params.get(FILE.name) or "*")
    if missed := artifact.unchecked(globs):
        return CheckResult(outcome=Outcome.ERROR, message=f"not checked: {listed(missed)}")
    if "path" not in spec.params:
        return None
    from pytest_reflex.checks.structure.data.source import data_in

    for one in artifact.select(globs):
        inside = one.name if artifact.is_folder else ""
        try:
            source = data_in(one, spec.params.get("block"))
        except ArtifactError as error:
            return unread(error, one)
        if source.faults:
            faults = [replace(fault, file=inside) for fault in source.faults]
            found = result_of(Report(faults, reading=source.reading), artifact)
            named = f"{one_line(inside)}: " if inside else ""
            return replace(
                found, message=named + found.message, cause=f"{one.name} as {source.reading}"
            )
    return None


def words(condition: Condition) -> str:
    """Return a condition as it is written, on one line: "not search draft, ignore_case true"."""
    parts = (f"{key} {as_text(value)}" for key, value in condition.check.params.items())
    return one_line(f"{NOT} " * condition.negated + ", ".join(parts), _LONGEST)


def _globs(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _from_root(artifact: Artifact, context: CheckContext) -> str:
    """Return the name of a file from the root of the project, where it lies there."""
    root = f"{context.root.absolute().as_posix().rstrip('/')}/"
    return artifact.name.removeprefix(root).removeprefix("./")
