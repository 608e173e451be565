"""Looking at runs without touching them: which there are, where one stands, whether it is alive."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_reflex.drivers.reflex.history import claims_pass, hash_before_last_change, read_events
from pytest_reflex.drivers.reflex.lost_calls import with_lost_calls
from pytest_reflex.drivers.reflex.statefile import (
    ARTIFACT,
    CURRENT,
    HISTORY,
    RUN,
    is_of_session,
    read_pointer,
    refuse_newer,
    that_seem_to_run,
)
from pytest_reflex.errors import ReflexError, UsageError, did_you_mean, read_or_raise
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.reports.run_lines import extend_command
from pytest_reflex.storage.files import names_in, read_if_regular, read_object
from pytest_reflex.storage.folders import is_alias, run_folder
from pytest_reflex.storage.journal import damage_error, describe_recovery, read_journal
from pytest_reflex.storage.lock import is_locked

NOT_VERIFIED = "not verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOverview:
    """A run as its history has it; `alive` is whether a process holds it now.

    `describe_recovery` says what a crash left in the history that took no event with it.
    """

    folder: Path
    state: RunState
    alive: bool
    recovered: tuple[str, ...] = ()

    @property
    def alias(self) -> str:
        return self.folder.name

    @property
    def interrupted(self) -> bool:
        return self.state.status is RunStatus.RUNNING and not self.alive

    @property
    def verified(self) -> bool | None:
        """Whether a pass that the files claim is known to be one: never, and None without one."""
        return False if claims_pass(self.state) else None

    @property
    def recovered_json(self) -> dict[str, list[str]]:
        """What JSON documents say of the history itself, where there is something to say."""
        return {"recovered": list(self.recovered)} if self.recovered else {}

    @property
    def copied(self) -> bool:
        """Whether the folder is a copy, or was renamed: its history names another loop."""
        return self.alias != self.state.alias


def aliases(root: Path) -> list[str]:
    """Return the aliases under a state root that have a history, in order of their names.

    A run that was killed before its first event has an empty one: it never began. A folder that no
    alias can name, or a link, is not ours.
    """
    folders = (root / name for name in names_in(root) if is_alias(name))
    found = (one for one in folders if not _is_empty(one / HISTORY))
    return [one.name for one in found if not one.is_symlink()]


def _is_empty(path: Path) -> bool:
    """Return whether a history is not there, or has nothing in it."""
    try:
        status = read_or_raise(path, path.lstat)
    except (FileNotFoundError, NotADirectoryError):
        return True
    return stat.S_ISREG(status.st_mode) and not status.st_size


def find_run(root: Path, alias: str | None) -> RunOverview:
    """Return a run by alias; without one the run that goes on (see `active`), else the newest.

    Raises UsageError where there is none, with what to do next.
    """
    folder = find_folder(root, alias)
    try:
        return read_run(folder)
    except FileNotFoundError:
        raise UsageError(f"loop {folder.name!r} was removed at this moment") from None


def find_folder(root: Path, alias: str | None) -> Path:
    """Return the folder of a run that has a history, as `find_run` does; it may be damaged."""
    known = aliases(root)
    if alias is None:
        alias = active(root) or _pointed_alias(root, known) or _newest(root, known)
    folder = run_folder(root, alias)
    if alias not in known:
        if (folder / RUN).exists():
            raise UsageError(
                f"the history of {alias!r} is missing or empty: {folder / HISTORY}",
                hint="its run.json is kept; start over with `pytest-reflex loop new`",
            )
        if folder.is_dir():
            raise UsageError(
                f"loop {alias!r} never began: there is no event in {folder}",
                hint=f"remove it with `pytest-reflex loop clean {alias}`, and start it again",
            )
        hint = did_you_mean(alias, known) if known else "start one with `pytest-reflex loop new`"
        raise UsageError(f"there is no loop named {alias!r} in {root}", hint=hint)
    return folder


def active(root: Path, wanted: Callable[[RunOverview], bool] = lambda run: True) -> str | None:
    """Return the name of a loop that goes on and is wanted: that of current.json, else the newest.

    current.json may be lost, may name a run that has ended, or one that is gone.
    """
    named, found = read_pointer(root).run_id, None
    for folder in that_seem_to_run(root):
        try:
            run = read_run(folder)
        except (ReflexError, OSError):
            continue
        if run.state.status is RunStatus.RUNNING and wanted(run) and not run.copied:
            found = found or folder.name
            if run.state.run_id == named:
                return folder.name
    return found


def find_interrupted(root: Path, *, of_session: bool = False) -> str | None:
    """Return the name of an interrupted loop of a kind (see `active`), None where there is none."""
    return active(root, lambda run: run.interrupted and is_of_session(run.state) is of_session)


def _pointed_alias(root: Path, known: list[str]) -> str | None:
    """Return the alias in current.json, also of a run that cannot be read, or has no history."""
    named = read_object(root / CURRENT).get("task_alias")
    there = isinstance(named, str) and (named in known or named in _without_history(root))
    if not there:
        return None
    written = read_object(root / str(named) / RUN).get("status", RunStatus.RUNNING)
    return str(named) if written == RunStatus.RUNNING else None


def _without_history(root: Path) -> list[str]:
    known = aliases(root)
    return sorted(p.parent.name for p in root.glob(f"*/{RUN}") if p.parent.name not in known)


def _newest(root: Path, known: list[str]) -> str:
    if not known and (lost := _without_history(root)):
        return lost[0]
    if not known:
        raise UsageError(
            f"there is no loop in {root}", hint="start one with `pytest-reflex loop new TASK`"
        )
    return max(known, key=lambda alias: _change_time(root / alias / HISTORY))


def _change_time(path: Path) -> int:
    try:
        return read_or_raise(path, path.lstat).st_mtime_ns
    except FileNotFoundError:
        return 0


def read_run(folder: Path) -> RunOverview:
    """Return the run in a folder, read without its lock.

    An artifact.md that a person changed shows in the state's `artifact_status`. Raises StateError
    where the history is damaged, or a newer version wrote run.json.
    """
    written = read_object(folder / RUN)
    refuse_newer(written, folder / RUN)
    path = folder / HISTORY
    content = read_journal(path)
    if not content.whole:
        raise damage_error(path, content)
    events, state = read_events(path, content.records)
    alive = is_locked(path)
    data = None if alive else read_if_regular(folder / ARTIFACT)
    if data is not None:
        found = hashlib.sha256(data).hexdigest()
        if found not in (state.artifact_sha256, hash_before_last_change(events)):
            by_hand = {**state.changed, "by": "hand"}
            state = replace(state, artifact_sha256=found, changed=by_hand)
    if not alive:
        state = with_lost_calls(state, written, events)
    return RunOverview(
        folder=folder, state=state, alive=alive, recovered=describe_recovery(path, content)
    )


def status_word(run: RunOverview) -> str:
    """Return the status for people; what was read from the disk does not show that it completed."""
    if run.interrupted:
        return "running (interrupted)"
    word, ended = run.state.status.value, run.state.status is not RunStatus.RUNNING
    return f"{word}, {NOT_VERIFIED}" if ended and claims_pass(run.state) else word


def verify_command(run: RunOverview) -> str:
    """Return the command that evaluates the artifact of a run again."""
    return f"pytest-reflex loop verify {run.alias}"


def resume_command(state: RunState, verb: str) -> str:
    """Return the command that lets a run go on, by `resume` or `extend`."""
    if verb == "extend":
        return extend_command(state, of_session=is_of_session(state))
    if is_of_session(state):
        return f"pytest --reflex-loop --reflex-resume {state.alias}"
    return f"pytest-reflex loop {verb} {state.alias}"
