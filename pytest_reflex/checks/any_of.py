"""Checks of type `any_of`: alternatives, of which one has to pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_reflex.checks.guarded import guarded
from pytest_reflex.errors import CriteriaError, Problem
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.leads import lead_with
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import ALTERNATIVES, CheckSpec
from pytest_reflex.model.targets import CheckContext, CompiledCheck

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

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
            describe=lambda: _in_words(parts),
            votes=sum(part.votes for part in parts),
            alternatives=tuple(parts),
        )


def _in_words(parts: Iterable[CompiledCheck]) -> str:
    return "one of these holds: " + "; or: ".join(part.description for part in parts)


@dataclass(frozen=True, slots=True)
class _Alternatives:
    """Checks of which one has to pass, by their number, in the order in which they are tried."""

    runs: Mapping[int, CompiledCheck]
    expected: str

    def __call__(self, artifact: Artifact, context: CheckContext) -> CheckResult:
        tried: dict[int, CheckResult] = {}
        for number, run in self.runs.items():
            tried[number] = lead_with(guarded(run, artifact, context), run.spec.expected)
            if tried[number].outcome is Outcome.PASS or context.cancelled:
                break
        return self._joined(tried)

    def _joined(self, found: Mapping[int, CheckResult]) -> CheckResult:
        tried, total = list(found.values()), len(self.runs)
        last = tried[-1]
        ballots = tuple(ballot for result in tried for ballot in result.ballots)
        if last.outcome is Outcome.PASS:
            *others, holds = found
            message = f"alternative {holds} of {total} holds: {last.message}"
            notes = _told({number: found[number] for number in others}) + last.notes
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
            message=f"none of {total} alternatives holds: " + _joined(r.message for r in tried),
            expected=self.expected,
            pattern=_joined(r.pattern for r in tried),
            evidence=decisive.evidence,
            location=decisive.location,
            notes=_told(found) + tuple(note for result in tried for note in result.notes),
            ballots=ballots,
            findings=tuple(found for result in tried for found in result.findings),
            not_asked=decisive.not_asked,
            needs=decisive.needs,
            cause=causes.pop() if len(causes) == 1 else "",
        )


def _joined(texts: Iterable[str]) -> str:
    return "; or: ".join(dict.fromkeys(filter(None, texts)))


def _told(tried: Mapping[int, CheckResult]) -> tuple[str, ...]:
    return tuple(
        f"alternative {number}: {result.outcome.value}: {result.message}"
        for number, result in tried.items()
    )
