"""Whether rules can fail: on mutants of what passes, on bad samples, on it grown, on nothing.

Promises: the same rules and artifacts are tried on the same texts in the same order, a bounded
number of them; a check that runs a command of the user's is run only where that is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reflex.checks.registry import compile_rule
from pytest_reflex.criteria.author.fault_injection import Mutant, find_matches, globs_of, plants
from pytest_reflex.criteria.author.mutants import Spans, grown, mutants
from pytest_reflex.criteria.author.proof import (
    ADVICE,
    MEANING,
    MOST_FILES,
    Original,
    Proof,
    RuleProof,
    among_good,
    asks_of_all,
    empty_original,
    is_text,
    located_lines,
    remove_files,
    seed_of,
    single_files,
    together,
)
from pytest_reflex.criteria.author.samples import NAME, applies, judge_sample, judge_text, passes
from pytest_reflex.model.artifact import Sample
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import Criteria, Rule
from pytest_reflex.model.targets import CompiledCheck
from pytest_reflex.process.deadline import Deadline
from pytest_reflex.process.guard import temporary_folder

if TYPE_CHECKING:
    from pytest_reflex.checks.registry import Registry

__all__ = ["ADVICE", "MEANING", "Original", "Proof", "Prover", "RuleProof"]

MOST_SEEDS = 4
"""Passing texts that mutants are made of."""
MOST_TRIES = 160
"""Texts that one rule is tried on at most; half of them for rules that start a process."""
MOST_BYTES = 1_000_000
"""The size of an artifact of which many mutants are made."""
_NEVER = "its conditions hold for nothing that it was tried on"
EMPTY = "the empty artifact"
"""What proves a check last of all: that something has to be there is all that it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Tries rules: the criteria that they are of, where commands run, and further texts.

    The texts are put into `folder` (default: a temporary one), those without a file of their own
    as `name`; commands get `environment` too. What is not tried when `deadline` has passed, is not
    tried at all.
    """

    criteria: Criteria
    registry: Registry
    root: Path
    seeds: tuple[Original, ...] = ()
    run_commands: bool = False
    folder: Path | None = None
    name: str = NAME
    environment: Mapping[str, str] = field(default_factory=dict)
    deadline: Deadline | None = None

    def prove(self, rules: Iterable[Rule]) -> Iterator[RuleProof]:
        """Yield what is known of each rule; raises CriteriaError where one cannot be compiled."""
        if self.folder is not None:
            yield from (self._proof(rule, self.folder) for rule in rules)
            return
        with temporary_folder("reflex-prove-") as folder:
            for rule in rules:
                yield self._proof(rule, folder)

    def _proof(self, rule: Rule, folder: Path) -> RuleProof:
        if not rule.checks:
            message = "the rule has no check that a program can run"
            return RuleProof(rule=rule, proof=Proof.UNPROVEN, message=message)
        checks = compile_rule(rule, self.criteria.vars, self.registry)
        if all(check.votes for check in checks):
            return RuleProof(rule=rule, proof=Proof.JUDGED, failed_on=(None,) * len(rule.checks))
        runnable = [self._may_run(check) for check in checks]
        chosen = tuple(check for check, may in zip(checks, runnable, strict=True) if may)
        if not chosen:
            return RuleProof(rule=rule, proof=Proof.NOT_RUN, failed_on=(None,) * len(runnable))
        tried = replace(rule, checks=tuple(check.spec for check in chosen))
        trial = _Trial(self, tried, chosen, folder)
        trial.run()
        failures = iter(trial.failed_on)
        return RuleProof(
            rule=rule,
            proof=_with_judge(trial, checks),
            empty=trial.empty,
            is_absence=trial.is_absence,
            failed_on=tuple(next(failures) if may else None for may in runnable),
            tried=trial.tried,
            message=trial.message if trial.applied else _NEVER,
            cut=trial.cut,
            among=trial.among,
            needs=trial.needs if trial.proof is Proof.NOT_PROVABLE else "",
        )

    def _may_run(self, check: CompiledCheck) -> bool:
        """Return whether a check asks no judge, and runs what the user named only if it may."""
        return not check.votes and (self.run_commands or not check.runs_foreign_code)


def _with_judge(trial: _Trial, checks: Iterable[CompiledCheck]) -> Proof:
    """Return what is known of a rule that a judge may fail, where the rest fails on nothing else.

    That the rest fails on the empty artifact shows little of such a rule.
    """
    proof = trial.proof
    weak = proof is Proof.PROVED and set(trial.failed_on) <= {"", EMPTY}
    open_yet = weak or proof in (Proof.VACUOUS, Proof.UNPROVEN)
    return Proof.JUDGED if open_yet and any(check.votes for check in checks) else proof


@dataclass(slots=True)
class _Trial:
    """One rule on one text after the other, until each of its checks has failed once."""

    prover: Prover
    rule: Rule
    checks: tuple[CompiledCheck, ...]
    folder: Path
    failed_on: list[str] = field(default_factory=list)
    empty: Outcome | None = None
    tried: int = 0
    applied: bool = False
    growing: Original | None = None
    message: str = ""
    cut: bool = False
    good: Original | None = None
    bad: Original | None = None
    among: Outcome | None = None
    needs: str = ""

    def run(self) -> None:
        self.failed_on = [""] * len(self.rule.checks)
        at_empty = self._judge(self._empty())
        self.needs = next((result.needs for result in at_empty if result.needs), "")
        self.empty = _outcome(at_empty)
        self.applied = applies(at_empty)
        self.message = next((r.message for r in at_empty if r.outcome is not Outcome.PASS), "")
        self._try_texts(quick=all(check.in_process for check in self.checks))
        if self.growing is not None:
            self._note(EMPTY, at_empty)
        mixed = among_good(self.rule.checks, self.prover.criteria.vars, self.good, self.bad)
        self.among = _outcome(self._judge(mixed)) if mixed else None

    def _try_texts(self, *, quick: bool) -> None:
        """Try one text after the other until each check has failed, or the time is over.

        Where each try starts a process, it is enough that the rule can fail.
        """
        bad = self._own("bad")
        of_seeds = self._of_seeds(MOST_SEEDS if quick else 1)
        order = chain(of_seeds, bad) if quick else chain(bad, of_seeds)
        most = MOST_TRIES if quick else MOST_TRIES // 2
        for seed in chain(islice(order, most), self._grown()):
            self.cut = self.prover.deadline is not None and self.prover.deadline.has_passed()
            if self.cut:
                return
            self._try(seed)
            if all(self.failed_on) or (not quick and any(self.failed_on) and seed not in bad):
                return

    @property
    def is_absence(self) -> bool:
        # A search in a section cannot judge where the section is missing.
        return self.empty is Outcome.PASS or all(check.forbids for check in self.checks)

    @property
    def proof(self) -> Proof:
        if self.needs and not any(self.failed_on):
            return Proof.NOT_PROVABLE
        if self.empty not in (Outcome.FAIL, Outcome.NOT_APPLICABLE) and not self.is_absence:
            return Proof.UNCLEAR
        if self.among is Outcome.PASS and asks_of_all(self.checks):
            return Proof.VACUOUS
        if any(self.failed_on):
            return Proof.PROVED
        if self.cut:
            return Proof.UNPROVEN
        # What was planted into nothing was a try as well: only a rule of absence passes there.
        has_tries = self.growing is not None or self._samples("bad")
        return Proof.VACUOUS if has_tries and self.applied else Proof.UNPROVEN

    def _samples(self, kind: str) -> Sequence[Sample]:
        return self.rule.samples.get(kind, ())

    def _own(self, kind: str) -> list[Original]:
        """Return the samples of a kind as seeds."""
        name = self.prover.name
        samples = enumerate(self._samples(kind), 1)
        return [seed_of(f"{kind} sample {n}", sample, name) for n, sample in samples]

    def _empty(self, what: str = "empty") -> Original:
        """Return what has nothing in it, of the kind that the rule's good samples are."""
        seeds = [*self._own("good"), *self.prover.seeds[:1]]
        return empty_original(seeds[0] if seeds else Original("", "", self.prover.name), what)

    def _judge(self, seed: Original) -> list[CheckResult]:
        it = self.prover
        if seed.name != it.name or seed.beside is not None:
            return judge_sample(
                it.criteria,
                self.rule,
                seed.sample,
                it.registry,
                it.root,
                self.folder,
                base=seed.base,
                environment=it.environment,
            )
        return judge_text(
            it.criteria,
            self.rule,
            seed.text,
            it.registry,
            it.root,
            self.folder,
            name=seed.name,
            base=seed.base,
            environment=it.environment,
        )

    def _try(self, seed: Original) -> None:
        self.tried += 1
        results = self._judge(seed)
        self.applied = self.applied or applies(results)
        self._note(seed.what, results)
        if self.bad is None and _outcome(results) is Outcome.FAIL:
            self.bad = seed

    def _note(self, what: str, results: Iterable[CheckResult]) -> None:
        """Remember which checks fail on a text, and have not failed on another one before."""
        for index, result in enumerate(results):
            self.needs = self.needs or result.needs
            if result.outcome is Outcome.FAIL and not self.failed_on[index]:
                self.failed_on[index] = what

    def _grown(self) -> Iterator[Original]:
        """Yield a passing text that is much longer: what bounds a text from above fails there."""
        seed = self.growing
        if seed is None or not is_text(seed):
            return
        for mutant in grown(seed.text):
            yield replace(seed, what=f"{seed.what}, {mutant.what}", text=mutant.text)

    def _of_seeds(self, most: int) -> Iterator[Original]:
        """Yield the mutants of passing texts, one of each in turn."""
        passing = []
        for seed in chain(self._own("good"), self.prover.seeds):
            results = self._judge(seed)
            self.needs = self.needs or next((r.needs for r in results if r.needs), "")
            if passes(results):
                passing.append((seed, results))
                self.good = self.good or seed
        globs = list(globs_of(self.rule.checks, self.prover.criteria.vars))
        streams = []
        for seed, results in passing[:most]:
            singles = list(single_files(seed, globs, results))
            self.growing = self.growing or (singles or [seed])[0]
            streams += [self._mutants(single, results) for single in singles[:MOST_FILES]]
            streams.append(together(seed, [self._mutants(one, results) for one in singles]))
            streams.append(remove_files(singles[:MOST_FILES]))
        if not streams and self.empty is Outcome.PASS:
            streams = [self._mutants(self._empty(EMPTY), ())]
        for row in zip_longest(*streams):
            yield from (seed for seed in row if seed)

    def _mutants(self, seed: Original, results: Sequence[CheckResult]) -> Iterator[Original]:
        if not is_text(seed):
            return
        spans: Spans = find_matches(self.checks, seed.text)
        lines = located_lines(seed, results)
        paths = [
            s.params["path"] for s in self.rule.checks if isinstance(s.params.get("path"), str)
        ]
        found: Iterable[Mutant] = chain(
            plants(self.checks, seed.text),
            mutants(seed.text, spans=spans, lines=lines, paths=paths),
        )
        for mutant in found:
            yield replace(seed, what=f"{seed.what}, {mutant.what}", text=mutant.text)


def _outcome(results: Sequence[CheckResult]) -> Outcome:
    """Return what a rule came to by its checks: a failure first, then what was not judged."""
    found = [result.outcome for result in results]
    if Outcome.FAIL in found:
        return Outcome.FAIL
    return next((outcome for outcome in found if outcome is not Outcome.PASS), Outcome.PASS)
