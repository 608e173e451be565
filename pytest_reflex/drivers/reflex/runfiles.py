"""The files of one run, and the order in which a step becomes durable (SPEC section 4).

Promises: the history event is the commit point; artifact.md, run.json and current.json follow from
it and are rolled forward after a crash. Only the holder of the journal's lock writes.
Limits: the whole history is kept in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.common.events import utc_now
from pytest_reflex.drivers.common.workspace import TextFile, Workspace
from pytest_reflex.drivers.reflex import lost_calls
from pytest_reflex.drivers.reflex.fold import apply
from pytest_reflex.drivers.reflex.foreign import adoption
from pytest_reflex.drivers.reflex.history import (
    RecordedRun,
    change_of,
    hash_before_last_change,
    read_events,
)
from pytest_reflex.drivers.reflex.lost_calls import keep_in_run, with_partial
from pytest_reflex.drivers.reflex.statefile import (
    ARTIFACT,
    HISTORY,
    RUN,
    Pointer,
    calls_json,
    change_pointer,
    dump,
    follow,
    read_pointer,
    run_json,
)
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.errors import (
    ArtifactError,
    StateError,
    TamperedError,
    UnreadableError,
    UsageError,
)
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Level, Step
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import EMPTY_SHA256, RunState
from pytest_reflex.model.stop import RunStatus, StopReason
from pytest_reflex.storage.atomic import remove_strays, replace_file
from pytest_reflex.storage.files import read_if_regular, read_object
from pytest_reflex.storage.folders import create_run_folder
from pytest_reflex.storage.journal import Journal
from pytest_reflex.storage.lock import folder_lock

_REMOVE = "remove it to have the recorded artifact restored"
MOVES = (EventKind.ITERATION_ADVANCED, EventKind.PHASE_SWITCHED)
BEGINS = (EventKind.RUN_STARTED, EventKind.RUN_EXTENDED)


def text_file(run: RecordedRun) -> Workspace:
    """Return artifact.md as what a run works on."""
    return TextFile(run.artifact_path)


class RunFiles(RecordedRun):
    """One run on disk, held by this process until `close`.

    `workspace` is what follows the history; `aside` are the files in which `open` kept what it
    could not read, `lost` how many events it made of calls that a kill ended.
    """

    def __init__(
        self,
        folder: Path,
        journal: Journal,
        events: list[Event],
        state: RunState | None,
        workspace: Callable[[RecordedRun], Workspace],
    ) -> None:
        super().__init__(folder, events, state)
        self.workspace = workspace(self)
        self._journal = journal
        self._written: bytes | None = None
        self._forgery, self._lock = "", RLock()
        self._calls: list[lost_calls.PendingCall] = []
        self._is_named = False
        self.aside = [journal.aside] if journal.aside else []
        self.recovered, self.lost = journal.recovered, 0

    @classmethod
    def create(
        cls,
        root: Path,
        task: str,
        alias: str | None,
        workspace: Callable[[RecordedRun], Workspace] = text_file,
    ) -> RunFiles:
        """Make the folder of a new run, exclusively, and take its lock."""
        folder = create_run_folder(root, task, alias)
        return cls(folder, Journal.create(folder / HISTORY), [], None, workspace)

    @classmethod
    def open(
        cls, folder: Path, workspace: Callable[[RecordedRun], Workspace] = text_file
    ) -> RunFiles:
        """Take the lock of a run and bring its files to what its history says."""
        try:
            journal = Journal.open(folder / HISTORY)
        except FileNotFoundError:
            raise UsageError(
                f"loop {folder.name!r} was removed at this moment", hint="start a new loop"
            ) from None
        try:
            events, state = read_events(journal.path, journal.records)
            files = cls(folder, journal, events, state, workspace)
            written = read_object(folder / RUN)
            lost_calls.refuse_what_is_ahead(files, written, journal.torn_lines)
            if files.state.status is RunStatus.RUNNING:
                files._calls = lost_calls.find_lost_calls(written, events)
            files._roll_forward()
            files._count_lost_calls()
        except BaseException:
            journal.close()
            raise
        return files

    def close(self) -> None:
        self._journal.close()

    def _count_lost_calls(self) -> None:
        """Have the calls in the spend that were under way when the run was killed."""
        for done, notice in list(lost_calls.record_lost_calls(self._calls)):
            self.commit(done)
            self.recovered, self.lost = (*self.recovered, notice), self.lost + 1

    @property
    def is_foreign(self) -> bool:
        """Whether another program began the run, and this one has not written into it yet."""
        return bool(self._events) and self._events[0].seq >= self._journal.next_seq

    def adopt(self, more: Mapping[str, Any], *, allow_commands: bool = False) -> Event:
        """Make durable that a run of another program goes on here, with `more` to say of it."""
        first = adoption(self.folder, self._journal.records, allow_commands=allow_commands)
        now = utc_now()
        adopted = replace(first, ts=now, payload={**first.payload, **more})
        self._journal.append(adopted.to_json())
        self._events[0], self._state = adopted, apply(None, adopted)
        text = "Another program began this loop; see that it does not go on as well"
        self.recovered = (*self.recovered, text)
        self._write_state(adopted.kind)
        return adopted

    def begin_call(self, step: Step, vote: str = "") -> None:
        """Note that an agent is asked, until an event has it; by any thread."""
        with self._lock:
            self._calls.append(lost_calls.PendingCall(step, self.state.last_seq, vote))
            self._write_run()

    def unrecorded_votes(self) -> list[StepOutcome]:
        """Return the event, if there is one to be, for calls of a judge that are in no event."""
        with self._lock:
            votes = [call for call in self._calls if call.vote]
        return [done for done, _ in lost_calls.record_lost_calls(votes)] if votes else []

    def end_calls(self) -> None:
        """Note that no call is under way any more."""
        with self._lock:
            if self._calls:
                self._calls.clear()
                self._write_run()

    def commit(self, done: StepOutcome) -> Event:
        """Make a step durable and return its event."""
        if self.is_foreign:
            self.adopt({})
        payload = dict(done.payload)
        if done.artifact is not None:
            payload |= change_of(self, done.artifact)
        if done.partial:
            payload = with_partial(payload, keep_in_run(self.folder, done.step, done.partial))
        event = self._event(done.kind, done.step, payload)
        try:
            self._journal.append(event.to_json())
        except TamperedError as error:
            self._mark_tampered(error)
            raise
        with self._lock:
            self._events.append(event)
            self._state = apply(self._state, event)
            self._calls = [call for call in self._calls if not call.is_settled_by(event)]
        if done.artifact is not None:
            self._text = done.artifact
            self.workspace.write(self._text)
        self._write_state(event.kind)
        return event

    def _mark_tampered(self, error: TamperedError) -> None:
        """Mark the run in run.json as tampered, which its damaged history cannot record."""
        if self._state is None:
            return
        why = {
            "reason": StopReason.TAMPERED.value,
            "passed": False,
            "detail": error.problems[0].message,
        }
        self._state = apply(self._state, self._event(EventKind.FAILED, self._state.step, why))
        with suppress(StateError):
            self._write_state()

    def forgery(self) -> str:
        """Return what another program did to run.json since this one wrote it; empty for nothing.

        One that was removed claims nothing, and is written again.
        """
        try:
            found = read_if_regular(self.folder / RUN)
        except UnreadableError:  # that does not mean that it was changed
            raise
        except StateError:
            found = b""
        if self._written is not None and found not in (None, self._written):
            self._forgery = f"{self.artifact_label.removesuffix(ARTIFACT)}{RUN} was changed"
        return self._forgery

    def _event(self, kind: EventKind, step: Step, payload: dict[str, Any]) -> Event:
        now = datetime.now(UTC)
        if kind is EventKind.RUN_STARTED:
            run_id = f"{self.alias}-{now:%Y%m%d-%H%M%S}"
            level, iteration = Level(payload["level"]), 1
        else:
            run_id, level = self.state.run_id, self.state.level
            iteration = payload.get("iteration", self.state.iteration)
        return Event(
            kind=kind,
            run_id=run_id,
            iteration=iteration,
            level=level,
            step=step,
            seq=self._journal.next_seq,
            ts=f"{now:%Y-%m-%dT%H:%M:%SZ}",
            status="error" if kind in (EventKind.PHASE_ERROR, EventKind.FAILED) else "ok",
            payload=payload,
        )

    def _write_state(self, kind: EventKind | None = None) -> None:
        """Write run.json, then current.json; `kind` is that of the event just committed."""
        with self._lock:
            self._write_run()
        began, moved = kind in BEGINS, kind in MOVES
        if not began and not moved and self._is_named and self.state.status is RunStatus.RUNNING:
            return  # current.json names this run already
        change = follow(self.folder.parent, self.state, began=began, moved=moved)
        change_pointer(self.folder.parent, change, self.folder)

    def _write_run(self) -> None:
        self.forgery()
        self._written = dump(run_json(self.state) | calls_json(self._calls))
        replace_file(self.folder / RUN, self._written)

    def requests(self) -> Requests:
        """Return what people ask of this run through current.json."""
        pointer = read_pointer(self.folder.parent)
        self._is_named = pointer.run_id == self.state.run_id
        return pointer.requests_of(self.state.run_id)

    def adopt_feedback(self, asked: Mapping[str, str]) -> list[Event]:
        """Make what people say of the artifact durable, once, and take it off current.json."""
        events = [
            self.give_feedback(key, text)
            for key, text in asked.items()
            if not self.has_feedback(key)
        ]
        if asked:
            run_id = self.state.run_id

            def take_feedback(pointer: Pointer) -> Pointer:
                return pointer.with_requests(run_id, pointer.requests_of(run_id).without(asked))

            change_pointer(self.folder.parent, take_feedback, self.folder)
        return events

    def has_feedback(self, key: str) -> bool:
        """Return whether a person's critique is durable."""
        given = (e.payload["id"] for e in self._events if e.kind is EventKind.FEEDBACK_GIVEN)
        return key in given

    def give_feedback(self, key: str, text: str) -> Event:
        """Commit a person's critique; `key` distinguishes it from all others."""
        payload = {"id": key, "text": text}
        return self.commit(
            StepOutcome(kind=EventKind.FEEDBACK_GIVEN, step=self.state.step, payload=payload)
        )

    def adopt_changes_by_hand(self) -> list[Event]:
        """Take up an artifact.md that differs from the history: a person's change, judged next.

        What is not a regular file is not an artifact: the recorded one is put in its place. One
        that the history does not know of may be all that is left of a lost event.
        """
        is_first = self.state.artifact_sha256 == EMPTY_SHA256
        if is_first and not isinstance(self.workspace, TextFile):
            return []
        if (data := self.workspace.read()) is None:
            if not is_first:
                self.workspace.write(self._text)
            return []
        if hashlib.sha256(data).hexdigest() == self.state.artifact_sha256:
            return []
        try:
            text = Artifact(path=self.artifact_path, name=self.artifact_label, data=data).raw_text
        except ArtifactError as error:
            raise UsageError(
                f"{error.problems[0].message}; it was changed by hand", hint=_REMOVE
            ) from None
        kind, by = EventKind.ARTIFACT_CREATED, {"by": "hand"}
        return [self.commit(StepOutcome(kind=kind, step=Step.EVALUATE, payload=by, artifact=text))]

    def _roll_forward(self) -> None:
        """After a crash: an artifact that is missing or one event behind is written again.

        run.json is written after the artifact: where it knows the last event, what people work on
        followed, and what they made of it since is theirs.
        """
        with folder_lock(self.folder.parent):  # the pointer is written under it, too
            remove_strays(self.folder)
        if self.is_foreign:
            return
        is_ahead = read_object(self.folder / RUN).get("last_seq") != self.state.last_seq
        self.aside += lost_calls.keep_broken_state(self.folder, self.state.run_id)
        if self.state.artifact_sha256 != EMPTY_SHA256:
            data = self.workspace.read()
            behind = hash_before_last_change(self._events)
            if data is None or hashlib.sha256(data).hexdigest() == behind:
                self.workspace.write(self._text, follow=is_ahead)
        self._write_state()
