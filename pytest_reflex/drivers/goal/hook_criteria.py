"""The Stop hook on criteria alone: a client is held until an artifact passes them.

What is not passed is the reason, shortened. Rules whose commands are not approved are left out, and
shown; the counts lie in the user's state folder.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reflex.drivers.goal.hook import (
    NO_PLACE,
    SHARE,
    HookOptions,
    SessionCounts,
    call_after,
)
from pytest_reflex.drivers.goal.hook_decision import (
    HookDecision,
    HookReason,
    Payload,
    cap_text,
    decide_unfinished,
    hold,
)
from pytest_reflex.drivers.goal.model import VerificationPlan
from pytest_reflex.drivers.goal.verify import Approvals, describe_refusal, starts_process
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.pattern_leads import leads_with
from pytest_reflex.model.plain import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from pytest_reflex.checks.registry import Registry
    from pytest_reflex.model.results import Evaluation, RuleResult
    from pytest_reflex.model.rules import Criteria
    from pytest_reflex.model.targets import CompiledCheck

LISTED = 5
_LINE = 300


def answer_by_criteria(payload: Payload, project: Path, options: HookOptions) -> HookDecision:
    """Return the decision on an artifact; criteria that cannot be used do not block."""
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.drivers.common.measure import Attempt

    record = SessionCounts(project, f"{options.criteria}\n{options.artifact}", payload.session)
    counts = record.read()
    if counts.blocks >= options.most:
        return HookDecision(why=HookReason.CAP, detail=cap_text(counts))
    attempt = Attempt()
    try:
        criteria, refused = usable_criteria(project, options, built_in_registry())
        if criteria is None:
            return HookDecision(why=HookReason.BAD_STATE, detail=refused)
        if not os.path.exists(project / options.artifact):
            text = f"There is no {one_line(options.artifact)} yet."
            decision = hold(HookReason.UNMET, text, counts, "missing", options.most)
            return _count_refusal(decision, record, options, refused)
        with call_after(options.timeout * SHARE, attempt.cancel.set):
            evaluation = _evaluate(criteria, project, options, built_in_registry(), attempt.cancel)
    except ReflexError as error:
        return HookDecision(why=HookReason.BAD_STATE, detail=str(error))
    digest = evaluation.artifact_sha256
    if attempt.cancel.is_set():
        decision = decide_unfinished(counts, digest, options.most)
    elif evaluation.passed:
        decision = HookDecision(why=HookReason.DONE, counts=replace(counts, unfinished=False))
    else:
        digest += ",".join(row.rule.id for row in evaluation.findings)
        decision = hold(HookReason.UNMET, critique_text(evaluation), counts, digest, options.most)
    return _count_refusal(decision, record, options, refused)


def usable_criteria(
    project: Path, options: HookOptions, registry: Registry
) -> tuple[Criteria | None, str]:
    """Return the criteria without what is not approved and what needs a judge, and why that is.

    None where nothing is left.
    """
    from pytest_reflex.checks.registry import compile_rule
    from pytest_reflex.criteria.load import load_criteria

    plan = VerificationPlan(criteria=options.criteria, artifact=options.artifact)
    criteria = load_criteria(options.criteria, registry=registry, relative_to=project)
    missing = Approvals.load(project).find_missing([plan], registry)
    compiled = [(rule, compile_rule(rule, criteria.vars, registry)) for rule in criteria.rules]
    by_program = [(rule, checks) for rule, checks in compiled if _is_for_a_program(checks)]
    usable = [
        rule for rule, checks in by_program if not (missing and any(map(starts_process, checks)))
    ]
    notes = []
    if judged := len(criteria.rules) - len(by_program):
        notes.append(f"LLM-graded rules do not block: {judged}")
    if missing:
        notes.append(describe_refusal(missing))
    return (replace(criteria, rules=tuple(usable)) if usable else None), "; ".join(notes)


def _is_for_a_program(checks: Sequence[CompiledCheck]) -> bool:
    return bool(checks) and not any(check.is_judged for check in checks)


def _evaluate(
    criteria: Criteria, project: Path, options: HookOptions, registry: Registry, cancel: Event
) -> Evaluation:
    from pytest_reflex.checks.run import evaluate
    from pytest_reflex.criteria.suite import make_target

    target = make_target(criteria, project / options.artifact, root=project)
    return evaluate(replace(target, label=options.artifact), registry, cancel=cancel)


def critique_text(evaluation: Evaluation) -> str:
    """Return what to change in an artifact, worst first."""
    from pytest_reflex.verdict.formatting import format_score, plain

    score, needed = format_score(evaluation.score), plain(evaluation.threshold)
    name = one_line(evaluation.artifact)
    lines = [f"{name} does not pass its criteria yet: score {score}, needs {needed}."]
    found = evaluation.findings
    lines += [f"- {_line(row)}" for row in found[:LISTED]]
    if len(found) > LISTED:
        lines.append(f"- and {len(found) - LISTED} more")
    return "\n".join([*lines, "Correct these; then you can stop."])


def _line(row: RuleResult) -> str:
    check = row.decisive
    wanted = row.rule.hint or (check.expected if check else "") or row.rule.description
    message = row.message.strip() or "it did not pass"
    is_redundant = check is not None and not row.rule.hint and leads_with(check, wanted)
    return one_line(f"{row.rule.id}: {message}" + f"; wanted: {wanted}" * (not is_redundant), _LINE)


def _count_refusal(
    decision: HookDecision, record: SessionCounts, options: HookOptions, refused: str
) -> HookDecision:
    if refused:
        decision = replace(decision, detail="; ".join(filter(None, (decision.detail, refused))))
    if decision.counts is None or not options.counts:
        return decision
    if decision.why is HookReason.DONE:
        record.forget()
    elif not record.write(decision.counts) and decision.blocks:
        return HookDecision(why=HookReason.UNCOUNTED, detail=NO_PLACE)
    return decision
