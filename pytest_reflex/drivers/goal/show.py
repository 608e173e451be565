"""What a goal shows while it is worked on, and in the end: lines of text, from its record: pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_reflex.drivers.common.events import DriverEvent, Kind
from pytest_reflex.drivers.common.record import INTERRUPTED, Record
from pytest_reflex.drivers.goal import announce
from pytest_reflex.drivers.goal.loop_files import continue_command, status_of
from pytest_reflex.drivers.goal.model import Criterion, GoalStatus, Verification
from pytest_reflex.drivers.goal.standing import Goal, Place
from pytest_reflex.drivers.goal.statefile import STATE_FILE
from pytest_reflex.drivers.goal.verdict import Verdict, proof_of, verdict_box, verdict_of
from pytest_reflex.model.plain import clip, one_line
from pytest_reflex.model.stop import ENDS, StopReason
from pytest_reflex.reports.spending import spend_text

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
        yield f"    {one['dimension']} {one['points']}/2: {announce.flat(one['reason'])}"
    yield f"✓ Shape: {goal.shape.value}"
    yield f"✓ Reversibility: {goal.reversibility.value}"
    yield f"✓ Workflow: {goal.workflow.value}"
    yield f"✓ Criteria: {len(goal.state.criteria)}"
    for criterion in goal.state.criteria:
        yield f"    {announce.flat(criterion.text)}: {announce.flat(how(criterion))}"
    for must_not in goal.state.must_not:
        way = announce.flat(how(Criterion(text=must_not.text, plan=must_not.plan)))
        checked = f": {way}" if must_not.plan.runs else " (not checked: only a report can tell)"
        yield f"    must not become true: {announce.flat(must_not.text)}{checked}"
    yield f"✓ Steps: {len(goal.state.steps)}"
    yield f"✓ State: {STATE_FILE}"


def lines_of(event: DriverEvent, goal: Goal, record: Record) -> list[str]:
    """Return the lines that tell of an event."""
    if event.kind is Kind.ITERATION:
        return list(_iteration(goal, record))
    if event.kind is Kind.STEP and event.fields.get("step") == Place.CHECKPOINT:
        return [f"[LOOP] Checkpoint: {event.fields['ref']}"]
    return []


def _iteration(goal: Goal, record: Record) -> Iterator[str]:
    state, last = goal.state, goal.last
    if last["edits"] is None and record.iteration == 1:
        yield f"[LOOP] {NOT_MONITORED}"
    for key, told in _NOTES.items():
        if found := last[key]:
            yield f"[LOOP] {told}: {one_line(', '.join(found), 300)}"
    if last["error"]:
        yield f"[LOOP] Error: {clip(announce.flat(last['error']), 300)}"
    completed, total = _completed(goal), len(state.steps)
    following = _next(goal)
    for step in last["completed"]:
        yield announce.after_step(step, done=completed, total=total, following=following)
    if not last["completed"]:
        step = str(last["step"])
        yield announce.after_iteration(step, done=completed, total=total, following=following)
    yield announce.status_block(state, following)


def _completed(goal: Goal) -> int:
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


def final_lines(goal: Goal, record: Record) -> list[str]:
    """Return the last words on a run: what is met, the verdict box, and how it goes on."""
    verdict = verdict_of(goal.state, goal.reversibility)
    lines = box_of(goal, record)
    status, why = status_of(record)
    if status is GoalStatus.PAUSED:
        lines += [f"Paused: {one_line(why, 500)}"]
    elif verdict is Verdict.MONITOR and status is GoalStatus.COMPLETED:
        lines += [f"MONITOR: {_monitored(goal)}"]
    # The mark of completion stands in no other line, whatever a criterion or an error says.
    lines = [line.replace("<loop-complete>", "‹loop-complete›") for line in lines]
    if record.reason == StopReason.TARGET_MET:
        lines.insert(0, announce.complete_block(goal.state))
    return lines


def box_of(goal: Goal, record: Record) -> list[str]:
    """Return the verdict box of a run as it stands."""
    return verdict_box(
        goal.state,
        goal.reversibility,
        alternative=_alternative(goal, record),
        risk=_risk(goal, record),
        is_over=status_of(record)[0] is GoalStatus.COMPLETED,
    )


def _alternative(goal: Goal, record: Record) -> str:
    status, _ = status_of(record)
    if status is not GoalStatus.COMPLETED:
        return f"go on with {continue_command(record)}"
    weak = [one for one in goal.state.criteria if proof_of(one).is_weak]
    if weak:
        return f"have {announce.flat(weak[0].text)!r} verified by a command"
    return "review the difference before it is merged"


def _risk(goal: Goal, record: Record) -> str:
    open_ones = [one.text for one in goal.state.criteria if not one.holds]
    if open_ones:
        return f"not met: {clip(announce.flat(', '.join(open_ones)), 200)}"
    if goal.pause and goal.pause.reason is StopReason.CIRCUIT_BREAKER:
        return announce.flat(goal.pause.detail)
    if status_of(record)[0] is not GoalStatus.COMPLETED and not goal.state.exit_signal:
        return "all is met, and the end is not signalled"
    if found := _weak(goal):
        return found
    if unchecked := [one.text for one in goal.state.must_not if not one.plan.runs]:
        return f"not checked: {clip(announce.flat(', '.join(unchecked)), 200)}"
    return "what no criterion names was not looked at"


def _weak(goal: Goal) -> str:
    weak = [one for one in goal.state.criteria if proof_of(one).is_weak]
    told = [f"{announce.flat(one.text)} ({proof_of(one).value})" for one in weak]
    return f"not proven by the program: {clip(', '.join(told), 300)}" if told else ""


def _monitored(goal: Goal) -> str:
    return _weak(goal) or "it cannot be rolled back within minutes"


def summary(goal: Goal, record: Record) -> str:
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
- Steps: {_completed(goal)} of {len(state.steps)} complete

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
    return clip(announce.flat(text), 200).replace("|", "\\|")


def status_lines(goal: Goal, record: Record, *, driven: bool) -> list[str]:
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
        ("Steps", f"{_completed(goal)} of {len(goal.state.steps)} complete"),
        ("Now", "" if record.reason else announce.flat(goal.step)),
        ("Verdict", goal.verdict),
    ]
    lines = [f"{name + ':':<11}{value}" for name, value in rows if value]
    return [*lines, "", *map(criterion_line, goal.state.criteria)]


def criterion_line(one: Criterion) -> str:
    """Return a line on a criterion."""
    kind = f" ({one.verification.value})" if one.verification else f" ({announce.flat(how(one))})"
    first = one.evidence.partition("\n")[0]
    last = f": {one_line(first, 160)}" if first else ""
    return f"{'✓' if one.met else '✗'} {announce.flat(one.text)}{kind}{last}"
