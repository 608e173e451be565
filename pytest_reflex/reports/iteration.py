"""What a loop prints: the block of an iteration and the final summary (seed 000)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.results import Evaluation, RuleResult
from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.stop import StopReason
from pytest_reflex.reports.evaluation import format_votes
from pytest_reflex.reports.lines import WIDTH, Line
from pytest_reflex.reports.run_lines import next_line
from pytest_reflex.reports.run_lines import spend_text as spend_text
from pytest_reflex.verdict.formatting import (
    arithmetic,
    format_score,
    gap,
    plain,
    rules_not_installed,
    same_causes,
)
from pytest_reflex.verdict.progress import flips_between


def block(
    state: RunState, evaluation: Evaluation, artifact_path: str, changed: str = ""
) -> list[Line]:
    """Return the block that follows every EVALUATE; the critique follows with `critique_lines`.

    `changed` says what was changed where that is not a section of a text.
    """
    score = format_score(evaluation.score)
    verdict = "PASS" if evaluation.passed else "FAIL"
    title = (
        f"── Iteration {state.iteration}/{state.limits.max_iterations} | "
        f"Phase {evaluation.level.value} | Score: {score} | {verdict} ──"
    )
    return [
        [(title, "good" if evaluation.passed else "bad")],
        _field("Plan", _one_line(state.plan)),
        _field("Hash", evaluation.artifact_hash),
        _field("Changed", changed or change_line(state.changed)),
        _field("Failed", ids(evaluation.failed), "bad" if evaluation.failed else ""),
        _field("Warnings", ids(evaluation.warnings), "mild" if evaluation.warnings else ""),
        _field("Artifact", artifact_path),
        *_extra_lines(state),
    ]


def _extra_lines(state: RunState) -> Iterator[Line]:
    """Yield what the seed's block does not have: flips, strange changes, checks that are idle."""
    flips = flips_between(state.marks)
    if flips and (flips.fixed or flips.broken or flips.still):
        said = (("fixed", flips.fixed), ("regressed", flips.broken), ("still failing", flips.still))
        yield _field("Changes", "; ".join(f"{word} {', '.join(ids)}" for word, ids in said if ids))
    if state.evaluation and (open_ones := _format_unmeasured(state.evaluation.results)):
        yield _field("Not measured", open_ones, "mild")
    if state.evaluation and (others := state.evaluation.not_applicable):
        yield _field("Not applicable", ids(others))
    if state.evaluation and state.evaluation.unsound:
        yield _field("Unsound", state.evaluation.unsound, "bad")
    yield from guard_lines(state.changed)
    if state.evaluation and state.evaluation.judged:
        yield _field("Judged", format_votes(state.evaluation))
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


def guard_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """Yield what lay outside the critique, and what became of it."""
    outside, reverted = found.get("outside") or (), found.get("reverted") or ()
    if kept := [name for name in outside if name not in reverted]:
        text = f"{', '.join(kept)} (changed although the critique did not name it)"
        yield _field("Outside", text, "mild")
    if reverted:
        text = f"{', '.join(reverted)} (the critique did not name it)"
        yield _field("Reverted", text, "mild")
    if why := found.get("unguarded"):
        text = f"changes outside the critique could not be taken back: {why}"
        yield _field("Not guarded", text, "mild")


def command_lines(commands: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield a line for each command that an agent made, before any of them runs."""
    for made in commands:
        run = f"runs by {made['approved_by']}" if made["approved_by"] else "is not run"
        shown = json.dumps(made["command"], ensure_ascii=False)
        which = f"  - {escape_control(made['rule_id'])}, {made['sha256'][:8]}, {run}:"
        yield [(which, "strong"), (f" {escape_control(shown)}", "")]


def _field(name: str, value: str, tone: str = "") -> Line:
    return [(f"{name}: {escape_control(value)}", tone)]


def _one_line(plan: Sequence[str]) -> str:
    if not plan:
        return "none"
    text = " ".join(plan[0].split())
    more = f" (+{len(plan) - 1} more)" if len(plan) > 1 else ""
    room = WIDTH - len("Plan: ") - len(more)
    return (text if len(text) <= room else text[: room - 1] + "…") + more


def change_line(changed: Mapping[str, Any]) -> str:
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
    """Return rule ids."""
    return ", ".join(r.rule.id for r in results) or "none"


def _format_unmeasured(results: Iterable[RuleResult]) -> str:
    """Return the ids of rules that could not be evaluated; empty where all were."""
    found = [r for r in results if r.applicable and r.outcome not in (Outcome.PASS, Outcome.FAIL)]
    errors = {r.rule.id for r in found if r.outcome is Outcome.ERROR}
    return ", ".join(f"{r.rule.id}{' (error)' * (r.rule.id in errors)}" for r in found)


CRITIQUE: Line = [("Critique:", "strong")]
"""The line above a critique."""


def critique_lines(
    evaluation: Evaluation, issues: Sequence[Mapping[str, str]] | None
) -> list[Line]:
    """Return the compact critique: a line per issue; without one, per rule that did not pass."""
    if issues:
        return [
            _of_rule(
                escape_control(i["rule_id"]),
                f"{_shorten(escape_control(i['problem']))}; "
                f"fix: {_shorten(escape_control(i['fix_instruction']), 240)}",
            )
            for i in issues
        ]
    every = (*evaluation.failed, *evaluation.warnings)
    rows = [r for r in every if not (r.same_cause or r.needs)]
    lines = [_of_rule(r.rule.id, f"{_shorten(escape_control(r.message))}{_place(r)}") for r in rows]
    texts = same_causes(every)
    for name, rule_ids in rules_not_installed(every).items():
        texts.append(f"not measured without {name}, which is not installed: {', '.join(rule_ids)}")
    return lines + [[(f"  - {text}", "")] for text in texts]


def _of_rule(rule_id: str, text: str) -> Line:
    return [(f"  - {rule_id}:", "strong"), (f" {text}", "")]


def _place(row: RuleResult) -> str:
    check = row.decisive
    location = check.location if check else None
    return f" (line {location.line})" if location and location.line else ""


def _shorten(text: str, room: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= room else line[: room - 1] + "…"


def distance(evaluation: Evaluation) -> list[Line]:
    """Return the distance to success: gap, blockers, progress in rules (seed 000)."""
    blockers = evaluation.blockers
    rules = evaluation.applicable
    passed = sum(r.passed for r in rules)
    score = format_score(evaluation.score)
    rows = (
        f"  threshold {plain(evaluation.threshold)}, score {score}, gap {gap(evaluation)}",
        f"  blocking rules: {len(blockers)}" + (f" ({ids(blockers)})" if blockers else ""),
        f"  rules passed: {passed}/{len(rules)}",
        *([f"  not measured: {open_ones}"] if (open_ones := _format_unmeasured(blockers)) else ()),
        *([f"  unsound: {evaluation.unsound}"] if evaluation.unsound else ()),
    )
    return [[("Distance to success:", "strong")], *([(row, "")] for row in rows)]


def _final_score(state: RunState) -> str:
    evaluation = state.evaluation
    if state.stop.reason is StopReason.TAMPERED:
        return "none (files were modified during the run: no verdict counts)"
    if evaluation is None or state.artifact_status != "evaluated":
        return "none (the artifact was not evaluated)"
    weights = f"{arithmetic(evaluation)} points"
    threshold = f"threshold {plain(evaluation.threshold)}"
    return f"{format_score(evaluation.score)} ({weights}, {threshold})"


def summary(state: RunState, delivered: Line | None = None, *, advises: bool = True) -> list[Line]:
    """Return the final summary of a run that ended; `delivered` says what became of the result.

    Unless it `advises`, it does not say how a loop over one text goes on.
    """
    evaluation, reason = state.evaluation, state.stop.reason
    tampered = reason is StopReason.TAMPERED
    facts = [
        f"Run: {state.run_id} ({state.status.value})",
        f"Iteration: {state.iteration}/{state.limits.max_iterations}",
        f"Phase: {state.level.value}",
        f"Final score: {_final_score(state)}",
        f"Stop reason: {reason.value if reason else 'none'}"
        + (f" ({escape_control(state.stop.detail)})" if state.stop.detail else ""),
    ]
    lines: list[Line] = [[("── Final summary ──", "strong")], *([(fact, "")] for fact in facts)]
    if state.stop.restored_from:
        back = state.stop.restored_from
        text = f"the best artifact, of iteration {back['iteration']}, phase {back['phase']}"
        lines.append(_field("Restored", text, "mild"))
    if evaluation and evaluation.judged and not tampered:
        lines.append(_field("Judged", format_votes(evaluation)))
    lines.append([(f"Spend: {spend_text(state.spend)}", "")])
    if evaluation and not state.stop.passed and not tampered:
        lines += distance(evaluation)
        lines += critique_lines(evaluation, None)
    if advises and (advice := next_line(state)):
        lines.append([("Next:", "strong"), (f" {advice}", "")])
    if delivered:
        lines.append(delivered)
    return [*lines, [(_gate(state), _gate_tone(state))]]


def _gate(state: RunState) -> str:
    return f"Gate: {'passed' if state.stop.passed else 'NOT passed'}"


def _gate_tone(state: RunState) -> str:
    return "good" if state.stop.passed else "bad"


def verdict_line(state: RunState, artifact_path: str) -> Line:
    """Return the verdict in one line, for below an artifact that made the summary scroll away."""
    reason, score = state.stop.reason, _final_score(state).partition(" ")[0]
    parts = [_gate(state), f"score {score}", reason.value if reason else "none"]
    there = state.artifact_sha256 != EMPTY_SHA256
    where = f"; artifact: {escape_control(artifact_path)}" if there else ""
    return [(", ".join(parts) + where, _gate_tone(state))]
