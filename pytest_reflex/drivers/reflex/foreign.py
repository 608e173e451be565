"""A run that another program began, in the seed's files, as a run of this program.

Its history says what happened and when; a state needs more, which comes from its run.json and its
artifact.md. All of it together is one event, `run_adopted`, with which our history begins.
Promises: nothing is written; the score is computed anew from the verdicts of the rules; a command
in its checks is an agent's, and not run. What has no result is done again, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.foreign_documents import evaluation_of, fault_of
from pytest_reflex.drivers.reflex.statefile import (
    ARTIFACT,
    HISTORY,
    RUN,
    SCHEMA_VERSION,
)
from pytest_reflex.errors import ReflexError, StateError
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import Criteria
from pytest_reflex.model.run import EMPTY_SHA256, Limits
from pytest_reflex.model.stop import BY_EVALUATION, RunStatus
from pytest_reflex.storage.files import read_object

Record = Mapping[str, Any]

ORDER = (Step.PLAN, Step.PRODUCE, Step.PREPARE, Step.EVALUATE, Step.CRITIQUE, Step.REFINE)
"""The steps of an iteration: where one of them is due, those before it are done."""
_ENDS = {
    "plan_created": Step.PLAN,
    "artifact_created": Step.PRODUCE,
    "checks_prepared": Step.PREPARE,
    "evaluation_done": Step.EVALUATE,
    "critique_done": Step.CRITIQUE,
    "refinement_done": Step.REFINE,
}
_MADE = frozenset((Step.PLAN, Step.PRODUCE, Step.PREPARE))
_NEEDS: Mapping[Step, frozenset[Step]] = {
    Step.PLAN: frozenset(),
    Step.PRODUCE: frozenset((Step.PLAN,)),
    Step.PREPARE: frozenset((Step.PLAN,)),
    Step.EVALUATE: _MADE,
    Step.CRITIQUE: _MADE | {Step.EVALUATE},
    Step.REFINE: _MADE | {Step.EVALUATE, Step.CRITIQUE},
}
_LATEST = 3
_KEPT_KEYS = ("score", "passed", "reason", "message", "detail")


def is_foreign(folder: Path, records: Sequence[Record]) -> bool:
    """Return whether another program began a history.

    Its first event has none of our keys, and neither has run.json; or it is a start, and no more.
    """
    if not records or _payload(records[0]).keys() & {"task_alias", "schema_version"}:
        return False
    if (run := read_object(folder / RUN)) and "schema_version" not in run:
        return True
    with suppress(LookupError, TypeError, ValueError):
        first = Event.from_json(records[0])
        return first.kind is EventKind.RUN_STARTED and isinstance(first.payload, dict)
    return False


def own_events(records: Sequence[Record]) -> int | None:
    """Return where our own events begin in a history that another program began."""
    adopted = EventKind.RUN_ADOPTED.value
    return next((n for n, one in enumerate(records) if one.get("event") == adopted), None)


def adoption(folder: Path, records: Sequence[Record], *, allow_commands: bool = False) -> Event:
    """Return the event by which a run takes over what another program left in a folder.

    The commands in its checks are kept and not run, unless a person allows it. Raises StateError
    where what is there is not enough.
    """
    path = folder / RUN
    run = read_object(path)
    if not run:
        raise StateError(
            f"another program wrote {folder / HISTORY}, and {RUN}, which has its task and its "
            "rules, is missing or broken",
            hint=f"put {RUN} back; or start a new loop with {ARTIFACT} as --input",
        )

    if fault := fault_of(run, records[-1]):
        raise StateError(f"{path}, which another program wrote, {fault}", hint=_ADVICE)
    try:
        return _Foreign(folder, run, records, allow_commands).event()
    except ReflexError as error:
        raise StateError(f"{path}: {error.problems[0].message}", hint=_ADVICE) from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        text = f"{path}, which another program wrote, is not in the form that can be taken up"
        raise StateError(text, hint=_ADVICE) from error


_ADVICE = "start a new loop from the artifact"


class _Foreign:
    """What another program left: run.json, the lines of its history, its artifact."""

    def __init__(
        self, folder: Path, run: Record, records: Sequence[Record], allow_commands: bool
    ) -> None:
        self._folder, self._run, self._records = folder, run, records
        self._allow_commands = allow_commands
        last = records[-1]
        self._iteration = max(int(run["iteration"]), int(last.get("iteration") or 1))
        written = Level(run["phase"])
        self._level = Level.B if last.get("phase") == Level.B.value else written
        # What happened after run.json was written for the last time is in the history alone.
        self._is_ahead = self._iteration > int(run["iteration"]) or self._level is not written

    def event(self) -> Event:
        """Return the run as one event."""
        from pytest_reflex.drivers.reflex.run_integrity import rules_hash

        run, done, task = self._run, self._completed_steps(), self._run["task"]
        payload: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "task_alias": run.get("task_alias", self._folder.name),
            "task": {"prompt": task["prompt"], "ideal_result": task.get("ideal_result", "")},
            "criteria": self._criteria.to_json(),
            "limits": Limits(max_iterations=int(run.get("max_iterations") or 4)).to_json(),
            "seal": rules_hash(self._criteria),
            "setup": {"criteria_source": RUN, "agents": {}, "confirmation": {"by": "its program"}},
            "adopted": {
                **self._end(),
                "done": [step.value for step in done],
                "plan": self._plan,
                "checks": self._checks if Step.PREPARE in done else None,
                "issues": self._issues if Step.CRITIQUE in done else None,
                "stagnation_count": int(run.get("stagnation_count") or 0),
                "created_at": str(run.get("created_at") or self._records[0]["ts"]),
            },
            "earlier": [_brief(one) for one in self._records[-_LATEST:]],
            **self._change(),
        }
        if evaluation := self._evaluation:
            payload["evaluation"] = evaluation.to_json()
        return Event(
            kind=EventKind.RUN_ADOPTED,
            run_id=str(run["run_id"]),
            iteration=self._iteration,
            level=self._level,
            step=next((step for step in ORDER if step not in done), Step.REFINE),  # what is due
            seq=len(self._records) + 1,
            ts=str(self._records[-1].get("ts") or run.get("updated_at")),
            payload=payload,
        )

    @cached_property
    def _criteria(self) -> Criteria:
        from pytest_reflex.checks.registry import built_in_registry
        from pytest_reflex.criteria.load import load_criteria

        return load_criteria(self._folder / RUN, registry=built_in_registry())

    def _end(self) -> dict[str, Any]:
        """Return the status, and how the run ended if it did: the last event knows it first."""
        run, last = self._run, self._records[-1]
        stop = run.get("stop") or {}
        status, reason = RunStatus(run["status"]), str(stop.get("reason") or "")
        if last.get("event") in ("stopped", "failed") and status is RunStatus.RUNNING:
            status = RunStatus.FAILED if last["event"] == "failed" else RunStatus.STOPPED
            reason = str(_payload(last).get("reason") or reason)
        passed = status is not RunStatus.RUNNING and stop.get("passed") is True
        return {"status": status.value, "passed": passed, "reason": reason}

    def _completed_steps(self) -> list[Step]:
        """Return the steps of the iteration that are done, in order.

        One is done again where its result is missing and still needed.
        """
        done = set(self._steps_of_files())
        for step in tuple(done):
            done |= _NEEDS[step]
        if not self._text.strip():
            done &= {Step.PLAN, Step.PREPARE}
        if Step.REFINE not in done:
            done -= {Step.EVALUATE, Step.CRITIQUE} if self._evaluation is None else set()
            done -= set() if self._issues else {Step.CRITIQUE}
        if Step.EVALUATE not in done and self._checks is None:
            done.discard(Step.PREPARE)
        if Step.PRODUCE not in done and not self._plan:
            done.discard(Step.PLAN)
        return [step for step in ORDER if step in done]

    def _steps_of_files(self) -> Iterator[Step]:
        """Yield the steps that run.json or the history has as done."""
        if not self._is_ahead:
            yield from _before(self._run.get("current_step"))
        yield from (_ENDS[name] for name in self._event_names())
        if self._was_ended_by_evaluation:
            yield Step.EVALUATE

    @property
    def _was_ended_by_evaluation(self) -> bool:
        return self._end()["reason"] in list(BY_EVALUATION)

    def _result(self, step: str, event: str, key: str) -> Any:
        """Return what a step gave, as the history has it, else as run.json does."""
        said = self._last_value(event, key)
        if said is None and not self._is_ahead:
            found = self._run.get(step)
            said = found.get(key) if isinstance(found, dict) else found
        return said

    def _event_names(self) -> Iterator[str]:
        """Yield the names of the steps' events in this iteration; behind PRODUCE, in this phase."""
        for record in self._records:
            name, of_phase = record.get("event"), record.get("phase") == self._level.value
            if record.get("iteration") != self._iteration or name not in _ENDS:
                continue
            if of_phase or name in ("plan_created", "artifact_created"):
                yield str(name)

    @cached_property
    def _plan(self) -> list[str]:
        found = self._result("plan", "plan_created", "plan")
        return [str(step) for step in found] if isinstance(found, list) else []

    @cached_property
    def _checks(self) -> list[dict[str, Any]] | None:
        """The prepared checks, as those of an agent are evaluated; None where there are none."""
        from pytest_reflex.contracts.validate import problems
        from pytest_reflex.drivers.reflex.prepared_checks import own_checks, settle, unusable

        rules = self._criteria.active(self._level)
        own = [rule.id for rule in rules if rule.checks]
        found = self._result("prepared_checks", "checks_prepared", "checks")
        if not isinstance(found, list):
            return own_checks(rules) if len(own) == len(rules) else None
        prose = [rule.id for rule in rules if not rule.checks]
        given = [one for one in found if isinstance(one, dict) and one.get("rule_id") in prose]
        if problems("checks", {"checks": given}):
            return None
        made = settle(given, self._criteria, allow_commands=self._allow_commands)
        return None if unusable(made) else [*own_checks(rules), *made]

    @cached_property
    def _issues(self) -> list[dict[str, Any]]:
        from pytest_reflex.contracts.validate import problems

        found = self._result("critique", "critique_done", "issues") or []
        return [] if problems("critique", {"issues": found}) else found

    def _last_value(self, event: str, key: str) -> Any:
        """Return what the last event of a kind says, in the iteration and phase that go on."""
        for record in reversed(self._records):
            is_now = record.get("iteration") == self._iteration
            of_phase = event == "plan_created" or record.get("phase") == self._level.value
            if record.get("event") == event and is_now and of_phase:
                return _payload(record).get(key)
        return None

    @cached_property
    def _evaluation(self) -> Evaluation | None:
        """The evaluation in run.json, with the score that follows from its verdicts.

        It is of the artifact as it is now only where nothing was changed behind it; else its hash
        is not known. None where there is none, or where the history has a later one.
        """
        found, level = self._run.get("evaluation"), Level(self._run["phase"])
        if not isinstance(found, dict) or level is not self._level:
            return None
        happened = list(self._event_names())
        if "evaluation_done" in happened:
            score = self._last_value("evaluation_done", "score")
            written = found.get("score")
            both = isinstance(score, int | float) and isinstance(written, int | float)
            differs = both and abs(score - written) > 1e-9
            if self._is_ahead or differs:
                return None
        is_now = not self._is_ahead and self._is_of_now(happened)
        return evaluation_of(
            self._criteria,
            level,
            found,
            sha256=self._sha256 if is_now else "",
            artifact=str(self._folder / ARTIFACT),
        )

    def _is_of_now(self, happened: Sequence[str]) -> bool:
        """Return whether the artifact is still the one that run.json says was evaluated."""
        if "refinement_done" in happened:
            return False
        judged = self._was_ended_by_evaluation or "evaluation_done" in happened
        return judged or Step.EVALUATE in _before(self._run.get("current_step"))

    @cached_property
    def _text(self) -> str:
        from pytest_reflex.model.artifact import Artifact
        from pytest_reflex.storage.files import read_if_regular

        path = self._folder / ARTIFACT
        data = read_if_regular(path)
        return "" if data is None else Artifact(path=path, name=str(path), data=data).raw_text

    @property
    def _sha256(self) -> str:
        from pytest_reflex.drivers.reflex.history import digest

        return digest(self._text)

    def _change(self) -> dict[str, Any]:
        """Return the artifact as a change of nothing, as the event of a first artifact has it."""
        from pytest_reflex.storage.delta import make_delta
        from pytest_reflex.storage.parts import find_changes

        if not self._text:
            return {"by": "its program"}
        return {
            "by": "its program",
            "delta": make_delta("", self._text),
            "before": EMPTY_SHA256,
            "after": self._sha256,
            "size": len(self._text.encode()),
            "changed": {**find_changes("", self._text).to_json(), "initial": True},
        }


def _payload(record: Record) -> Record:
    found = record.get("payload")
    return found if isinstance(found, dict) else {}


def _brief(record: Record) -> dict[str, Any]:
    """Return a line of a history as PLAN may see it."""
    kept = {k: record.get(k) for k in ("iteration", "phase", "step", "event", "status")}
    return {**kept, "payload": {k: v for k, v in _payload(record).items() if k in _KEPT_KEYS}}


def _before(step: object) -> set[Step]:
    """Return the steps that are done where a step is due."""
    if step == Step.PRODUCE_PREPARE:
        return {Step.PLAN}
    names = [one.value for one in ORDER]
    return set(ORDER[: names.index(step)]) if isinstance(step, str) and step in names else set()
