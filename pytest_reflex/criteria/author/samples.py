"""Rules tested by their own samples: good ones have to pass, bad ones to fail, fixes to help.

Promises: a sample is judged by the checks that judge artifacts: a text as a file `sample.md`, a
file by its name, and a folder, each in a folder of its own; a check that could not judge proves
nothing, whichever way the sample was meant.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_reflex import fixes
from pytest_reflex.checks.registry import compile_rule
from pytest_reflex.checks.run import prepare, run_one
from pytest_reflex.criteria.author.formatting import Formatting
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.targets import Target
from pytest_reflex.process.guard import temporary_folder

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry


def can_be_tried(rule: Rule, sample: Sample) -> bool:
    """Return whether a fix can be tried: a fix fixes one text."""
    return any(fix.safe for fix in rule.fixes) and bool(rule.checks) and not sample.is_folder


def fix_makes_sample_pass(
    criteria: Criteria,
    rule: Rule,
    sample: Sample,
    passes: Callable[[Sample], bool | None],
    formatter: fixes.Formatter,
) -> bool:
    """Return whether the rule passes after its safe fixes, as `criteria fix` applies them."""
    ((name, text),) = sample.files.items()
    fixed = fixes.fix_text(criteria, (rule.id,), text, formatter).text
    return fixed != text and passes(Sample.of_text(fixed, name)) is True


NAME = "sample.md"
FOLDER = "sample"


class SampleVerdict(StrEnum):
    """What became of a sample; of a rule, the worst of its samples or `none`."""

    VALIDATED = "validated"
    REPORTED = "reported"
    NOISY = "noisy"
    MISSING = "missing"
    UNCLEAR = "unclear"
    NOT_APPLICABLE = "not applicable"
    NOT_ASKED = "not asked"
    NOT_MEASURED = "not measured"
    NONE = "none"


MEANING = {
    SampleVerdict.VALIDATED: "a good sample passes",
    SampleVerdict.REPORTED: "a bad sample fails",
    SampleVerdict.NOISY: "a good sample fails",
    SampleVerdict.MISSING: "a bad sample passes",
    SampleVerdict.UNCLEAR: "a check ended with an error",
    SampleVerdict.NOT_APPLICABLE: (
        "the condition of the rule does not hold, so that it shows nothing"
    ),
    SampleVerdict.NOT_ASKED: "an LLM judge grades the rule, and none is configured (--judge NAME)",
    SampleVerdict.NOT_MEASURED: "what checks it is not installed",
    SampleVerdict.NONE: "there are no samples",
}
BROKEN = (
    SampleVerdict.UNCLEAR,
    SampleVerdict.NOISY,
    SampleVerdict.MISSING,
    SampleVerdict.NOT_APPLICABLE,
)
"""The verdicts by which a rule fails its samples, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleResult:
    """One sample with its verdict; `kind` is good or bad, `number` counts from 1 within it.

    `fixed` is whether the rule's safe fixes fix a bad one; None where they were not tried.
    `needs` is the distribution without which it was not measured.
    """

    kind: str
    number: int
    sample: Sample
    verdict: SampleVerdict
    message: str
    fixed: bool | None = None
    needs: str = ""

    def to_json(self) -> dict[str, Any]:
        given = self.sample.to_plain()
        return {
            "kind": self.kind,
            "number": self.number,
            "verdict": self.verdict.value,
            "message": self.message,
            **({} if self.fixed is None else {"fixed": self.fixed}),
            **({"text": given} if isinstance(given, str) else given),
        }


@dataclass(frozen=True, slots=True)
class RuleSampleResult:
    """A rule with all of its samples."""

    rule: Rule
    samples: tuple[SampleResult, ...]

    @property
    def verdict(self) -> SampleVerdict:
        found = {sample.verdict for sample in self.samples}
        order = (
            *BROKEN,
            SampleVerdict.NOT_ASKED,
            SampleVerdict.NOT_MEASURED,
            SampleVerdict.VALIDATED,
            SampleVerdict.REPORTED,
        )
        return next((verdict for verdict in order if verdict in found), SampleVerdict.NONE)

    def count(self, kind: str, verdict: SampleVerdict | None = None) -> int:
        """Return how many samples of a kind there are, or have a verdict."""
        of_kind = [one for one in self.samples if one.kind == kind]
        return len([one for one in of_kind if verdict in (None, one.verdict)])

    def to_json(self) -> dict[str, Any]:
        samples = [sample.to_json() for sample in self.samples]
        return {"rule": self.rule.id, "verdict": self.verdict.value, "samples": samples}


def try_samples(
    criteria: Criteria, rules: Iterable[Rule], registry: Registry, root: Path
) -> Iterator[RuleSampleResult]:
    """Yield each rule with what became of its samples; commands run in `root`.

    Raises CriteriaError where a check of a rule cannot be compiled.
    """
    with temporary_folder("reflex-samples-") as folder:
        for rule in rules:
            yield RuleSampleResult(
                rule, tuple(_try_samples(criteria, rule, registry, root, folder))
            )


def judge_text(
    criteria: Criteria,
    rule: Rule,
    text: str,
    registry: Registry,
    root: Path,
    folder: Path,
    *,
    name: str = NAME,
    base: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[CheckResult]:
    """Return what each check of a rule says about a text, which is put into `folder` for it.

    `name` is that of the file (it may have folders), `base` where relative links lead from,
    `environment` what commands get besides their own.
    """
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return _evaluate(path, name, criteria, rule, registry, root, base, environment)


def judge_sample(
    criteria: Criteria,
    rule: Rule,
    sample: Sample,
    registry: Registry,
    root: Path,
    folder: Path,
    *,
    base: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[CheckResult]:
    """Return what each check of a rule says about a sample, which lies below `folder` meanwhile.

    It has the name that the sample gives it; a folder is called `FOLDER`. Bytes that are not UTF-8
    are there as Python's surrogate escapes.
    """
    with tempfile.TemporaryDirectory(dir=folder) as own:
        label = FOLDER if sample.is_folder else next(iter(sample.files)) or NAME
        place = Path(own, FOLDER) if sample.is_folder else Path(own)
        place.mkdir(exist_ok=True)
        for name, text in sample.files.items():
            path = place / (name or NAME)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        artifact = place if sample.is_folder else place / label
        return _evaluate(artifact, label, criteria, rule, registry, root, base, environment)


def passes(results: Iterable[CheckResult]) -> bool | None:
    """Return whether a rule holds by what its checks say; None where that is not known."""
    outcomes = {result.outcome for result in results}
    if not outcomes or outcomes - {Outcome.PASS, Outcome.FAIL}:
        return None
    return outcomes == {Outcome.PASS}


def _evaluate(
    artifact: Path,
    label: str,
    criteria: Criteria,
    rule: Rule,
    registry: Registry,
    root: Path,
    base: Path | None,
    environment: Mapping[str, str] | None,
) -> list[CheckResult]:
    target = Target(
        criteria=replace(criteria, rules=(rule,)),
        level=rule.level,
        artifact=artifact,
        root=root,
        label=label,
        link_base=base,
        environment=environment or {},
    )
    prepared = prepare(target, registry)
    try:
        # A rule without a check is LLM-graded, where a judge is configured.
        return [run_one(prepared, rule.id, index) for _, index in prepared.checks]
    finally:
        prepared.close()


def _try_samples(
    criteria: Criteria, rule: Rule, registry: Registry, root: Path, folder: Path
) -> Iterator[SampleResult]:
    is_judged = any(check.votes for check in compile_rule(rule, criteria.vars, registry))
    unasked = registry.judge is None and is_judged
    for kind in ("good", "bad"):
        for number, sample in enumerate(rule.samples.get(kind, ()), 1):
            if unasked:
                said = MEANING[SampleVerdict.NOT_ASKED]
                yield SampleResult(
                    kind=kind,
                    number=number,
                    sample=sample,
                    verdict=SampleVerdict.NOT_ASKED,
                    message=said,
                )
                continue
            results = judge_sample(criteria, rule, sample, registry, root, folder)
            verdict = _verdict(kind, results)
            needs = next((result.needs for result in results if result.needs), "")
            if verdict is SampleVerdict.UNCLEAR and needs:
                verdict = SampleVerdict.NOT_MEASURED
            fixed = None
            if verdict is SampleVerdict.REPORTED and not is_judged and can_be_tried(rule, sample):
                fixed = fix_makes_sample_pass(
                    criteria,
                    rule,
                    sample,
                    lambda new: passes(judge_sample(criteria, rule, new, registry, root, folder)),
                    formatter=Formatting(
                        commands=criteria.commands,
                        name=next(iter(sample.files)) or NAME,
                        root=root,
                    ),
                )
            yield SampleResult(
                kind=kind,
                number=number,
                sample=sample,
                verdict=verdict,
                message=_message(results),
                fixed=fixed,
                needs=needs,
            )


def applies(results: Iterable[CheckResult]) -> bool:
    """Return whether the conditions of a rule hold by what its checks say."""
    return any(result.outcome is not Outcome.NOT_APPLICABLE for result in results)


def _verdict(kind: str, results: Sequence[CheckResult]) -> SampleVerdict:
    passed = passes(results)
    if results and not applies(results):
        return SampleVerdict.NOT_APPLICABLE
    if passed is None:
        return SampleVerdict.UNCLEAR
    if kind == "good":
        return SampleVerdict.VALIDATED if passed else SampleVerdict.NOISY
    return SampleVerdict.MISSING if passed else SampleVerdict.REPORTED


def _message(results: list[CheckResult]) -> str:
    """Return what the check says that decided: the first that did not pass, else the first."""
    if not results:
        return "the rule has no check that a program can run"
    undecided = [r for r in results if r.outcome not in (Outcome.PASS, Outcome.FAIL)]
    failed = [r for r in results if r.outcome is Outcome.FAIL]
    return (undecided or failed or results)[0].message
