"""Every loop under a state root, damaged ones too, and removing them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.reflex.run_status import (
    NOT_VERIFIED,
    RunOverview,
    active,
    read_run,
    resume_command,
    status_word,
    verify_command,
)
from pytest_reflex.drivers.reflex.statefile import (
    ARTIFACT,
    HISTORY,
    RUN,
    Pointer,
    change_pointer,
    is_of_session,
    newest_running,
    repair_pointer,
)
from pytest_reflex.errors import ReflexError, UnreadableError, UsageError, read_or_raise
from pytest_reflex.model.rules import round_down
from pytest_reflex.model.run import EMPTY_SHA256
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.storage.files import names_in
from pytest_reflex.storage.folders import remove_leftovers, remove_run, run_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A folder under the state root: the run in it, or what is wrong with it."""

    alias: str
    run: RunOverview | None = None
    problem: str = ""

    @property
    def status(self) -> str:
        """The word for people: a run's status, or `damaged`."""
        if self.run is None:
            return "damaged"
        return status_word(self.run)

    def to_json(self) -> dict[str, Any]:
        if self.run is None:
            return {"alias": self.alias, "status": "damaged", "problem": self.problem}
        state = self.run.state
        judged = state.evaluation if state.artifact_status == "evaluated" else None
        return {
            "alias": self.alias,
            "run_id": state.run_id,
            "status": state.status.value,
            "interrupted": self.run.interrupted,
            "stop_reason": state.stop.reason.value if state.stop.reason else "",
            "iteration": state.iteration,
            "max_iterations": state.limits.max_iterations,
            "phase": state.level.value,
            "score": float(round_down(judged.score)) if judged else None,
            "score_exact": f"{judged.score.numerator}/{judged.score.denominator}" if judged else "",
            "passed": judged.passed if judged else None,
            "verified": self.run.verified,
            **self.run.recovered_json,
            "task": state.task,
            "created_at": state.created_at,
            "updated_at": state.updated_at,
        }


def survey(root: Path) -> list[FoundRun]:
    """Return every loop under a state root in order of names; reads only."""
    return [look(root, name) for name in names_in(root) if is_loop(root / name)]


def is_loop(folder: Path) -> bool:
    """Return whether a folder is one of ours: it has a file of a run, or nothing at all in it.

    The state root may be a folder in which people keep other things.
    """
    try:
        hidden = folder.name.startswith(".")
        names = {""} if hidden else set(read_or_raise(folder, lambda: os.listdir(folder)))
    except UnreadableError:  # it is shown with what is wrong
        return True
    except OSError:
        return False
    return not names or bool(names & {HISTORY, RUN})


def look(root: Path, alias: str) -> FoundRun:
    """Return what there is in one folder; nothing that is wrong with it is raised."""
    try:
        folder = run_folder(root, alias)
        if not (folder / HISTORY).exists():
            there = f"its history is missing; {RUN} is kept" if (folder / RUN).exists() else ""
            return FoundRun(alias=alias, problem=there or "it has no history: it never began")
        return FoundRun(alias=alias, run=read_run(folder))
    except ReflexError as error:
        return FoundRun(alias=alias, problem=str(error.problems[0]))
    except OSError as error:
        return FoundRun(alias=alias, problem=str(error))


def find_running(root: Path) -> RunOverview:
    """Return the run that current.json names, else the newest that goes on.

    Raises UsageError where no loop does.
    """
    name = active(root)
    if name is None:
        raise UsageError("no loop is running", hint="see `pytest-reflex loop list`")
    return read_run(root / name)


def ended_error(run: RunOverview) -> UsageError:
    """Return the error for what a run that has ended cannot do, with what can be done instead."""
    reason, there = run.state.stop.reason, run.state.artifact_sha256 != EMPTY_SHA256
    word, again = reason.value if reason else run.state.status.value, ""
    if run.verified is False:
        word += f", {NOT_VERIFIED}"
        again = "" if is_of_session(run.state) else f"check it with `{verify_command(run)}`; "
    if run.state.stop.can_be_extended and not run.copied:
        again += f"go on with `{resume_command(run.state, 'extend')}`, or "
    artifact = f"its artifact is {run.folder / ARTIFACT}; " if there else ""
    return UsageError(
        f"loop {run.alias!r} has ended ({word})",
        hint=f"{artifact}{again}start over with `loop new`",
    )


def can_be_extended(found: FoundRun) -> bool:
    return found.run is not None and found.run.state.stop.can_be_extended


def can_go_on(found: FoundRun) -> bool:
    """Return whether a run was interrupted and can be resumed, by whichever command."""
    return found.run is not None and found.run.interrupted and not found.run.copied


def resumes_here(found: FoundRun) -> bool:
    """Return whether `loop resume` takes it."""
    return found.run is not None and found.run.interrupted and not is_of_session(found.run.state)


def extends_here(found: FoundRun) -> bool:
    """Return whether `loop extend` takes it."""
    return found.run is not None and can_be_extended(found) and not is_of_session(found.run.state)


def is_verifiable(found: FoundRun) -> bool:
    """Return whether `loop verify` takes it."""
    return found.run is not None and not found.run.alive and not is_of_session(found.run.state)


def is_running(found: FoundRun) -> bool:
    return found.run is not None and found.run.state.status is RunStatus.RUNNING


def takes_feedback(found: FoundRun) -> bool:
    return is_running(found) or can_be_extended(found)


def is_idle(found: FoundRun) -> bool:
    """Return whether no process drives it: it may be removed."""
    return found.run is None or not found.run.alive


def remove(root: Path, found: Iterable[FoundRun]) -> dict[str, ReflexError]:
    """Remove runs one after the other; return, by alias, why some are still there."""
    left: dict[str, ReflexError] = {}
    for one in found:
        try:
            remove_run(root, one.alias, HISTORY)
        except ReflexError as error:
            left[one.alias] = error
    return left


def tidy(root: Path, gone: Iterable[FoundRun] = ()) -> None:
    """Remove what killed removals left, requests to runs that are gone, a pointer that dangles."""
    remove_leftovers(root)
    if not root.is_dir():
        return
    run_ids = [one.run.state.run_id for one in gone if one.run and not is_loop(one.run.folder)]

    def change(pointer: Pointer) -> Pointer:
        for run_id in run_ids:
            pointer = pointer.with_requests(run_id, Requests())
        return repair_pointer(root, pointer)

    following = newest_running(root)
    change_pointer(root, change, root / following.alias if following else root)
