"""What the agent of a goal is asked in an iteration: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_reflex.drivers.goal.model import Criterion, Verification
from pytest_reflex.drivers.goal.standing import Goal
from pytest_reflex.drivers.goal.statefile import STATE_FILE
from pytest_reflex.model.plain import clip

_EVIDENCE = 2_000
_NAMED = 50
_ASSUMED = "it is assumed, and an assumption proves nothing"


def work_prompt(
    goal: Goal, *, number: int, most: int, protected: Iterable[str], feedback: Iterable[str]
) -> str:
    """Return the prompt of an iteration."""
    return "\n\n".join(_parts(goal, number, most, list(protected), list(feedback))) + "\n"


def _parts(
    goal: Goal, number: int, most: int, protected: list[str], feedback: list[str]
) -> Iterator[str]:
    state = goal.state
    yield f"You work towards a goal. This is iteration {number} of at most {most}."
    yield f"# Goal\n\n{state.spec.strip()}"
    yield f"# Criteria\n\n{_listed(_criterion(one) for one in state.criteria)}"
    if state.must_not:
        yield f"# What must not become true\n\n{_listed(one.text for one in state.must_not)}"
    done = set(state.completed_steps)
    steps = (f"[{'x' if step in done else ' '}] {step}" for step in state.steps)
    yield f"# Steps\n\n{_listed(steps)}\n\nNow: {goal.step}"
    if goal.error:
        yield f"# What failed in the last iteration\n\n{clip(goal.error, _EVIDENCE)}"
    if refused := (*goal.work.undone, *goal.work.restored):
        yield f"# What was undone in the last iteration\n\n{_listed(refused)}"
    if feedback:
        yield f"# Feedback of a person\n\n{_listed(feedback)}"
    yield _protocol(protected)


def _criterion(one: Criterion) -> str:
    mark = "x" if one.holds else " "
    how = f"needs evidence: {(one.plan.required or Verification.OBSERVATION).value}"
    if one.plan.runs:
        how = f"verified by the program: {one.plan.shown}"
    said = _ASSUMED if one.verification is Verification.ASSUMPTION else one.evidence
    found = "" if one.holds or not said else f"\n  Last: {_indented(said)}"
    return f"[{mark}] {one.text} ({how}){found}"


def _indented(text: str) -> str:
    return clip(text.strip(), _EVIDENCE).replace("\n", "\n  ")


def _protocol(protected: list[str]) -> str:
    names = ", ".join(protected[:_NAMED])
    more = f", and {len(protected) - _NAMED} more tests" if len(protected) > _NAMED else ""
    kept = f" Leave these files as they are: {names}{more}." if protected else ""
    return f"""# How to work

Do one logical unit of work: what `Now` says.{kept}

Then bring {STATE_FILE} up to date. Change these keys alone; what you change elsewhere is undone:

- `criteriaStatus`: `true` for a criterion that holds now. One that needs evidence has an object:
  `{{"met": true, "verification": "observation", "evidence": "what shows it, with the path of a file
  in which it can be seen"}}`. Say `assumption` where you have not looked.
- `completedSteps` and `remainingSteps`.
- `exit_signal`: `true` only when every criterion holds.

What the program can verify, it verifies. End your answer with this block:

---LOOP_STATUS---
EXIT_SIGNAL: false
CRITERIA: {{"a criterion": false}}
STUCK_COUNT: 0
NEXT: what comes next
---END_STATUS---

If something has become true that must not, add a line `MUST_NOT: what` to the block."""


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text.strip()}" for text in texts)
