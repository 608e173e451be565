"""The core of every evaluation: read the artifact once, run the checks on it, report what they say.

Plain pytest, the command line and the loops all come here. Commands overlap in a bounded pool;
checks that need no process run in line. An evaluation is sound only if the artifact and the
criteria stayed as they were.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from pytest_reflex.checks.blocks_folder import BlocksFolder
from pytest_reflex.checks.composite import run_safely
from pytest_reflex.checks.judged import BudgetedJudge, CachedJudge, add_judged_checks
from pytest_reflex.checks.reading import FileWatch, files_of_rules, read_artifact, watches
from pytest_reflex.checks.registry import Key, Registry, compile_checks
from pytest_reflex.errors import ArtifactError, StateError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.judged import Ballot, Judge, JudgeWhen
from pytest_reflex.model.pattern_leads import lead_with
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.results import CheckResult, Evaluation, PlacedFinding
from pytest_reflex.model.rules import Rule, environment_of
from pytest_reflex.model.targets import CheckContext, CompiledCheck, RunCheck, Target
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.environment import own_secrets, redact, redact_ends
from pytest_reflex.process.pool import Pool
from pytest_reflex.verdict.score import judge

if TYPE_CHECKING:
    from pytest_reflex.checks.groups import Groups


def redact_results(run: RunCheck, known: Mapping[str, str] | None = None) -> RunCheck:
    """Return a check whose result names secret variables where it held their values.

    `known` are the secrets; where they are not given, those of the moment when it has run.
    """

    def run_redacted(artifact: Artifact, context: CheckContext) -> CheckResult:
        result = run(artifact, context)
        if not isinstance(result, CheckResult):  # the caller reports it
            return result
        hidden = own_secrets() if known is None else known
        if not (hidden or _has_address(result) or result.ballots):
            return result
        return replace(
            result,
            message=redact_ends(redact(result.message, hidden), hidden),
            evidence=redact_ends(redact(result.evidence, hidden), hidden),
            expected=redact(result.expected, hidden),
            pattern=redact(result.pattern, hidden),
            notes=tuple(redact(note, hidden) for note in result.notes),
            findings=tuple(
                replace(
                    found,
                    message=redact_ends(redact(found.message, hidden), hidden),
                    pattern=redact(found.pattern, hidden),
                )
                for found in result.findings
            ),
            ballots=tuple(_redact_ballot(ballot, hidden) for ballot in result.ballots),
        )

    return run_redacted


def _has_address(result: CheckResult) -> bool:
    """Return whether a text may hold a password without any secret being known."""
    found = (finding.message for finding in result.findings)
    texts = (result.message, result.evidence, result.expected, *result.notes, *found)
    return any("://" in text for text in texts)


def _redact_ballot(ballot: Ballot, hidden: Mapping[str, str]) -> Ballot:
    votes = (
        replace(
            vote,
            reasons=tuple(redact(reason, hidden) for reason in vote.reasons),
            error=redact(vote.error, hidden),
        )
        for vote in ballot.votes
    )
    return replace(ballot, votes=tuple(votes))


__all__ = ["Key", "PreparedTarget", "compile_checks", "evaluate", "prepare", "run_one", "unsound"]

_HARMLESS = (Outcome.PASS, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTarget:
    """A target with its artifact as it was read, and its checks in rule order.

    Where a judge is configured, the rules of the target that have no check have a judged one.
    `paid` are the checks that ask it: they come last. If `waits`, no agent is asked where one of
    the others blocks the gate; `outcomes` are what those came to, the last time that each was run.
    `groups` keeps checks of one group apart, where there are any. `secrets` are those that were
    known at the start.
    """

    target: Target
    artifact: Artifact
    checks: Mapping[Key, CompiledCheck]
    rules: Mapping[str, Rule]
    context: CheckContext
    registry: Registry
    watches: tuple[FileWatch, ...]
    secrets: Mapping[str, str] = field(default_factory=dict)
    paid: frozenset[Key] = frozenset()
    waits: bool = False
    outcomes: dict[Key, Outcome] = field(default_factory=dict)
    groups: Groups | None = None

    def in_process(self, rule_id: str, index: int) -> bool:
        """Whether a check is quick and starts no process of the user's."""
        return self.checks[rule_id, index].in_process

    def context_of(self, rule_id: str) -> CheckContext:
        """Return what the checks of a rule may know."""
        return replace(self.context, rule=self.rules[rule_id], blocked=self._is_blocked())

    def _is_blocked(self) -> bool:
        """Return whether no agent is to be asked: a free check keeps the gate from passing."""
        return self.waits and any(
            outcome not in _HARMLESS and self.rules[rule_id].severity is Severity.FAIL
            for (rule_id, _), outcome in list(self.outcomes.items())
        )

    def find_change(self) -> str:
        """Return the name of what is no longer as it was read: artifact or criteria; else ""."""
        return next((watch.artifact.name for watch in self.watches if watch.has_changed()), "")

    def close(self) -> None:
        """Remove what was made for commands; the next one makes it again."""
        if isinstance(self.context.blocks, BlocksFolder):
            self.context.blocks.close()


def _own_groups() -> Groups:
    from pytest_reflex.checks.groups import Groups

    return Groups()


def prepare(
    target: Target,
    registry: Registry,
    *,
    cancel: Event | None = None,
    limit: int = 0,
    groups: Callable[[], Groups] = _own_groups,
) -> PreparedTarget:
    """Return everything that the checks of a target need.

    Setting `cancel` ends the commands that run. `limit` is the largest artifact in bytes (0: as the
    registry has it). `groups` gives the locks that a session shares. Raises CriteriaError with
    every check that cannot be compiled, and ArtifactError where the artifact cannot be read.
    """
    criteria = target.criteria
    if not all(rule.checks for rule in criteria.rules):
        criteria = add_judged_checks(criteria, registry, conditional=True)
        target = replace(target, criteria=criteria)
    checks = compile_checks(criteria, target.level, registry)
    artifact = read_artifact(
        target.artifact,
        name=target.label or None,
        limit=limit or registry.size_limit,
        base=target.link_base,
        outside=target.outside,
    )
    starts = not all(check.in_process for check in checks.values())
    judge = _judge(registry, target)
    context = CheckContext(
        root=target.root,
        environment={**environment_of(criteria.vars), **target.environment},
        cancel=cancel,
        blocks=BlocksFolder(artifact) if starts else None,
        judge=judge,
    )
    return PreparedTarget(
        target=target,
        artifact=artifact,
        checks=checks,
        rules={rule.id: rule for rule in target.rules},
        context=context,
        registry=registry,
        watches=watches(artifact, files_of_rules(criteria) if starts else ()),
        secrets=own_secrets(),
        paid=frozenset(key for key, check in checks.items() if judge and check.votes),
        waits=judge is not None and registry.judge_when is JudgeWhen.NO_BLOCKERS,
        groups=groups() if any(check.spec.groups for check in checks.values()) else None,
    )


def _judge(registry: Registry, target: Target) -> Judge | None:
    """Return the LLM judge, limited to what the target may cost, with its listeners."""
    judge = registry.judge
    if judge is not None and target.budget:
        judge = BudgetedJudge(judge, target.budget)
    if judge is not None and target.heard is not None:
        judge = CachedJudge(judge, target.votes, target.heard, asked=target.asked, asks=target.asks)
    return judge


def run_one(prepared: PreparedTarget, rule_id: str, index: int) -> CheckResult:
    """Run one check and return what it came to; never raises but for what ends the session.

    An exception in a check is an error result that names it. A check that changed the artifact or
    the criteria could not judge either.
    """
    key = (rule_id, index)
    names = prepared.checks[key].spec.groups
    if prepared.groups is None or not names:
        return _run(prepared, key)
    try:
        with prepared.groups.hold(names, prepared.context.cancel or Event()):
            return _run(prepared, key)
    except StateError as error:
        return CheckResult(outcome=Outcome.ERROR, message=error.problems[0].message)


def _run(prepared: PreparedTarget, key: Key) -> CheckResult:
    rule_id = key[0]
    started = time.perf_counter()
    check = prepared.checks[key]
    context = prepared.context if check.in_process else prepared.context_of(rule_id)
    run = redact_results(check.run, prepared.secrets if check.in_process else None)
    result = run_safely(run, prepared.artifact, context)
    if not check.in_process and (message := _find_disturbance(prepared)):
        result = replace(result, outcome=Outcome.ERROR, message=message)
    if result.outcome is Outcome.NOT_APPLICABLE and not prepared.rules[rule_id].when:
        message = "a check cannot say that its rule is not applicable: `when` of the rule does"
        result = replace(result, outcome=Outcome.ERROR, message=message)
    if key not in prepared.paid:
        prepared.outcomes[key] = result.outcome
    if result.outcome is Outcome.FAIL and not result.findings:
        only = PlacedFinding(
            message=result.message, location=result.location, pattern=result.pattern
        )
        result = replace(result, findings=(only,))
    expected = result.expected or check.spec.expected
    if result.outcome is Outcome.FAIL:
        result = lead_with(result, _describe_check(check, result, prepared.rules[rule_id]))
    return replace(result, expected=expected, duration=time.perf_counter() - started)


def _describe_check(check: CompiledCheck, result: CheckResult, rule: Rule) -> str:
    """Return what a check is about, in words; empty where its alternatives have said that."""
    if check.alternatives and result.expected:
        return check.spec.expected
    return result.expected or check.spec.expected or rule.description


def _find_disturbance(prepared: PreparedTarget) -> str:
    """Return why the result of a check that has just run is not reliable; empty where it is."""
    try:
        name = prepared.find_change()
    except ArtifactError as error:
        return error.problems[0].message
    return f"{one_line(name)} changed while this check ran" if name else ""


def evaluate(
    target: Target,
    registry: Registry,
    *,
    workers: int | None = None,
    cancel: Event | None = None,
) -> Evaluation:
    """Judge one target completely.

    `workers` is the number of commands that run at once; `cancel` ends what runs. Raises
    CriteriaError and ArtifactError as `prepare` does; nothing else that a check does can raise
    here.
    """
    cancel = cancel or Cancel()
    prepared = prepare(target, registry, cancel=cancel)
    try:
        results = _run_all(prepared, workers, cancel)
    finally:
        prepared.close()
    return judge(
        prepared.target,
        results,
        sha256=prepared.artifact.sha256,
        unsound=unsound(prepared),
        left_out=prepared.artifact.left_out,
    )


def _run_all(
    prepared: PreparedTarget, workers: int | None, cancel: Event
) -> dict[Key, CheckResult]:
    """Run all checks, those that cost last; where they wait, they begin when all others ended."""
    free = [key for key in prepared.checks if key not in prepared.paid]
    paid = [key for key in prepared.checks if key in prepared.paid]
    found: dict[Key, CheckResult] = {}
    for keys in filter(None, (free, paid) if prepared.waits else ([*free, *paid],)):
        with Pool[Key, CheckResult](workers, cancel) as pool:
            for key in keys:
                if not prepared.in_process(*key):
                    pool.submit(key, partial(run_one, prepared, *key))
            for key in keys:
                found[key] = pool.result(key) if key in pool else run_one(prepared, *key)
    return found


def unsound(prepared: PreparedTarget) -> str:
    """Return why no verdict of this target can be trusted; empty where they can."""
    name = prepared.find_change()
    return f"{one_line(name)} changed during the evaluation" if name else ""
