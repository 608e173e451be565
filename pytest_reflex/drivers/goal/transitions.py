"""What comes next in a goal, what follows from each step, and the verdict at its end (pure).

SHIP: everything is met, by execution output, observation or measurement, and can be rolled back.
MONITOR: something rests on a review or a claim, or cannot be rolled back fast. RESEARCH: something
is unmet or assumed, or more than 30 % of the criteria are weak.

G1 ─► [checkpoint] ─► work ─► verify ─┬─► G2 ─► [checkpoint] ─► work ...
                                          └─► G3 ─► the end

Gates are for the colleague shape, checkpoints for what can be rolled back within minutes. An
iteration ends with `verify`. Source: the iteration protocol and the circuit breakers of seed 003.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.goal.model import (
    MOST_STUCK,
    Criterion,
    GoalState,
    Reversibility,
    Verification,
)
from pytest_reflex.drivers.goal.run_state import CallResult, GateAnswer, Goal, GoalStep, Pause
from pytest_reflex.drivers.goal.spec import points_of
from pytest_reflex.model.plain import boundary, columns, escape_control, one_line
from pytest_reflex.model.stop import StopReason

MOST_WEAK = Fraction(3, 10)
NARROWEST, WIDEST = 34, 74
"""Columns of the text in a box."""


class GoalVerdict(StrEnum):
    """What a goal came to, from the best to the worst."""

    SHIP = "SHIP"
    MONITOR = "MONITOR"
    RESEARCH = "RESEARCH"

    @property
    def passed(self) -> bool:
        return self is not GoalVerdict.RESEARCH


_SIGNS = {GoalVerdict.SHIP: "🟢", GoalVerdict.MONITOR: "🟡", GoalVerdict.RESEARCH: "🔴"}
_NO_PROOF = (Verification.CLAIM, Verification.ASSUMPTION)


def proof_of(criterion: Criterion) -> Verification:
    """Return how a criterion was proven; one that is met without a word on how is a claim."""
    return criterion.verification or Verification.CLAIM


def weak_share(criteria: Sequence[Criterion]) -> Fraction:
    """Return the share of the criteria that are unmet, or met by a weak proof."""
    weak = sum(not one.met or proof_of(one).is_weak for one in criteria)
    return Fraction(weak, len(criteria)) if criteria else Fraction(1)


def verdict_of(state: GoalState, reversibility: Reversibility) -> GoalVerdict:
    """Return what the criteria of a state come to."""
    if not state.all_met or weak_share(state.criteria) > MOST_WEAK:
        return GoalVerdict.RESEARCH
    weak = any(proof_of(one).is_weak for one in state.criteria)
    if weak or reversibility is Reversibility.ONE_WAY:
        return GoalVerdict.MONITOR
    return GoalVerdict.SHIP


def verdict_box(
    state: GoalState,
    reversibility: Reversibility,
    *,
    alternative: str,
    risk: str,
    is_over: bool = True,
) -> list[str]:
    """Return the lines of the box, all of one width; `alternative` and `risk` are its last.

    A goal that is not over is no better than RESEARCH, whatever is met.
    """
    verdict = verdict_of(state, reversibility) if is_over else GoalVerdict.RESEARCH
    above = list(_facts(state, reversibility))
    below = [f"↳ Alt: {alternative}", f"↳ Risk: {risk}"]
    rows = [[row for text in part for row in _rows(text)] for part in (above, below)]
    title = f"─ {_SIGNS[verdict]} {verdict.value} "
    width = max(NARROWEST, *(columns(row) for part in rows for row in part))
    edge = "─" * (width + 2)
    return [
        f"╭{title}{'─' * (width + 2 - columns(title))}╮",
        *(_frame_row(row, width) for row in rows[0]),
        f"├{edge}┤",
        *(_frame_row(row, width) for row in rows[1]),
        f"╰{edge}╯",
    ]


def _facts(state: GoalState, reversibility: Reversibility) -> Iterator[str]:
    met = [proof_of(one) for one in state.criteria if one.met]
    kinds = [kind.value for kind in Verification if kind in met]
    proven = sum(kind not in _NO_PROOF for kind in met)
    percent = round(weak_share(state.criteria) * 100)
    yield f"Verified: {', '.join(kinds) or 'nothing'}"
    yield f"Checklist: {proven}/{len(state.criteria)} criteria verified"
    points = points_of(len(state.steps))
    yield f"Subjective: ~{percent}% · Type {reversibility.value} · {points}pt"


def _frame_row(row: str, width: int) -> str:
    return f"│ {row}{' ' * (width - columns(row))} │"


def _rows(text: str) -> Iterator[str]:
    """Yield a text as rows that fit into a box; what goes on is indented."""
    flat = " ".join(escape_control(text).split())
    for index, row in enumerate(textwrap.wrap(flat, WIDEST - 2) or [""]):
        yield from _cut(row if not index else f"  {row}")


def _cut(row: str) -> Iterator[str]:
    """Yield a row in pieces that fit: wide characters take two columns."""
    while columns(row) > WIDEST:
        end = WIDEST // 2
        while columns(row[: end + 1]) <= WIDEST:
            end += 1
        end = boundary(row, end) or end
        yield row[:end]
        row = f"  {row[end:]}"
    yield row


MOST_ERRORS = 3
MOST_EDITS = 5
_CHANGING = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


def next_step(goal: Goal) -> GoalStep | Stop:
    """Return the next step of a goal, or why it has come to an end."""
    if goal.pause is not None:
        return Stop(goal.pause.reason, goal.pause.detail)
    if goal.verdict:
        passed = GoalVerdict(goal.verdict).passed
        reason = StopReason.TARGET_MET if passed else StopReason.UNPROVEN
        return Stop(reason, goal.verdict)
    return goal.at


def begin_iteration(goal: Goal) -> Goal:
    """Return a goal at the start of its next iteration."""
    checkpointed = goal.reversibility is Reversibility.CHECKPOINTED
    return replace(goal, at=GoalStep.CHECKPOINT if checkpointed else GoalStep.WORK)


def first(goal: Goal) -> Goal:
    """Return a new goal at its first step."""
    return replace(goal, at=GoalStep.G1) if goal.has_gates else begin_iteration(goal)


def after(goal: Goal, outcome: Mapping[str, Any]) -> Goal:
    """Return a goal behind a step with what it came to."""
    if goal.at.is_gate:
        return _apply_answer(goal, GateAnswer(outcome["answer"]))
    if goal.at is GoalStep.CHECKPOINT:
        return replace(goal, at=GoalStep.WORK)
    if goal.at is GoalStep.WORK:
        return replace(goal, at=GoalStep.VERIFY, work=CallResult.from_json(outcome["work"]))
    return _apply_verification(goal, outcome)


def _apply_answer(goal: Goal, answer: GateAnswer) -> Goal:
    if answer is GateAnswer.NONE:
        detail = f"{goal.at.value} waits for an answer"
        return replace(goal, pause=Pause(StopReason.PERSON_NEEDED, detail))
    if answer is GateAnswer.NO:
        detail = f"{goal.at.value} was answered with no"
        again = goal
        if goal.at is GoalStep.G3:
            again = begin_iteration(replace(goal, state=replace(goal.state, exit_signal=False)))
        return replace(again, pause=Pause(StopReason.PERSON_NEEDED, detail))
    goal = replace(goal, is_confirmed=goal.is_confirmed or answer is GateAnswer.ALL)
    return _end(goal) if goal.at is GoalStep.G3 else begin_iteration(goal)


def reopen(goal: Goal, *, is_asked: bool) -> Goal:
    """Return a goal that a person continues: breakers are closed, and begin to count anew.

    Where no person can be asked, to continue answers the gate that waits.
    """
    waits = goal.pause is not None and goal.pause.reason is StopReason.PERSON_NEEDED
    state = replace(goal.state, stuck_count=0)
    if goal.verdict:
        state = replace(state, exit_signal=False)
        goal = begin_iteration(replace(goal, verdict=""))
    goal = replace(goal, state=state, pause=None, error="", errors=0)
    if goal.at is GoalStep.G2 or (waits and goal.at.is_gate and not is_asked):
        return _apply_answer(goal, GateAnswer.YES)
    return goal


# Verifying


def criteria_to_verify(goal: Goal) -> list[Criterion]:
    """Return the criteria that are verified behind the agent's work, where it signals no end.

    They are those of which it says something new; where it has none, those that are unmet.
    """
    found = [one for one in goal.state.criteria if one.text in goal.work.claims]
    return found or [one for one in goal.state.criteria if not one.holds]


def _apply_verification(goal: Goal, outcome: Mapping[str, Any]) -> Goal:
    """Return a goal behind the verification of an iteration."""
    found = outcome["criteria"]
    criteria = tuple(with_found(one, found.get(one.text)) for one in goal.state.criteria)
    state = replace(goal.state, criteria=criteria, iteration=goal.state.iteration + 1)
    state = _apply_steps(state, goal.work)
    state = replace(state, exit_signal=goal.work.exit_signal and state.all_met)
    state = _count_stuck(state, goal.state.unmet)
    error, errors = outcome["error"], 0
    if error:
        kind = _kind_of(error)
        errors = goal.errors + 1 if kind == _kind_of(goal.error) else 1
    before = frozenset(goal.state.completed_steps)
    completed = [one for one in state.completed_steps if one not in before]
    last = {
        "iteration": state.iteration,
        "step": goal.step,
        "completed": completed,
        "verified": sorted(found),
        "must_not": list(outcome["broken"]),
        "error": error,
        **{key: goal.work.to_json()[key] for key in ("undone", "mismatch", "restored", "edits")},
    }
    goal = replace(goal, state=state, error=error, errors=errors, last=last)
    is_done = state.all_met and state.exit_signal
    if broken := outcome["broken"]:
        goal = replace(goal, state=replace(state, exit_signal=False))
        return _pause(_go_on(goal), f"must not become true: {one_line(broken[0], 200)}")
    if is_done:
        return replace(goal, at=GoalStep.G3) if goal.has_gates else _end(goal)
    opened = next(_breakers(goal), "")
    return _pause(_go_on(goal), opened) if opened else _go_on(goal)


def with_found(one: Criterion, found: Mapping[str, Any] | None) -> Criterion:
    """Return a criterion with what was found of it, as it is where that is nothing."""
    if found is None:
        return one
    kind = found["verification"]
    return replace(
        one,
        met=found["met"],
        verification=Verification(kind) if kind else None,
        evidence=found["evidence"],
    )


def _apply_steps(state: GoalState, work: CallResult) -> GoalState:
    """Return a state with the steps as the agent has them; one that is a criterion is measured."""
    met = {one.text: one.holds for one in state.criteria}
    said = work.completed or state.completed_steps
    claimed = frozenset(said)
    # Keys of dictionaries: an agent may name any number of steps.
    done = dict.fromkeys(one for one in said if met.get(one, True))
    done |= dict.fromkeys(one for one in state.steps if met.get(one))
    left = work.remaining or [one for one in state.steps if one not in claimed]
    left = [*left, *state.steps]
    return replace(
        state,
        completed_steps=tuple(done),
        remaining_steps=tuple(dict.fromkeys(one for one in left if one not in done)),
    )


def _count_stuck(state: GoalState, before: tuple[str, ...]) -> GoalState:
    """Return a state that counts the iterations in a row with the same criteria unmet."""
    unmet = tuple(one.text for one in state.criteria if not one.holds)
    same = bool(unmet) and unmet == before
    return replace(state, unmet=unmet, stuck_count=state.stuck_count + 1 if same else 0)


def _go_on(goal: Goal) -> Goal:
    return replace(goal, at=GoalStep.G2) if goal.has_gates else begin_iteration(goal)


def _end(goal: Goal) -> Goal:
    return replace(goal, verdict=verdict_of(goal.state, goal.reversibility).value)


def _pause(goal: Goal, why: str) -> Goal:
    return replace(goal, pause=Pause(StopReason.CIRCUIT_BREAKER, why))


def _breakers(goal: Goal) -> Iterator[str]:
    """Yield which circuit breakers an iteration has opened."""
    for path, count in (goal.work.edits or {}).items():
        if count >= MOST_EDITS:
            yield f"{one_line(path)} was edited {count} times in one iteration"
    if goal.errors >= MOST_ERRORS:
        yield f"the same error {goal.errors} times in a row: {_flat(goal.error)}"
    if goal.state.stuck_count >= MOST_STUCK:
        shown = one_line(", ".join(goal.state.unmet), 200)
        yield f"the same criteria stay unmet ({goal.state.stuck_count} times): {shown}"


def _flat(text: str) -> str:
    return one_line(" ".join(text.split()), 200)


def _kind_of(error: str) -> str:
    """Return an error without what changes from one time to the next."""
    return _CHANGING.sub("N", error)
