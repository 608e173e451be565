"""What a goal shows: lines, gates, the status block, the end.

Source: the forms of seed 003. Nothing reads these lines back: the state file has what they say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind
from pytest_reflex.drivers.common.record import INTERRUPTED, DriverRecord
from pytest_reflex.drivers.goal.loop_files import continue_command, status_of
from pytest_reflex.drivers.goal.model import (
    Criterion,
    GoalState,
    GoalStatus,
    Shape,
    Verification,
    Workflow,
)
from pytest_reflex.drivers.goal.plan import Rubric
from pytest_reflex.drivers.goal.run_state import Goal, GoalStep
from pytest_reflex.drivers.goal.scoring import MOST
from pytest_reflex.drivers.goal.statefile import STATE_FILE
from pytest_reflex.drivers.goal.transitions import GoalVerdict, proof_of, verdict_box, verdict_of
from pytest_reflex.model.plain import clip, escape_control, one_line, pluralize, visible_json
from pytest_reflex.model.stop import ENDS, StopReason
from pytest_reflex.reports.run_lines import spend_text

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
    return " ".join(escape_control(text).split())


def shape_text(shape: Shape, rubric: Rubric) -> str:
    """Return a shape with the score: ``Colleague (6/10)``."""
    return f"{shape.value.capitalize()} ({rubric.total}/{MOST * len(rubric.scores)})"


def start_text(
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
    number = pluralize(len(steps), "step")
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
    text = "All success criteria satisfied:"
    return "\n".join(["<loop-complete>", text, *lines, "</loop-complete>"])


NOT_MONITORED = "edits of files: not monitored, this agent does not report them"


def how(one: Criterion) -> str:
    """Return how a criterion is verified, in words."""
    wanted = one.plan.required or Verification.OBSERVATION
    return one.plan.shown or f"by evidence ({wanted.value})"


def checklist(goal: Goal) -> Iterator[str]:
    """Yield what was looked at before the start."""
    rubric = goal.rubric
    yield f"✓ Spec: {rubric['total']}/{rubric['most']}"
    for one in rubric["scores"]:
        yield f"    {one['dimension']} {one['points']}/2: {flat(one['reason'])}"
    yield f"✓ Shape: {goal.shape.value}"
    yield f"✓ Reversibility: {goal.reversibility.value}"
    yield f"✓ Workflow: {goal.workflow.value}"
    yield f"✓ Criteria: {len(goal.state.criteria)}"
    for criterion in goal.state.criteria:
        yield f"    {flat(criterion.text)}: {flat(how(criterion))}"
    for must_not in goal.state.must_not:
        way = flat(how(Criterion(text=must_not.text, plan=must_not.plan)))
        checked = f": {way}" if must_not.plan.runs else " (not checked: the agent has to report it)"
        yield f"    must not become true: {flat(must_not.text)}{checked}"
    yield f"✓ Steps: {len(goal.state.steps)}"
    yield f"✓ State: {STATE_FILE}"


def lines_of(event: DriverEvent, goal: Goal, record: DriverRecord) -> list[str]:
    """Return the lines that report an event."""
    if event.kind is DriverEventKind.ITERATION:
        return list(_iteration(goal, record))
    if event.kind is DriverEventKind.STEP and event.fields.get("step") == GoalStep.CHECKPOINT:
        return [f"[LOOP] Checkpoint: {event.fields['ref']}"]
    return []


def _iteration(goal: Goal, record: DriverRecord) -> Iterator[str]:
    state, last = goal.state, goal.last
    if last["edits"] is None and record.iteration == 1:
        yield f"[LOOP] {NOT_MONITORED}"
    for key, label in _NOTES.items():
        if found := last[key]:
            yield f"[LOOP] {label}: {one_line(', '.join(found), 300)}"
    if last["error"]:
        yield f"[LOOP] Error: {clip(flat(last['error']), 300)}"
    completed, total = _count_completed(goal), len(state.steps)
    following = _next(goal)
    for step in last["completed"]:
        yield after_step(step, done=completed, total=total, following=following)
    if not last["completed"]:
        step = str(last["step"])
        yield after_iteration(step, done=completed, total=total, following=following)
    yield status_block(state, following)


def _count_completed(goal: Goal) -> int:
    return sum(step in goal.state.completed_steps for step in goal.state.steps)


_NOTES = {
    "undone": "Undone in the state file",
    "mismatch": "The status block says something else than the state file (which counts) of",
    "restored": "Put back, because it verifies the goal",
    "must_not": "Must not be true",
}


def _next(goal: Goal) -> str:
    if goal.pause:
        return "paused"
    return "done" if goal.state.exit_signal and goal.state.all_met else goal.step


def final_lines(goal: Goal, record: DriverRecord) -> list[str]:
    """Return the last words on a run: what is met, the verdict box, and how it goes on."""
    verdict = verdict_of(goal.state, goal.reversibility)
    lines = box_of(goal, record)
    status, why = status_of(record)
    if status is GoalStatus.PAUSED:
        lines += [f"Paused: {one_line(why, 500)}"]
    elif verdict is GoalVerdict.MONITOR and status is GoalStatus.COMPLETED:
        lines += [f"MONITOR: {_monitoring_reason(goal)}"]
    # The mark of completion stands in no other line, whatever a criterion or an error says.
    lines = [line.replace("<loop-complete>", "‹loop-complete›") for line in lines]
    if record.reason == StopReason.TARGET_MET:
        lines.insert(0, complete_block(goal.state))
    return lines


def box_of(goal: Goal, record: DriverRecord) -> list[str]:
    """Return the verdict box of a run as it stands."""
    return verdict_box(
        goal.state,
        goal.reversibility,
        alternative=_alternative(goal, record),
        risk=_risk(goal, record),
        is_over=status_of(record)[0] is GoalStatus.COMPLETED,
    )


def _alternative(goal: Goal, record: DriverRecord) -> str:
    status, _ = status_of(record)
    if status is not GoalStatus.COMPLETED:
        return f"go on with {continue_command(record)}"
    weak = [one for one in goal.state.criteria if proof_of(one).is_weak]
    if weak:
        return f"have {flat(weak[0].text)!r} verified by a command"
    return "review the difference before it is merged"


def _risk(goal: Goal, record: DriverRecord) -> str:
    open_ones = [one.text for one in goal.state.criteria if not one.holds]
    if open_ones:
        return f"not met: {clip(flat(', '.join(open_ones)), 200)}"
    if goal.pause and goal.pause.reason is StopReason.CIRCUIT_BREAKER:
        return flat(goal.pause.detail)
    if status_of(record)[0] is not GoalStatus.COMPLETED and not goal.state.exit_signal:
        return "all is met, and the end is not signalled"
    if found := _weak(goal):
        return found
    if unchecked := [one.text for one in goal.state.must_not if not one.plan.runs]:
        return f"not checked: {clip(flat(', '.join(unchecked)), 200)}"
    return "what no criterion names was not looked at"


def _weak(goal: Goal) -> str:
    weak = [one for one in goal.state.criteria if proof_of(one).is_weak]
    texts = [f"{flat(one.text)} ({proof_of(one).value})" for one in weak]
    return f"not proven by the program: {clip(', '.join(texts), 300)}" if texts else ""


def _monitoring_reason(goal: Goal) -> str:
    return _weak(goal) or "it cannot be rolled back within minutes"


def summary(goal: Goal, record: DriverRecord) -> str:
    """Return summary.md."""
    state, reason = goal.state, record.reason
    ended = ENDS[StopReason(reason)].sentence if reason else record.status
    rows = [
        f"| {_cell(one.text)} | {'met' if one.met else 'unmet'} "
        f"| {one.verification.value if one.verification else ''} "
        f"| {_cell(one.evidence.partition(chr(10))[0])} |"
        for one in state.criteria
    ]
    box = "\n".join(final_lines(goal, record))
    return f"""# {record.run}: {ended}

{f"{record.detail}" if record.detail else ""}

- Iterations: {record.iteration} of {record.max_iterations}
- Spent: {spend_text(record.spend)}
- Shape {goal.shape.value}, workflow {goal.workflow.value}, type {goal.reversibility.value}
- Steps: {_count_completed(goal)} of {len(state.steps)} complete

| criterion | state | verified by | evidence |
|---|---|---|---|
{chr(10).join(rows)}

```text
{box}
```

## Spec

{state.spec.strip()}
"""


def _cell(text: str) -> str:
    return clip(flat(text), 200).replace("|", "\\|")


def status_lines(goal: Goal, record: DriverRecord, *, driven: bool) -> list[str]:
    """Return where a goal stands."""
    status, why = status_of(record)
    shown = "interrupted" if record.status == INTERRUPTED else status.value.replace("_", " ")
    if status is GoalStatus.IN_PROGRESS and not driven:
        shown = "interrupted"
    rows: Sequence[tuple[str, Any]] = [
        ("Goal", record.run),
        ("Status", shown),
        ("Paused", why),
        ("Shape", goal.shape.value),
        ("Workflow", goal.workflow.value),
        ("Type", goal.reversibility.value),
        ("Iteration", f"{record.iteration} of {record.max_iterations}"),
        ("Spent", spend_text(record.spend)),
        ("Steps", f"{_count_completed(goal)} of {len(goal.state.steps)} complete"),
        ("Now", "" if record.reason else flat(goal.step)),
        ("Verdict", goal.verdict),
    ]
    lines = [f"{name + ':':<11}{value}" for name, value in rows if value]
    return [*lines, "", *map(criterion_line, goal.state.criteria)]


def criterion_line(one: Criterion) -> str:
    """Return a line on a criterion."""
    kind = f" ({one.verification.value})" if one.verification else f" ({flat(how(one))})"
    first = one.evidence.partition("\n")[0]
    last = f": {one_line(first, 160)}" if first else ""
    return f"{'✓' if one.met else '✗'} {flat(one.text)}{kind}{last}"
