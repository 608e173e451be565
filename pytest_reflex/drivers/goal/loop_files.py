"""The files in `.loop`: made for people and other programs, and what is taken from an agent's
there.

A claim stays a claim, unless its evidence names a file of the project in which it can be seen: then
it is an observation, beside at least one criterion that the program verifies. No claim alone makes
an execution output or a measurement.

The file wins over the block. All that is taken is a claim; a change of any other key is named and
comes to nothing. The key of the Stop hook is left to the hook.

`state.json` is the state, `iterations.jsonl` has a line for each iteration, `summary.md` how the
run ended. Promises: each is replaced whole, or one line longer; a line is there once; what stands
there decides nothing but where a person adopts it. While a goal is driven, `state.lock` is held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.record import INTERRUPTED, DriverRecord
from pytest_reflex.drivers.goal import statefile
from pytest_reflex.drivers.goal.claims import states_nothing
from pytest_reflex.drivers.goal.model import Criterion, GoalState, GoalStatus, Verification
from pytest_reflex.drivers.goal.run_state import CallResult, Claim, Goal
from pytest_reflex.errors import StateError
from pytest_reflex.model.json_fault import json_object
from pytest_reflex.model.plain import one_line
from pytest_reflex.model.stop import ENDS, RunStatus, StopReason
from pytest_reflex.storage.atomic import remove_file, replace_file
from pytest_reflex.storage.files import read_if_regular, refuse_links
from pytest_reflex.storage.folders import make_folder
from pytest_reflex.storage.lock import HeldLock

_WORD = re.compile(r"[\w./-]*[\w-]\.?[\w-]*")


def proof_by(criterion: Criterion, claim: Claim, project: Path, *, beside: bool) -> str:
    """Return the kind of proof that a claim gives; `beside` says that some other is verified."""
    kind, required = claim.kind, criterion.plan.required
    if Verification.ASSUMPTION in (kind, required):
        return Verification.ASSUMPTION.value
    if kind == Verification.CODE_REVIEW:
        return kind
    may_be_seen = required in (None, Verification.OBSERVATION) and beside
    if kind == Verification.OBSERVATION and may_be_seen and any(_files(claim.evidence, project)):
        return kind
    return Verification.CLAIM.value


def _files(evidence: str, project: Path) -> Iterator[str]:
    """Yield the files of a project that a text names, with something in them."""
    root = project.resolve()
    for word in _WORD.findall(evidence):
        try:
            path = (root / word).resolve()
            if path.is_relative_to(root) and path.is_file() and path.stat().st_size:
                yield word
        except (OSError, ValueError):
            continue


TAKEN = ("criteriaStatus", "exit_signal", "completedSteps", "remainingSteps")
_BEGIN, _END = "---LOOP_STATUS---", "---END_STATUS---"
_KEY = re.compile(r"[A-Z_]{1,40}")
_EVIDENCE = 1_000


def work_of(before: GoalState, data: bytes | None, answer: str) -> CallResult:
    """Return what an agent says: `data` is the state file as it left it, `answer` its answer."""
    written = statefile.to_json(before)
    wire, problems = _wire(written, data)
    state, unusable = _state(written, wire)
    undone = sorted(
        key
        for key in {*written, *wire}
        if key not in TAKEN and key != statefile.HOOK and wire.get(key) != written.get(key)
    )
    known = {one.text for one in before.criteria}
    more = [text for text in _entries(wire) if text not in known]
    unknown = [f"criteriaStatus of {one_line(text, 60)!r}" for text in more]
    block = _block_of(answer)
    claims = _claims(before, state)
    signal, mismatch = state.exit_signal, list[str]()
    said = {text: met for text, met in block.criteria.items() if text in known}
    silent = all(wire.get(key) == written.get(key) for key in TAKEN)
    if silent:
        now = {one.text: one.met for one in before.criteria}
        claims = {text: Claim(met=met) for text, met in said.items() if met is not now[text]}
        signal = block.exit_signal
    else:
        file = {one.text: one.met for one in state.criteria}
        mismatch = [text for text, met in said.items() if met is not file[text]]
    return CallResult(
        claims=claims,
        exit_signal=signal,
        completed=state.completed_steps,
        remaining=state.remaining_steps,
        undone=(*problems, *unusable, *undone, *unknown),
        mismatch=tuple(mismatch),
        broken=block.broken,
    )


def _wire(written: Mapping[str, Any], data: bytes | None) -> tuple[Mapping[str, Any], list[str]]:
    """Return the object in a state file; as we wrote it where that cannot be read."""
    if data is None:
        return written, ["the file (it was removed)"]
    try:
        return statefile.read_object(data, statefile.STATE_NAME), []
    except StateError as error:
        return written, [f"the file ({one_line(error.problems[0].message, 100)})"]


def _state(written: Mapping[str, Any], wire: Mapping[str, Any]) -> tuple[GoalState, list[str]]:
    """Return a state with what is taken of a file, and the keys whose values cannot be used."""
    taken, unusable = dict(written), []
    for key in TAKEN:
        if key not in wire:
            continue
        value = wire[key]
        if key == "criteriaStatus" and isinstance(value, dict):
            value = {text: value.get(text, one) for text, one in written[key].items()}
        try:
            statefile.from_json({**written, key: value})
            taken[key] = value
        except StateError:
            unusable.append(f"{key} (it cannot be used)")
    return statefile.from_json(taken), unusable


def _entries(wire: Mapping[str, Any]) -> Mapping[str, Any]:
    found = wire.get("criteriaStatus")
    return found if isinstance(found, dict) else {}


def _claims(before: GoalState, now: GoalState) -> dict[str, Claim]:
    """Return the criteria of which a file says something else than before."""
    known = {one.text: one for one in before.criteria}
    return {
        one.text: Claim(
            met=one.met,
            kind=one.verification.value if one.verification else "",
            evidence=one.evidence[:_EVIDENCE],
        )
        for one in now.criteria
        if one.met is not known[one.text].met
        or (one.met and replace(one, plan=known[one.text].plan) != known[one.text])
    }


class _Block:
    """A status block; what cannot be read of it does not count."""

    def __init__(self, rows: Mapping[str, str], broken: tuple[str, ...]) -> None:
        self.exit_signal = rows.get("EXIT_SIGNAL", "").lower() == "true"
        self.broken = broken
        try:
            found = json.loads(rows.get("CRITERIA", "{}"))
        except ValueError:
            found = {}
        entries = found.items() if isinstance(found, dict) else ()
        self.criteria = {text: met for text, met in entries if isinstance(met, bool)}


def _block_of(answer: str) -> _Block:
    """Return the last status block of an answer, an empty one where there is none."""
    before, end, _ = answer.rpartition(_END)
    _, begin, text = before.rpartition(_BEGIN)
    rows = []
    for line in text.split("\n") if begin and end else ():
        key, _, value = line.partition(":")
        if _KEY.fullmatch(key.strip()):
            rows.append((key.strip(), value.strip()))
    reported = (value for key, value in rows if key == "MUST_NOT" and value)
    broken = tuple(value for value in reported if not states_nothing(value))
    return _Block(dict(rows), broken)


ITERATIONS, SUMMARY = "iterations.jsonl", "summary.md"
_MODE = 0o644
_MOST_BYTES = 50_000_000


def as_written(goal: Goal, record: DriverRecord) -> GoalState:
    """Return the state that a state file shows: with the status of the run."""
    status, why = status_of(record)
    return replace(goal.state, status=status, pause_reason=why)


def status_of(record: DriverRecord) -> tuple[GoalStatus, str]:
    """Return the status of a run in the words of a state file, and why it is paused."""
    if record.status == INTERRUPTED:
        return GoalStatus.PAUSED, f"interrupted; {continue_command(record)}"
    if not record.reason:
        return GoalStatus.IN_PROGRESS, ""
    reason = StopReason(record.reason)
    if ENDS[reason].status is RunStatus.COMPLETED:
        return GoalStatus.COMPLETED, ""
    if reason is StopReason.CANCELLED:
        return GoalStatus.CANCELLED, ""
    detail = f": {record.detail}" if record.detail else ""
    return GoalStatus.PAUSED, f"{ENDS[reason].sentence}{detail}; {continue_command(record)}"


def continue_command(record: DriverRecord) -> str:
    """Return the command by which a run that is paused goes on."""
    more = {
        StopReason.BUDGET_EXCEEDED.value: " --budget +10",
        StopReason.ITERATION_LIMIT.value: " --max-iterations +5",
    }.get(record.reason, "")
    return f"pytest-reflex goal continue{more}"


class LoopFiles:
    """The files in the `.loop` of a project."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self.folder = project / statefile.FOLDER
        self.state = statefile.state_path(project)

    def read_state(self) -> bytes | None:
        """Return the bytes of the state file, None where there is none; raises StateError."""
        return read_if_regular(self.state, _MOST_BYTES)

    def write_state(self, state: GoalState) -> None:
        """Write a state; what the Stop hook keeps in the file stays."""
        self._make_folder()
        replace_file(self.state, statefile.dump(replace(state, hook=self._hook())), mode=_MODE)

    def _hook(self) -> Mapping[str, Any]:
        try:
            found = statefile.read_object(self.read_state() or b"{}", self.state)
        except StateError:
            return {}
        hook = found.get(statefile.HOOK)
        return hook if isinstance(hook, dict) else {}

    def add_iteration(self, goal: Goal, record: DriverRecord) -> None:
        """Add the line of the last iteration, unless it is there."""
        if not goal.last:
            return
        path = self.folder / ITERATIONS
        lines = (read_if_regular(path, _MOST_BYTES) or b"").splitlines()
        key = (record.run, goal.last["iteration"])
        if lines and _key_of(lines[-1]) == key:
            return
        line = {
            "run": record.run,
            **goal.last,
            "criteria": {one.text: one.met for one in goal.state.criteria},
            "exit_signal": goal.state.exit_signal,
            "stuckCount": goal.state.stuck_count,
            "usd": record.spend.to_json()["usd"],
        }
        whole = [*lines, json.dumps(line, ensure_ascii=False).encode(), b""]
        replace_file(path, b"\n".join(whole), mode=_MODE)

    def write_summary(self, text: str) -> None:
        self._make_folder()
        replace_file(self.folder / SUMMARY, text.encode(), mode=_MODE)

    def remove_state(self) -> None:
        """Remove the state file; raises StateError."""
        if self.folder.is_dir():
            refuse_links(self._project, self.folder)
            remove_file(self.state)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock that says that a goal is driven here; raises LockedError."""
        self._make_folder()
        lock = HeldLock.hold(statefile.lock_path(self._project), "the goal of this project")
        try:
            yield
        finally:
            lock.close()

    def _make_folder(self) -> None:
        refuse_links(self._project, self.folder)
        make_folder(self.folder)


def _key_of(line: bytes) -> tuple[Any, Any]:
    found = json_object(line) or {}
    return found.get("run"), found.get("iteration")
