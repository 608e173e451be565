"""The files in `.loop` that show a goal to people and other programs: made of the record.

`state.json` is the state, `iterations.jsonl` has a line for each iteration, `summary.md` how the
run ended. Promises: each is replaced whole, or one line longer; a line is there once; what stands
there decides nothing but where a person adopts it. While a goal is driven, `state.lock` is held.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.record import INTERRUPTED, Record
from pytest_reflex.drivers.goal import statefile
from pytest_reflex.drivers.goal.model import GoalState, GoalStatus
from pytest_reflex.drivers.goal.standing import Goal
from pytest_reflex.errors import StateError
from pytest_reflex.model.stop import ENDS, RunStatus, StopReason
from pytest_reflex.storage.atomic import remove_file, replace_file
from pytest_reflex.storage.files import read_if_regular, refuse_links
from pytest_reflex.storage.folders import make_folder
from pytest_reflex.storage.lock import HeldLock

ITERATIONS, SUMMARY = "iterations.jsonl", "summary.md"
_MODE = 0o644
_MOST_BYTES = 50_000_000


def as_written(goal: Goal, record: Record) -> GoalState:
    """Return the state that a state file shows: with the status of the run."""
    status, why = status_of(record)
    return replace(goal.state, status=status, pause_reason=why)


def status_of(record: Record) -> tuple[GoalStatus, str]:
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


def continue_command(record: Record) -> str:
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

    def add_iteration(self, goal: Goal, record: Record) -> None:
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
    def held(self) -> Iterator[None]:
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
    try:
        found = json.loads(line)
        return found.get("run"), found.get("iteration")
    except (ValueError, AttributeError):
        return None, None
