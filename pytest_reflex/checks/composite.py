"""Checks made of checks: alternatives (`any_of`), conditions of a rule (`when`), and running one
safely.

Promises: a rule is not applicable only where a condition was looked at and does not hold. What
cannot be looked at (data that cannot be read, a search that is cut off, a file that was left out)
is an error of the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.finding import Report, result_of, unread
from pytest_reflex.checks.options import REQUIRED, TEXTS, problems_of, settle
from pytest_reflex.errors import ArtifactError, CriteriaError, Problem, ReflexError
from pytest_reflex.model.artifact import Artifact, format_skipped
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.globs import selects
from pytest_reflex.model.pattern_leads import lead_with
from pytest_reflex.model.plain import as_text, one_line
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import ALTERNATIVES, NOT, CheckSpec, Condition
from pytest_reflex.model.targets import CheckContext, CheckType, CompiledCheck, RunCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


def run_safely(run: RunCheck, artifact: Artifact, context: CheckContext) -> CheckResult:
    """Return what a check came to; an exception in it is an error that names it."""
    try:
        result = run(artifact, context)
    except ReflexError as error:
        return unread(error, artifact)
    except Exception as error:
        text = one_line(f"{type(error).__name__}: {error}", 200)
        return CheckResult(outcome=Outcome.ERROR, message=f"the check itself failed: {text}")
    if not isinstance(result, CheckResult):
        message = f"the check returned {one_line(repr(result), 60)}, not a CheckResult"
        return CheckResult(outcome=Outcome.ERROR, message=message)
    return result


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
        text = one_line(", ".join(globs), 120)

        def run(artifact: Artifact, context: CheckContext) -> CheckResult:
            if artifact.is_folder:
                found = [file.name for file in artifact.select(globs)]
                # Of a file that was not read the name is known.
                missed = [one for one in artifact.left_out if one.is_unchecked]
                found += [m.path for m in missed if not m.is_folder and selects(globs, m.path)]
                there = f"{one_line(min(found))} is in it" if found else ""
            else:
                name = _from_root(artifact, context)
                there = f"{one_line(name)} matches {text}" if selects(globs, name) else ""
            missing = f"no file of {one_line(artifact.name)} matches {text}"
            if not artifact.is_folder:
                missing = f"{one_line(artifact.name)} does not match {text}"
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
    found = run_safely(decide, artifact, context)
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
    if missed := artifact.skipped_for(globs):
        return CheckResult(outcome=Outcome.ERROR, message=f"not checked: {format_skipped(missed)}")
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


# Of alternatives that do not pass, what was not judged may have passed.
_WORST_FIRST = (Outcome.ERROR, Outcome.NOT_MEASURED, Outcome.FAIL)


class AnyOfCheck:
    """Try alternatives in their order until one passes, those that an agent judges last.

    `look_up_in` says where their types are.
    Its only parameter is a list of checks on the wire. The reader of criteria has looked at each of
    them at its own place.
    """

    name = ALTERNATIVES
    # Its type need not be said, and no variable may take the place of the list.
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            ALTERNATIVES: {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/check"}},
        },
        "required": [ALTERNATIVES],
        "additionalProperties": False,
    }

    def __init__(self) -> None:
        self._registry: Registry | None = None

    def look_up_in(self, registry: Registry) -> None:
        """Take the types of alternatives from a registry: the one that this type was put into."""
        self._registry = registry

    def problems(self, spec: CheckSpec) -> Iterable[Problem]:
        given = spec.params.get(ALTERNATIVES)
        usable = isinstance(given, list | tuple) and all(isinstance(a, Mapping) for a in given)
        if given is None or not usable or len(spec.params) > 1:
            yield Problem(message="any_of is a list of checks, and nothing else", place=spec.place)
        elif len(given) < 2:
            message = f"any_of needs two checks at least, and has {len(given)}"
            yield Problem(message=message, place=spec.place)
        elif any(a.get("type") == ALTERNATIVES for a in given):
            message = "any_of cannot have alternatives within alternatives"
            yield Problem(message=message, place=spec.place, hint="make one list of them")

    def compile(self, spec: CheckSpec, variables: Mapping[str, Any]) -> CompiledCheck:
        if found := list(self.problems(spec)):
            raise CriteriaError(found)
        assert self._registry is not None
        specs = [replace(each, place=spec.place) for each in spec.alternatives]
        parts = [self._registry.compile(each, variables) for each in specs]
        expected = " | or: ".join(each.expected for each in specs if each.expected)
        numbered = sorted(enumerate(parts, 1), key=lambda one: one[1].votes > 0)
        return CompiledCheck(
            spec,
            _Alternatives(dict(numbered), expected),
            commands=tuple(command for part in parts for command in part.commands),
            starts_more=any(part.starts_more for part in parts),
            writes=tuple(glob for part in parts for glob in part.writes),
            describe=lambda: _describe(parts),
            votes=sum(part.votes for part in parts),
            alternatives=tuple(parts),
        )


def _describe(parts: Iterable[CompiledCheck]) -> str:
    return "one of these holds: " + "; or: ".join(part.description for part in parts)


@dataclass(frozen=True, slots=True)
class _Alternatives:
    """Checks of which one has to pass, by their number, in the order in which they are tried."""

    runs: Mapping[int, CompiledCheck]
    expected: str

    def __call__(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        tried: dict[int, CheckResult] = {}
        for number, run in self.runs.items():
            tried[number] = lead_with(run_safely(run, artifact, context), run.spec.expected)
            if tried[number].outcome is Outcome.PASS or context.cancelled:
                break
        return self._combine(tried)

    def _combine(self, found: Mapping[int, CheckResult]) -> CheckResult:
        tried, total = list(found.values()), len(self.runs)
        last = tried[-1]
        ballots = tuple(ballot for result in tried for ballot in result.ballots)
        if last.outcome is Outcome.PASS:
            *others, holds = found
            message = f"alternative {holds} of {total} holds: {last.message}"
            notes = _describe_tries({number: found[number] for number in others}) + last.notes
            return replace(
                last, message=message, notes=notes, expected=self.expected, ballots=ballots
            )
        outcome = next(o for o in _WORST_FIRST if any(r.outcome is o for r in tried))
        decisive = next(r for r in tried if r.outcome is outcome)
        # An alternative that does not hold leaves it to what could not be read.
        open_ones = [r for r in tried if r.outcome is not Outcome.FAIL]
        causes = {r.cause for r in open_ones or tried if open_ones or r.cause}
        return CheckResult(
            outcome=outcome,
            message=f"none of {total} alternatives holds: " + _join_texts(r.message for r in tried),
            expected=self.expected,
            pattern=_join_texts(r.pattern for r in tried),
            evidence=decisive.evidence,
            location=decisive.location,
            notes=_describe_tries(found) + tuple(note for result in tried for note in result.notes),
            ballots=ballots,
            findings=tuple(found for result in tried for found in result.findings),
            not_asked=decisive.not_asked,
            needs=decisive.needs,
            cause=causes.pop() if len(causes) == 1 else "",
        )


def _join_texts(texts: Iterable[str]) -> str:
    return "; or: ".join(dict.fromkeys(filter(None, texts)))


def _describe_tries(tried: Mapping[int, CheckResult]) -> tuple[str, ...]:
    return tuple(
        f"alternative {number}: {result.outcome.value}: {result.message}"
        for number, result in tried.items()
    )
