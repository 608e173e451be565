"""The files of one run, and the order in which a step becomes durable (SPEC section 4).

Promises: the history event is the commit point; artifact.md, run.json and current.json follow from
it and are rolled forward after a crash. Only the holder of the journal's lock writes.
Limits: the whole history is kept in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.loops.fold import apply, fold
from pytest_reflex.loops.runjson import current_json, run_json
from pytest_reflex.loops.steps import Done
from pytest_reflex.model.events import Event, EventKind
from pytest_reflex.model.run import EMPTY_SHA256, Mark, RunState
from pytest_reflex.model.words import Level, RunStatus, Step
from pytest_reflex.store.aside import keep_aside
from pytest_reflex.store.atomic import remove_file, remove_strays, replace_file
from pytest_reflex.store.delta import apply_delta, make_delta
from pytest_reflex.store.folders import create_run_folder
from pytest_reflex.store.journal import Journal
from pytest_reflex.store.sections import changed_sections

HISTORY, RUN, ARTIFACT, CURRENT = "history.jsonl", "run.json", "artifact.md", "current.json"
ASKED = "stop_requested"
MOVES = (EventKind.ITERATION_ADVANCED, EventKind.PHASE_SWITCHED)


class RunFiles:
    """One run on disk, held by this process until `close`.

    `aside` are the files in which `open` kept what it could not read.
    """

    def __init__(self, folder: Path, journal: Journal, events: list[Event], text: str) -> None:
        self.folder, self._journal, self._events, self._text = folder, journal, events, text
        self._state = fold(events) if events else None
        self.aside = [journal.aside] if journal.aside else []

    @classmethod
    def create(cls, root: Path, task: str, alias: str | None) -> RunFiles:
        """Make the folder of a new run, exclusively, and take its lock."""
        folder = create_run_folder(root, task, alias)
        return cls(folder, Journal.create(folder / HISTORY), [], "")

    @classmethod
    def open(cls, folder: Path) -> RunFiles:
        """Take the lock of a run and bring its files to what its history says."""
        journal = Journal.open(folder / HISTORY)
        try:
            events = [Event.from_json(record) for record in journal.records]
            files = cls(folder, journal, events, text_after(events))
            if files.state.status is RunStatus.RUNNING:
                files._roll_forward()
        except BaseException:
            journal.close()
            raise
        return files

    def close(self) -> None:
        self._journal.close()

    @property
    def state(self) -> RunState:
        if self._state is None:
            raise StateError(f"{self.folder / HISTORY} is empty", hint="start a new loop")
        return self._state

    @property
    def alias(self) -> str:
        return self.folder.name

    @property
    def artifact_path(self) -> Path:
        return self.folder / ARTIFACT

    @property
    def artifact_label(self) -> str:
        """The artifact's path as reports show it: relative to the working directory."""
        here = Path.cwd()
        path = self.artifact_path.absolute()
        return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

    def artifact_text(self) -> str:
        """Return the artifact as the history has it."""
        return self._text

    def latest_events(self) -> Sequence[Event]:
        return self._events

    def commit(self, done: Done) -> Event:
        """Make a step durable and return its event."""
        payload = dict(done.payload)
        if done.artifact is not None:
            payload |= self._change(done.artifact, initial=self._text == "")
        event = self._event(done.kind, done.step, payload)
        self._journal.append(event.to_json())
        self._events.append(event)
        self._state = apply(self._state, event)
        if done.artifact is not None:
            self._text = done.artifact
            replace_file(self.artifact_path, self._text.encode("utf-8"))
        self._write_state(moved=event.kind in MOVES)
        return event

    def _change(self, new: str, *, initial: bool) -> dict[str, Any]:
        changed = changed_sections(self._text, new)
        return {
            "delta": make_delta(self._text, new),
            "before": digest(self._text),
            "after": digest(new),
            "size": len(new.encode("utf-8")),
            "changed": {
                "added": list(changed.added),
                "modified": list(changed.modified),
                "removed": list(changed.removed),
                "initial": initial,
            },
        }

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
            seq=len(self._events) + 1,
            ts=f"{now:%Y-%m-%dT%H:%M:%SZ}",
            status="error" if kind in (EventKind.PHASE_ERROR, EventKind.FAILED) else "ok",
            payload=payload,
        )

    def _write_state(self, *, moved: bool = False) -> None:
        """Write run.json, then current.json, which names the newest run that goes on.

        The pointer is written anew where the run `moved` to another iteration or phase only.
        """
        replace_file(self.folder / RUN, _dump(run_json(self.state)))
        current = self.folder.parent / CURRENT
        pointer = read_object(current)
        ours = pointer.get("active_run_id") == self.state.run_id
        if self.state.status is not RunStatus.RUNNING:
            if ours:
                remove_file(current)
        elif not pointer or self.state.last_seq == 1 or (ours and moved and ASKED not in pointer):
            replace_file(current, _dump(current_json(self.state)))

    def stop_requested(self) -> str | None:
        """Return the reason of a person who asked this run to stop, or None."""
        pointer = read_object(self.folder.parent / CURRENT)
        if pointer.get("active_run_id") != self.state.run_id:
            return None
        asked = pointer.get(ASKED)
        return str(asked) if asked is not None else None

    def adopt_changes_by_hand(self) -> list[Event]:
        """Take up an artifact.md that differs from the history: a person's change, judged next."""
        if self.state.artifact_sha256 == EMPTY_SHA256 or not self.artifact_path.exists():
            return []
        data = self.artifact_path.read_bytes()
        if hashlib.sha256(data).hexdigest() == self.state.artifact_sha256:
            return []
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{self.artifact_path} was changed by hand and is not UTF-8 text: {error.reason}",
                hint="remove it to have the recorded artifact restored",
            ) from None
        return [
            self.commit(
                Done(
                    kind=EventKind.ARTIFACT_CREATED,
                    step=Step.EVALUATE,
                    payload={"by": "hand"},
                    artifact=text,
                )
            )
        ]

    def _roll_forward(self) -> None:
        """After a crash: an artifact that is missing or one event behind is written again."""
        remove_strays(self.folder)
        self._keep_broken_state()
        behind = self._hash_before_last_change()
        if self.state.artifact_sha256 != EMPTY_SHA256:
            path = self.artifact_path
            found = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None
            if found in (None, behind):
                replace_file(path, self._text.encode("utf-8"))
        self._write_state()

    def _keep_broken_state(self) -> None:
        """Keep a run.json that is no JSON object: it is written anew from the history."""
        path = self.folder / RUN
        if path.is_file() and not path.is_symlink() and not read_object(path):
            self.aside.append(keep_aside(path, path.read_bytes(), "corrupt"))

    def _hash_before_last_change(self) -> str | None:
        changes = (e for e in reversed(self._events) if "delta" in e.payload)
        last = next(changes, None)
        return last.payload["before"] if last else None

    def artifact_with(self, sha256: str) -> str:
        """Return the text of an artifact that this run had."""
        for n, event in enumerate(self._events):
            if event.payload.get("after") == sha256:
                return text_after(self._events[: n + 1])
        raise StateError(f"{self.folder / HISTORY}: no artifact with hash {sha256[:8]}")

    def evaluation_of(self, mark: Mark) -> dict[str, Any]:
        """Return the evaluation that left a mark, on the wire."""
        for event in reversed(self._events):
            found = event.payload.get("evaluation")
            if not found or found["artifact_sha256"] != mark.sha256:
                continue
            if event.level is mark.level and event.iteration == mark.iteration:
                return dict(found)
        raise StateError(f"{self.folder / HISTORY}: no evaluation of {mark.sha256[:8]}")

    def deliver(self, project: Path) -> str:
        """Write the result where the run was asked to, and say so in one line ("" if it was not).

        A file that is there already is a person's: it is replaced by a result of a run that
        completed, and not by the best that a stopped one came to.
        """
        output = self.state.setup.get("output")
        if not output:
            return ""
        # Links are followed, and the file is readable as any that a person makes.
        path = (project / output).resolve()
        where = f"the artifact is {self.artifact_label}"
        if self.state.artifact_status != "evaluated":
            return f"Not written to {output}: nothing was evaluated; {where}"
        if self.state.status is not RunStatus.COMPLETED and path.exists():
            return f"Not written to {output}, which is as it was: the gate did not pass; {where}"
        replace_file(path, self._text.encode("utf-8"), mode=0o644)
        return f"Written to: {output}"


def text_after(events: Sequence[Event]) -> str:
    """Return the artifact after some events, rebuilt from their deltas and verified.

    Raises StateError where a delta does not lead to the hash that its event recorded.
    """
    text = ""
    for event in events:
        if "delta" not in event.payload:
            continue
        text = apply_delta(text, event.payload["delta"])
        if digest(text) != event.payload["after"]:
            raise StateError(
                f"history event {event.seq}: its delta does not give the artifact it recorded",
                hint="the history was changed; start a new loop",
            )
    return text


def digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _dump(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n").encode()


def read_object(path: Path) -> dict[str, Any]:
    """Return a JSON object, or an empty one where the file has none."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
