"""The JSON documents of a run, run.json and current.json, and the kinds of runs.

They have the seed's shapes (seed 000) and are written from the state alone. Keys that the seed does
not have are added beside its own and never change their meaning. current.json names the newest loop
that runs, and holds what people ask of loops that others drive.
Promises: it is changed under the lock of the state folder, so no request is lost between a driver
and a person; a request stands until its run has taken it or has ended.
Limits: a program that ignores the lock may write over it; then a request is made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pytest_reflex.drivers.common.control import FEEDBACK, NOW, STOP, Requests
from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.model.rules import round_down
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus
from pytest_reflex.storage.atomic import remove_file, replace_file
from pytest_reflex.storage.files import read_object
from pytest_reflex.storage.lock import folder_lock, is_locked

KIND = "kind"
SESSION = "pytest-session"
LOOP, PYTEST_LOOP = "loop", "pytest-loop"
"""The two kinds, as lists and events name their drivers."""


def is_of_session(state: RunState) -> bool:
    """Return whether a run is over a user's own pytest session."""
    return state.setup.get(KIND) == SESSION


def refuse_session(state: RunState, command: str = "") -> None:
    """Raise UsageError for a run over a pytest session; it goes on by `command`, or as it is."""
    if is_of_session(state):
        again = command or f"pytest --reflex-loop --reflex-resume {state.alias}"
        raise UsageError(
            f"the loop {state.alias!r} is over a pytest session", hint=f"go on with `{again}`"
        )


SCHEMA_VERSION = 1
CALLS = "calls_under_way"


def run_json(state: RunState) -> dict[str, Any]:
    """Return run.json for a state."""
    criteria = state.criteria.to_json()
    last = state.marks[-1].score if state.marks else None
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": state.run_id,
        "task_alias": state.alias,
        "status": state.status.value,
        "iteration": state.iteration,
        "max_iterations": state.limits.max_iterations,
        "phase": state.level.value,
        "current_step": state.step.value,
        "task": {"prompt": state.task, "ideal_result": state.ideal_result},
        "criteria": criteria,
        "plan": list(state.plan),
        "prepared_checks": None if state.checks is None else {"checks": list(state.checks)},
        "evaluation": state.evaluation.to_json() if state.evaluation else None,
        "critique": None if state.issues is None else {"issues": list(state.issues)},
        "stop": state.stop.to_json(),
        "last_score": round_down(last) if last is not None else 0,
        "last_score_exact": f"{last.numerator}/{last.denominator}" if last is not None else "0/1",
        "stagnation_count": state.stagnation_count,
        "artifact": {"sha256": state.artifact_sha256, "status": state.artifact_status},
        "proofs": list(state.proofs),
        "feedback": {"waiting": list(state.feedback), "heeded": list(state.used_feedback)},
        "limits": state.limits.to_json(),
        "setup": dict(state.setup),
        "spend": state.spend.to_json(),
        "seal": state.seal,
        "created_at": state.created_at,
        "updated_at": state.updated_at,
        "last_seq": state.last_seq,
    }


def current_json(state: RunState) -> dict[str, Any]:
    """Return current.json, the pointer to the loop that runs."""
    return {
        "active_run_id": state.run_id,
        "task_alias": state.alias,
        "status": state.status.value,
        "updated_at": state.updated_at,
    }


HISTORY, RUN, ARTIFACT, CURRENT = "history.jsonl", "run.json", "artifact.md", "current.json"


def dump(document: dict[str, Any]) -> bytes:
    """Return a document as one line; raises ValueError for what JSON does not have."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair (a path that is not UTF-8) has an escape
        return json.dumps(document, allow_nan=False).encode() + b"\n"


def mentions(written: Mapping[str, Any], run_id: str) -> bool:
    """Return whether a run.json is one of that run; another program may leave out `last_seq`."""
    last = written.get("last_seq", 0)
    is_number = isinstance(last, int) and not isinstance(last, bool)
    return written.get("run_id") == run_id and is_number


def refuse_newer(written: Mapping[str, Any], path: Path) -> None:
    """Raise StateError for a document that a newer version of this program wrote."""
    version = written.get("schema_version", SCHEMA_VERSION)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StateError(
            f"a newer version wrote {path} (schema {version}, this one reads {SCHEMA_VERSION})",
            hint="go on with that version",
        )


OTHERS = "requests"
_OURS = (STOP, NOW, FEEDBACK, OTHERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """current.json as a value: `named` are the seed's keys, `asked` the requests by run_id."""

    named: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Requests] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        found = self.named.get("active_run_id")
        return found if isinstance(found, str) else ""

    def requests_of(self, run_id: str) -> Requests:
        return self.asked.get(run_id, Requests())

    def with_requests(self, run_id: str, requests: Requests) -> Pointer:
        """Return the pointer with the requests of a run replaced; without any it has no entry."""
        others = {key: value for key, value in self.asked.items() if key != run_id}
        return replace(
            self, asked={**others, run_id: requests} if requests != Requests() else others
        )

    def with_run(self, state: RunState | None) -> Pointer:
        return replace(self, named=current_json(state) if state else {})

    def to_json(self) -> dict[str, Any]:
        wire = {**self.named, **self.requests_of(self.run_id).to_json()}
        others = {key: r.to_json() for key, r in self.asked.items() if key != self.run_id}
        return {**wire, OTHERS: others} if others else wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> Pointer:
        if not any(key in wire for key in _OURS):
            return cls(named=wire)
        named = {key: value for key, value in wire.items() if key not in _OURS}
        others = wire.get(OTHERS)
        asked = {
            key: Requests.from_json(value)
            for key, value in (others.items() if isinstance(others, dict) else ())
        }
        pointer = cls(named=named, asked=asked)
        own = Requests.from_json(wire)
        return pointer.with_requests(pointer.run_id, pointer.requests_of(pointer.run_id) | own)


def read_pointer(root: Path) -> Pointer:
    """Return what current.json says; nothing where it is missing or cannot be used."""
    return Pointer.from_json(read_object(root / CURRENT))


def change_pointer(root: Path, change: Callable[[Pointer], Pointer], staging: Path) -> None:
    """Put what `change` makes of current.json in its place; raises StateError.

    A pointer that names no run is removed. `staging` is the folder of a run, for the moment
    between writing and renaming.
    """
    old = read_pointer(root)
    if change(old) == old:
        return
    with folder_lock(root):
        old = read_pointer(root)
        new = change(old)
        if new == old:
            return
        if new.named:
            replace_file(root / CURRENT, dump(new.to_json()), staging=staging)
        else:
            remove_file(root / CURRENT)


def follow(
    root: Path, state: RunState, *, began: bool, moved: bool
) -> Callable[[Pointer], Pointer]:
    """Return the change that follows a run: it is named where it is the newest that runs.

    `began` says that it has just begun or begun again, `moved` that it went to another iteration or
    phase. The end of a run hands the pointer on.
    """

    def change(pointer: Pointer) -> Pointer:
        ours = pointer.run_id == state.run_id
        if state.status is not RunStatus.RUNNING:
            return repair_pointer(
                root, pointer.with_requests(state.run_id, Requests()), but=state.run_id
            )
        claims = began or (moved if ours else _is_older(root, pointer, state))
        return pointer.with_run(state) if claims else pointer

    return change


def repair_pointer(root: Path, pointer: Pointer, *, but: str = "") -> Pointer:
    """Return a pointer that names a run that goes on, and not the run `but`."""
    if pointer.named and (pointer.run_id == but or _dangles(root, pointer)):
        return pointer.with_run(newest_running(root, but))
    return pointer


def _is_older(root: Path, pointer: Pointer, state: RunState) -> bool:
    """Return whether what a pointer names does not run, or began before a run."""
    return _dangles(root, pointer) or _began(root, pointer) < state.created_at


def _dangles(root: Path, pointer: Pointer) -> bool:
    """Return whether the run that a pointer names is gone or has ended."""
    alias = pointer.named.get("task_alias")
    if not isinstance(alias, str) or not (root / alias / HISTORY).is_file():
        return True
    run = read_object(root / alias / RUN)
    same = run.get("run_id") == pointer.run_id
    return same and run.get("status") != RunStatus.RUNNING


def _began(root: Path, pointer: Pointer) -> str:
    """Return when the run that a pointer names began, late where this is unknown."""
    return str(read_object(root / str(pointer.named["task_alias"]) / RUN).get("created_at", "~"))


def newest_running(root: Path, but: str = "") -> RunState | None:
    """Return the newest run that goes on, one that is driven before one that is interrupted."""
    from pytest_reflex.drivers.reflex.run_status import read_run

    for folder in that_seem_to_run(root, but):
        try:
            run = read_run(folder)
        except (StateError, OSError):
            continue
        if run.state.status is RunStatus.RUNNING and run.state.run_id != but:
            return run.state
    return None


def that_seem_to_run(root: Path, but: str = "") -> Iterator[Path]:
    """Yield the folders whose run.json does not say that the run has ended, the newest first.

    One that a process drives comes before one that is interrupted.
    """
    found = []
    for path in root.glob(f"*/{HISTORY}"):
        folder = path.parent
        run = read_object(folder / RUN)
        if run.get("status", RunStatus.RUNNING) != RunStatus.RUNNING or run.get("run_id") == but:
            continue
        if not folder.is_symlink():
            found.append((_is_held(folder), str(run.get("created_at", "")), folder.name, folder))
    yield from (folder for *_, folder in sorted(found, reverse=True))


def _is_held(folder: Path) -> bool:

    try:
        return is_locked(folder / HISTORY)
    except (StateError, OSError):
        return False


class _OnTheWire(Protocol):
    def to_json(self) -> dict[str, Any]: ...


def calls_json(calls: Iterable[_OnTheWire]) -> dict[str, Any]:
    """Return the key of run.json with the calls that are under way; none where there are none."""
    wire = [call.to_json() for call in calls]
    return {CALLS: wire} if wire else {}
