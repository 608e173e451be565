"""The driver of a goal: prompts, gates, checkpoints, the agent's work, and its verification.

Promises: a step that is done again after a crash ends as if it had been done once, but for what an
agent did twice; what verifies the goal is put back behind each call of an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.agents.stream import EDITS
from pytest_reflex.drivers.common.drive import Stop
from pytest_reflex.drivers.common.git import Git
from pytest_reflex.drivers.common.kept_files import KeptFiles
from pytest_reflex.drivers.common.measure import Attempt
from pytest_reflex.drivers.common.record import DriverRecord
from pytest_reflex.drivers.common.record_file import Fields, NextStep
from pytest_reflex.drivers.common.running import Tools
from pytest_reflex.drivers.goal import show, statefile, transitions
from pytest_reflex.drivers.goal.loop_files import LoopFiles, as_written, proof_by, work_of
from pytest_reflex.drivers.goal.model import Criterion, Verification
from pytest_reflex.drivers.goal.run_state import CallResult, GateAnswer, Goal, GoalStep
from pytest_reflex.drivers.goal.statefile import STATE_FILE
from pytest_reflex.drivers.goal.verify import Verifier
from pytest_reflex.errors import LimitError, StateError
from pytest_reflex.model.plain import clip, one_line

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
    yield f"# Criteria\n\n{_format_list(_criterion(one) for one in state.criteria)}"
    if state.must_not:
        yield f"# What must not become true\n\n{_format_list(one.text for one in state.must_not)}"
    done = set(state.completed_steps)
    steps = (f"[{'x' if step in done else ' '}] {step}" for step in state.steps)
    yield f"# Steps\n\n{_format_list(steps)}\n\nNow: {goal.step}"
    if goal.error:
        yield f"# What failed in the last iteration\n\n{clip(goal.error, _EVIDENCE)}"
    if refused := (*goal.work.undone, *goal.work.restored):
        yield f"# What was undone in the last iteration\n\n{_format_list(refused)}"
    if feedback:
        yield f"# Feedback of a person\n\n{_format_list(feedback)}"
    yield _protocol(protected)


def _criterion(one: Criterion) -> str:
    mark = "x" if one.holds else " "
    how = f"needs evidence: {(one.plan.required or Verification.OBSERVATION).value}"
    if one.plan.runs:
        how = f"verified by the program: {one.plan.shown}"
    said = _ASSUMED if one.verification is Verification.ASSUMPTION else one.evidence
    found = "" if one.holds or not said else f"\n  Last: {_indent(said)}"
    return f"[{mark}] {one.text} ({how}){found}"


def _indent(text: str) -> str:
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


def _format_list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text.strip()}" for text in texts)


NAME = "goal"
NEWLINE = "\n"
CHECKPOINTS = "refs/pytest-reflex/goal"
Ask = Callable[[str], GateAnswer]
Tell = Callable[[str], object]


class GoalDriver:
    """One run of a goal (seed 003); `ask` puts a gate to a person, None where no one is there."""

    name = NAME

    def __init__(
        self,
        goal: Goal,
        *,
        project: Path,
        run: str,
        verifier: Verifier,
        kept: KeptFiles,
        git: Git | None,
        ask: Ask | None,
        tell: Tell,
    ) -> None:
        self._goal, self._project, self._run = goal, project, run
        self._verifier, self._kept, self._git = verifier, kept, git
        self._ask, self._say = ask, tell
        self._files = LoopFiles(project)

    def start(self, given: Mapping[str, str]) -> Fields:
        """Return the data of a new run."""
        return transitions.first(self._goal).to_json()

    def decide(self, record: DriverRecord) -> NextStep | Stop:
        step = transitions.next_step(Goal.from_json(record.data))
        if isinstance(step, Stop):
            return step
        return NextStep(
            step.value,
            ends_iteration=step is GoalStep.VERIFY,
            interruptible=step in (GoalStep.WORK, GoalStep.VERIFY),
            hears=step is GoalStep.WORK,
            # What was paid for is verified, and what is proven needs no further iteration.
            limited=step not in (GoalStep.VERIFY, GoalStep.G3),
        )

    def perform(self, step: NextStep, record: DriverRecord, tools: Tools) -> Fields:
        goal, place = Goal.from_json(record.data), GoalStep(step.name)
        if place.is_gate:
            return {"answer": self._answer(goal, place).value}
        if place is GoalStep.CHECKPOINT:
            return self._checkpoint(record)
        if place is GoalStep.WORK:
            return {"work": self._work(goal, record, tools).to_json()}
        return self._verify(goal, tools)

    def apply(self, data: Fields, outcome: Fields) -> Fields:
        return transitions.after(Goal.from_json(data), outcome).to_json()

    # Gates and checkpoints

    def _answer(self, goal: Goal, gate: GoalStep) -> GateAnswer:
        if not goal.has_gates:
            return GateAnswer.YES
        question = {
            GoalStep.G1: lambda: show.gate_steps(goal.state.steps),
            GoalStep.G2: lambda: show.gate_iteration(str(goal.last.get("step", goal.step))),
            GoalStep.G3: show.gate_completion,
        }[gate]()
        if self._ask is None:
            self._say(question)
            return GateAnswer.NONE
        return self._ask(question)

    def _checkpoint(self, record: DriverRecord) -> dict[str, Any]:
        number = record.iteration + 1
        ref = f"{CHECKPOINTS}/{self._run}/{number}"
        assert self._git is not None  # where it cannot be used, no run is begun
        message = f"{self._run}: before iteration {number}"
        commit = self._git.checkpoint(ref, message, without=statefile.FOLDER)
        return {"ref": ref, "commit": commit}

    # Working

    def _work(self, goal: Goal, record: DriverRecord, tools: Tools) -> CallResult:
        number = record.iteration + 1
        cost = record.spend.to_json()["usd"]
        budget = record.budget.get("usd")
        most = record.max_iterations
        self._say(show.before_iteration(number, most, cost=cost, budget=budget, step=goal.step))
        before = as_written(goal, record)
        self._files.write_state(before)
        prompt = work_prompt(
            goal,
            number=number,
            most=most,
            protected=self._kept.names(),
            feedback=record.feedback.values(),
        )
        try:
            reply = tools.ask(prompt, may_edit=True)
        finally:
            restored = self._kept.restore()
        if reply.details.get("limited"):
            raise LimitError(reply.error)
        problems: tuple[str, ...] = ()
        try:
            data = self._files.read_state()
        except StateError as error:
            data, problems = statefile.dump(before), (f"the file ({error.problems[0].message})",)
        # An agent that changes files may answer with no text.
        failed = "" if reply.details.get("silent") else reply.error
        work = work_of(before, data, "" if failed else reply.text)
        edits = reply.details.get(EDITS)
        return replace(
            work,
            undone=(*problems, *work.undone),
            restored=tuple(restored),
            error=one_line(failed, 500) if failed else "",
            edits=edits if isinstance(edits, dict) else None,
        )

    # Verifying

    def _verify(self, goal: Goal, tools: Tools) -> dict[str, Any]:
        attempt = Attempt(variables=tools.environment, cancel=tools.cancel)
        found: dict[str, Criterion] = {}

        def verify(criteria: list[Criterion]) -> None:
            due = [one for one in criteria if one.text not in found]
            for one in self._verifier.verify(
                [self._apply_claim(goal, one) for one in due], attempt
            ):
                found[one.text] = one

        verify(transitions.criteria_to_verify(goal))
        if goal.work.exit_signal:
            verify(list(goal.state.criteria))
        must_not = self._verifier.true_ones(goal.state.must_not, attempt)
        broken = [*(one.text for one, _ in must_not), *goal.work.broken]
        return {
            "criteria": {text: _wire(one) for text, one in found.items()},
            "broken": broken,
            "error": goal.work.error or _failed_claims(goal, found),
        }

    def _apply_claim(self, goal: Goal, one: Criterion) -> Criterion:
        """Return a criterion as the agent's claim has it, where only a claim can show it."""
        claim = goal.work.claims.get(one.text)
        if claim is None or one.plan.runs:
            return one
        if not claim.met:
            return Criterion(text=one.text, plan=one.plan, evidence=claim.evidence)
        beside = any(other.plan.runs for other in goal.state.criteria)
        kind = proof_by(one, claim, self._project, beside=beside)
        wire = {"met": True, "verification": kind, "evidence": claim.evidence}
        return transitions.with_found(one, wire)


def _wire(one: Criterion) -> dict[str, Any]:
    kind = one.verification.value if one.verification else ""
    return {"met": one.met, "verification": kind, "evidence": one.evidence}


def _failed_claims(goal: Goal, found: Mapping[str, Criterion]) -> str:
    """Return why criteria failed that were claimed to be met, empty where none did."""
    failed = [
        f"{text}: {found[text].evidence.partition(NEWLINE)[0]}"
        for text, claim in goal.work.claims.items()
        if claim.met and text in found and not found[text].met
    ]
    return "\n".join(failed)
