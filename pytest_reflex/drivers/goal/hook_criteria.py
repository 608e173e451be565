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
    ended_after,
)
from pytest_reflex.drivers.goal.hook_decision import (
    Decision,
    Payload,
    Why,
    cap_text,
    held,
    not_finished,
)
from pytest_reflex.drivers.goal.model import Plan
from pytest_reflex.drivers.goal.verify import Approvals, describe_refusal, starts_process
from pytest_reflex.errors import ReflexError
from pytest_reflex.model.leads import leads_with
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


def answer_by_criteria(payload: Payload, project: Path, options: HookOptions) -> Decision:
    """Return the decision on an artifact; criteria that cannot be used do not block."""
    from pytest_reflex.checks.registry import built_in
    from pytest_reflex.drivers.common.measure import Attempt

    record = SessionCounts(project, f"{options.criteria}\n{options.artifact}", payload.session)
    counts = record.read()
    if counts.blocks >= options.most:
        return Decision(why=Why.CAP, detail=cap_text(counts))
    attempt = Attempt()
    try:
        criteria, refused = usable_criteria(project, options, built_in())
        if criteria is None:
            return Decision(why=Why.BAD_STATE, detail=refused)
        if not os.path.exists(project / options.artifact):
            text = f"There is no {one_line(options.artifact)} yet."
            decision = held(Why.UNMET, text, counts, "missing", options.most)
            return _counted(decision, record, options, refused)
        with ended_after(options.timeout * SHARE, attempt.cancel.set):
            evaluation = _evaluated(criteria, project, options, built_in(), attempt.cancel)
    except ReflexError as error:
        return Decision(why=Why.BAD_STATE, detail=str(error))
    digest = evaluation.artifact_sha256
    if attempt.cancel.is_set():
        decision = not_finished(counts, digest, options.most)
    elif evaluation.passed:
        decision = Decision(why=Why.DONE, counts=replace(counts, unfinished=False))
    else:
        digest += ",".join(row.rule.id for row in evaluation.findings)
        decision = held(Why.UNMET, critique_text(evaluation), counts, digest, options.most)
    return _counted(decision, record, options, refused)


def usable_criteria(
    project: Path, options: HookOptions, registry: Registry
) -> tuple[Criteria | None, str]:
    """Return the criteria without what is not approved and what needs a judge, and why that is.

    None where nothing is left.
    """
    from pytest_reflex.checks.registry import compile_rule
    from pytest_reflex.criteria.load import load_criteria

    plan = Plan(criteria=options.criteria, artifact=options.artifact)
    criteria = load_criteria(options.criteria, registry=registry, relative_to=project)
    missing = Approvals.load(project).missing([plan], registry)
    compiled = [(rule, compile_rule(rule, criteria.vars, registry)) for rule in criteria.rules]
    by_program = [(rule, checks) for rule, checks in compiled if _is_for_a_program(checks)]
    usable = [
        rule for rule, checks in by_program if not (missing and any(map(starts_process, checks)))
    ]
    told = []
    if judged := len(criteria.rules) - len(by_program):
        told.append(f"LLM-graded rules do not block: {judged}")
    if missing:
        told.append(describe_refusal(missing))
    return (replace(criteria, rules=tuple(usable)) if usable else None), "; ".join(told)


def _is_for_a_program(checks: Sequence[CompiledCheck]) -> bool:
    return bool(checks) and not any(check.is_judged for check in checks)


def _evaluated(
    criteria: Criteria, project: Path, options: HookOptions, registry: Registry, cancel: Event
) -> Evaluation:
    from pytest_reflex.checks.run import evaluate
    from pytest_reflex.criteria.suite import make_target

    target = make_target(criteria, project / options.artifact, root=project)
    return evaluate(replace(target, label=options.artifact), registry, cancel=cancel)


def critique_text(evaluation: Evaluation) -> str:
    """Return what to change in an artifact, worst first."""
    from pytest_reflex.verdict.formatting import plain, shown_score

    score, needed = shown_score(evaluation.score), plain(evaluation.threshold)
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
    is_told = check is not None and not row.rule.hint and leads_with(check, wanted)
    return one_line(f"{row.rule.id}: {message}" + f"; wanted: {wanted}" * (not is_told), _LINE)


def _counted(
    decision: Decision, record: SessionCounts, options: HookOptions, refused: str
) -> Decision:
    if refused:
        decision = replace(decision, detail="; ".join(filter(None, (decision.detail, refused))))
    if decision.counts is None or not options.counts:
        return decision
    if decision.why is Why.DONE:
        record.forget()
    elif not record.write(decision.counts) and decision.blocks:
        return Decision(why=Why.UNCOUNTED, detail=NO_PLACE)
    return decision
