"""What the goal loop announces, as pure functions: lines, gates, the status block, the end.

Source: the forms of seed 003. Nothing reads these lines back: the state file has what they say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_reflex.drivers.goal.cues import MOST
from pytest_reflex.drivers.goal.model import GoalState, Shape, Workflow
from pytest_reflex.drivers.goal.rubric import Rubric
from pytest_reflex.drivers.goal.statefile import STATE_FILE
from pytest_reflex.model.plain import counted, visible, visible_json

UNKNOWN = "unknown"
DISCLOSURE = f"Writing state to {STATE_FILE}. Delete after session? [Y/n]"
NO_CONFIRMATION = "proceed without confirmation"
"""What answers a gate and each one after it."""


def money(usd: float | None) -> str:
    """Return an amount of US dollars; what is not known is never 0."""
    if usd is None:
        return UNKNOWN
    return f"${usd:.0f}" if usd == int(usd) else f"${usd:.2f}"


def flat(text: str) -> str:
    """Return a text on one line, with nothing that a terminal acts on."""
    return " ".join(visible(text).split())


def shape_text(shape: Shape, rubric: Rubric) -> str:
    """Return a shape with the score: ``Colleague (6/10)``."""
    return f"{shape.value.capitalize()} ({rubric.total}/{MOST * len(rubric.scores)})"


def starting(
    rubric: Rubric, shape: Shape, workflow: Workflow, *, steps: int, budget: float | None
) -> str:
    """Return the line at the start; `shape` may be another than that of the rubric."""
    return (
        f"[LOOP] Starting | Shape: {shape_text(shape, rubric)} | Workflow: {workflow.value} "
        f"| Steps: {steps} | Budget: {money(budget)}"
    )


def before_iteration(
    number: int, most: int, *, cost: float | None, budget: float | None, step: str
) -> str:
    """Return the line before an iteration."""
    return (
        f"[LOOP] Iteration {number}/{most} | Cost: {money(cost)}/{money(budget)} "
        f"| Step: {flat(step)}"
    )


def after_step(step: str, *, done: int, total: int, following: str) -> str:
    """Return the line after a step that is complete; `following` is empty for the last one."""
    return (
        f"[LOOP] ✓ {flat(step)} complete | Progress: {done}/{total} "
        f"| Next: {flat(following) or 'none'}"
    )


def after_iteration(step: str, *, done: int, total: int, following: str) -> str:
    """Return the line after an iteration behind which a step is not complete."""
    return (
        f"[LOOP] ✗ {flat(step)} not complete | Progress: {done}/{total} "
        f"| Next: {flat(following) or 'none'}"
    )


def gate_steps(steps: Sequence[str]) -> str:
    """Return the question behind the decomposition, with the steps by number."""
    number = counted(len(steps), "step")
    listed = [f"{index}. {flat(step)}" for index, step in enumerate(steps, start=1)]
    return "\n".join([f"G1: Decomposed into {number}:", *listed, "Proceed? [Y/n]"])


def gate_iteration(step: str) -> str:
    """Return the question after an iteration."""
    return f"G2: {flat(step)} complete. Continue? [Y/n]"


def gate_completion() -> str:
    """Return the question before completion is claimed."""
    return "G3: All criteria met. Confirm done? [Y/n]"


def answers_all(answer: str) -> bool:
    """Return whether an answer at a gate stands for all gates that follow, too."""
    return " ".join(answer.lower().strip(" .!\"'").split()) == NO_CONFIRMATION


def status_block(state: GoalState, following: str) -> str:
    """Return the status block after an iteration; its criteria are those of the state."""
    criteria = {one.text: one.met for one in state.criteria}
    return "\n".join(
        [
            "---LOOP_STATUS---",
            f"EXIT_SIGNAL: {json.dumps(state.exit_signal and state.all_met)}",
            f"CRITERIA: {visible_json(criteria)}",
            f"STUCK_COUNT: {state.stuck_count}",
            f"NEXT: {flat(following) or 'none'}",
            "---END_STATUS---",
        ]
    )


def complete_block(state: GoalState) -> str:
    """Return the block that says that the goal is reached; raises ValueError where it is not."""
    if not (state.all_met and state.exit_signal):
        raise ValueError("a goal needs each of its criteria met, and the exit signal")
    lines = [f"- {flat(one.text)}: ✓" for one in state.criteria]
    told = "All success criteria satisfied:"
    return "\n".join(["<loop-complete>", told, *lines, "</loop-complete>"])
