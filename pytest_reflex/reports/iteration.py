"""What a loop tells people: the block of an iteration and the final summary (seed 000)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.model.plain import visible
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.stop import StopReason
from pytest_reflex.reports.advice import next_line
from pytest_reflex.reports.spending import spend_text as spend_text
from pytest_reflex.reports.votes import votes_told
from pytest_reflex.verdict.figures import arithmetic, gap, plain, shown_score
from pytest_reflex.verdict.progress import flips_between

WIDTH = 80


def block(state: RunState, evaluation: Evaluation, artifact_path: str) -> str:
    """Return the block that follows every EVALUATE; the critique follows with `critique_lines`."""
    score = shown_score(evaluation.score)
    verdict = "PASS" if evaluation.passed else "FAIL"
    title = (
        f"── Iteration {state.iteration}/{state.limits.max_iterations} | "
        f"Phase {evaluation.level.value} | Score: {score} | {verdict} ──"
    )
    lines = [
        title,
        _field("Plan", _one_line(state.plan)),
        _field("Hash", evaluation.artifact_hash),
        _field("Changed", changed_line(state.changed)),
        _field("Failed", ids(evaluation.failed)),
        _field("Warnings", ids(evaluation.warnings)),
        _field("Artifact", artifact_path),
        *_added(state),
    ]
    return "\n".join(lines)


def _added(state: RunState) -> Iterator[str]:
    """Yield what the seed's block does not have: flips, strange changes, checks that are idle."""
    flips = flips_between(state.marks)
    if flips and (flips.fixed or flips.broken or flips.still):
        said = (("fixed", flips.fixed), ("broken", flips.broken), ("still failing", flips.still))
        yield _field("Flips", "; ".join(f"{word} {', '.join(ids)}" for word, ids in said if ids))
    yield from (_field(name, said) for name, said in guard_lines(state.changed))
    if state.evaluation and state.evaluation.judged:
        yield _field("Judged", votes_told(state.evaluation))
    yield from (_field(name, said) for name, said in proof_lines(state.proofs))


def proof_lines(proofs: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what the proofs of an agent's checks say against them, each with its heading."""
    for one in proofs:
        if one["proof"] == "vacuous":
            why = one["message"] or "what an agent made for it cannot fail"
            yield "Vacuous", f"{one['rule']} (no weight: {_shorten(why)})"
        elif one["proof"] != "proved":
            yield "Not proved", f"{one['rule']} (no weight: {_shorten(one['message'])})"
        for number in one.get("idle", ()):
            of = f"check {number} of {len(one['failed_on'])}"
            yield "Idle", f"{one['rule']} ({of} that an agent made cannot fail)"


def guard_lines(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what lay outside the critique, and what became of it, each with its heading."""
    outside, reverted = found.get("outside") or (), found.get("reverted") or ()
    if kept := [name for name in outside if name not in reverted]:
        yield "Outside", f"{', '.join(kept)} (changed although the critique did not name it)"
    if reverted:
        yield "Reverted", f"{', '.join(reverted)} (the critique did not name it)"
    if why := found.get("unguarded"):
        yield "Not guarded", f"changes outside the critique could not be taken back: {why}"


def command_lines(commands: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each command that an agent made, before any of them runs."""
    for made in commands:
        run = f"runs by {made['approved_by']}" if made["approved_by"] else "is not run"
        shown = json.dumps(made["command"], ensure_ascii=False)
        yield f"  - {visible(made['rule_id'])}, {made['sha256'][:8]}, {run}: {visible(shown)}"


def _field(name: str, value: str) -> str:
    return f"{name}: {visible(value)}"


def _one_line(plan: Sequence[str]) -> str:
    if not plan:
        return "none"
    text = " ".join(plan[0].split())
    more = f" (+{len(plan) - 1} more)" if len(plan) > 1 else ""
    room = WIDTH - len("Plan: ") - len(more)
    return (text if len(text) <= room else text[: room - 1] + "…") + more


def changed_line(changed: Mapping[str, Any]) -> str:
    """Return the sections that the last change of the artifact added, modified or removed."""
    if not changed or changed.get("initial"):
        return "initial generation"
    parts = [
        f"{word} {', '.join(changed[word])}"
        for word in ("added", "modified", "removed")
        if changed.get(word)
    ]
    return "; ".join(parts) or "nothing"


def ids(results: Iterable[RuleResult]) -> str:
    """Return rule ids, each with its outcome where it could not be judged."""
    names = [
        r.rule.id if r.outcome.value == "fail" else f"{r.rule.id} ({r.outcome.value})"
        for r in results
    ]
    return ", ".join(names) or "none"


def critique_lines(evaluation: Evaluation, issues: Sequence[Mapping[str, str]] | None) -> list[str]:
    """Return the compact critique: a line per issue; without one, per rule that did not pass."""
    if issues:
        return [
            f"  - {visible(i['rule_id'])}: {_shorten(visible(i['problem']))}; "
            f"fix: {_shorten(visible(i['fix_instruction']), 240)}"
            for i in issues
        ]
    rows = (*evaluation.failed, *evaluation.warnings)
    return [f"  - {r.rule.id}: {_shorten(visible(r.message))}{_place(r)}" for r in rows]


def _place(row: RuleResult) -> str:
    check = row.decisive
    location = check.location if check else None
    return f" (line {location.line})" if location and location.line else ""


def _shorten(text: str, room: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= room else line[: room - 1] + "…"


def distance(evaluation: Evaluation) -> list[str]:
    """Return the distance to success: gap, blockers, progress in rules (seed 000)."""
    blockers = evaluation.failed
    passed = sum(r.passed for r in evaluation.results)
    score = shown_score(evaluation.score)
    return [
        "Distance to success:",
        f"  threshold {plain(evaluation.threshold)}, score {score}, gap {gap(evaluation)}",
        f"  blocking rules: {len(blockers)}" + (f" ({ids(blockers)})" if blockers else ""),
        f"  rules passed: {passed}/{len(evaluation.results)}",
    ]


def _final_score(state: RunState) -> str:
    evaluation = state.evaluation
    if state.stop.reason is StopReason.TAMPERED:
        return "none (files were modified during the run: no verdict counts)"
    if evaluation is None or state.artifact_status != "evaluated":
        return "none (the artifact was not evaluated)"
    weights = f"{arithmetic(evaluation)} of the weight"
    threshold = f"threshold {plain(evaluation.threshold)}"
    return f"{shown_score(evaluation.score)} ({weights}, {threshold})"


def summary(state: RunState, delivered: str = "") -> str:
    """Return the final summary of a run that ended; `delivered` says what became of the result."""
    evaluation, reason = state.evaluation, state.stop.reason
    tampered = reason is StopReason.TAMPERED
    lines = [
        "── Final summary ──",
        f"Run: {state.run_id} ({state.status.value})",
        f"Iteration: {state.iteration}/{state.limits.max_iterations}",
        f"Phase: {state.level.value}",
        f"Final score: {_final_score(state)}",
        f"Stop reason: {reason.value if reason else 'none'}"
        + (f" ({visible(state.stop.detail)})" if state.stop.detail else ""),
    ]
    if state.stop.restored_from:
        back = state.stop.restored_from
        lines.append(
            f"Restored: the best artifact, of iteration {back['iteration']}, phase {back['phase']}"
        )
    if evaluation and evaluation.judged and not tampered:
        lines.append(_field("Judged", votes_told(evaluation)))
    lines.append(f"Spend: {spend_text(state.spend)}")
    if evaluation and not state.stop.passed and not tampered:
        lines += distance(evaluation)
        lines += critique_lines(evaluation, None)
    if advice := next_line(state):
        lines.append(advice)
    if delivered:
        lines.append(visible(delivered))
    lines.append(_gate(state))
    return "\n".join(lines)


def _gate(state: RunState) -> str:
    return f"Gate: {'passed' if state.stop.passed else 'NOT passed'}"


def verdict_line(state: RunState, artifact_path: str) -> str:
    """Return the verdict in one line, for below an artifact that made the summary scroll away."""
    reason, score = state.stop.reason, _final_score(state).partition(" ")[0]
    parts = [_gate(state), f"score {score}", reason.value if reason else "none"]
    there = state.artifact_sha256 != EMPTY_SHA256
    return ", ".join(parts) + (f"; artifact: {visible(artifact_path)}" if there else "")
