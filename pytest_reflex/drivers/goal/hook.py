"""The Stop hook on a goal: reads payload and state, has criteria checked, and keeps its counts.

Promises: of the state file only the key `hook` is written, every other character stays; what cannot
be counted does not hold; only what a person approved is run, and it has ended at 80 % of the time
that the client gives.
Limits: what another program writes in the moment between our last look and our write is lost.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from typing import Any

from pytest_reflex.drivers.goal import hook_decision as table
from pytest_reflex.drivers.goal import statefile
from pytest_reflex.drivers.goal.hook_decision import (
    Counts,
    Findings,
    HookDecision,
    HookReason,
    Payload,
)
from pytest_reflex.drivers.goal.model import GoalState
from pytest_reflex.errors import ReflexError, StateError, exists
from pytest_reflex.storage.atomic import replace_file
from pytest_reflex.storage.files import read_if_regular, refuse_links
from pytest_reflex.storage.lock import folder_lock, is_locked
from pytest_reflex.storage.user_state import UserFile

HOST_TIMEOUT = 60.0
SHARE = 0.8
"""Of the time that the client gives, what our checks may take."""
PROJECT = "CLAUDE_PROJECT_DIR"
KIND = "hook"
NO_PLACE = "the user's state folder cannot be written"
_SESSIONS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """How the hook was installed: the client's time-out in seconds, and how often it may hold.

    With `criteria` it stands on these and an artifact, and not on a goal. Nothing is written unless
    it `counts`.
    """

    timeout: float = HOST_TIMEOUT
    most: int = table.MOST_BLOCKS
    criteria: str = ""
    artifact: str = ""
    counts: bool = True


def answer(data: bytes, options: HookOptions, environment: Mapping[str, str]) -> HookDecision:
    """Return the answer to a client that sends a payload; raises nothing but our own bugs."""
    try:
        payload = table.parse_payload(data)
    except table.PayloadError as error:
        return HookDecision(why=HookReason.BAD_PAYLOAD, detail=str(error))
    if decision := table.of_payload(payload):
        return decision
    if options.criteria:
        from pytest_reflex.drivers.goal.hook_criteria import answer_by_criteria

        return answer_by_criteria(payload, project_of(payload, environment), options)
    try:
        project = project_with_state(payload, environment)
        return (
            _on_goal(payload, project, options)
            if project
            else HookDecision(why=HookReason.NO_STATE)
        )
    except ReflexError as error:
        return HookDecision(why=HookReason.BAD_STATE, detail=str(error))


def project_of(payload: Payload, environment: Mapping[str, str]) -> Path:
    """Return the folder of the project that a session works in."""
    cwd = Path(payload.cwd or os.getcwd())
    named = environment.get(PROJECT, "")
    return Path(named) if os.path.isabs(named) else cwd


def project_with_state(payload: Payload, environment: Mapping[str, str]) -> Path | None:
    """Return the nearest folder with a state file: from the session's folder up to its project."""
    project = project_of(payload, environment)
    folder = Path(payload.cwd or project)
    while folder != project and folder.is_relative_to(project):
        if exists(statefile.state_path(folder)):
            return folder
        folder = folder.parent
    return project if exists(statefile.state_path(project)) else None


def _on_goal(payload: Payload, project: Path, options: HookOptions) -> HookDecision:
    seen = read_state(project)
    if seen is None:
        return HookDecision(why=HookReason.NO_STATE)
    wire, state = seen
    record = SessionCounts(project, "a goal", payload.session)
    counts = table.read_counts(state.hook)
    if counts.session not in ("", payload.session):
        counts = Counts()
    counts = replace(counts, session=payload.session).merge(record.read())
    driven = _is_driven(project)
    decision = table.before_checks(payload, state, counts, driven=driven, most=options.most)
    if decision is None:
        found = check_goal(state, project, options.timeout * SHARE)
        digest = table.digest_of(wire, statefile.HOOK)
        decision = table.after_checks(state, counts, found, digest, most=options.most)
    if options.counts and decision.why is HookReason.ENDED:
        record.forget()
    if decision.counts is None or not options.counts:
        return decision
    return _save_counts(decision, project, payload, record)


def read_state(project: Path) -> tuple[dict[str, Any], GoalState] | None:
    """Return the object in a project's state file and what it means, None where there is none."""
    path = statefile.state_path(project)
    refuse_links(path.parent, path)
    data = read_if_regular(path, statefile.LONGEST)
    if data is None:
        return None
    wire = statefile.read_object(data, path)
    return wire, statefile.from_json(wire, path)


def _is_driven(project: Path) -> bool:
    try:
        return is_locked(statefile.lock_path(project))
    except StateError:
        return False


def check_goal(state: GoalState, project: Path, seconds: float) -> Findings:
    """Return what is found of the criteria of a state, and of what must not be, in some seconds."""
    if not state.started:
        return Findings(criteria=state.criteria)
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.drivers.common.measure import Attempt
    from pytest_reflex.drivers.goal.verify import Approvals, Verifier, format_unapproved

    attempt = Attempt()
    verifier = Verifier(
        approvals=Approvals.load(project), registry=built_in_registry(), timeout=seconds
    )
    refused = format_unapproved(state.started, verifier)
    with call_after(seconds, attempt.cancel.set):
        true_ones = verifier.true_ones(state.must_not, attempt)
        criteria = verifier.verify(() if true_ones else state.criteria, attempt)
        finished = not attempt.cancel.is_set()
    texts = tuple(f"{one.text} ({what.summary})" for one, what in true_ones)
    return Findings(criteria=criteria, true_ones=texts, finished=finished, refused=refused)


@contextmanager
def call_after(seconds: float, end: Callable[[], object]) -> Iterator[None]:
    """Call `end` after some seconds, unless the block has ended before."""
    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _save_counts(
    decision: HookDecision, project: Path, payload: Payload, record: SessionCounts
) -> HookDecision:
    """Return a decision once its counts are written; what cannot be counted does not hold.

    Counts in the state file alone hold once in a turn: its agent may write the file anew each time.
    """
    assert decision.counts is not None
    noted = None
    try:
        # The counts start over with the next goal.
        is_done = decision.why is HookReason.DONE
        noted = record.forget() if is_done else record.write(decision.counts)
        if decision.blocks and not noted and payload.stop_hook_active:
            return HookDecision(why=HookReason.UNCOUNTED, detail=NO_PLACE)
        path = statefile.state_path(project)
        with folder_lock(path.parent):
            seen = read_state(project)
            if seen is None:
                return HookDecision(why=HookReason.NO_STATE)
            if table.owner_of(seen[1]) not in ("", payload.session):
                return HookDecision(why=HookReason.OTHER_SESSION)
            write_hook(path, {**seen[1].hook, **wire_of(decision)})
    except ReflexError as error:
        if decision.blocks and not noted:
            return HookDecision(why=HookReason.UNCOUNTED, detail=str(error))
        detail = "; ".join(filter(None, (decision.detail, str(error))))
        return replace(decision, detail=detail)
    return decision


def wire_of(decision: HookDecision) -> dict[str, Any]:
    """Return what the key `hook` says after a decision."""
    counts = decision.counts or Counts()
    return {
        "session": counts.session,
        **counts.to_json(),
        "last": {
            "decision": "block" if decision.blocks else "allow",
            "why": decision.why.value,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }


def write_hook(path: Path, hook: Mapping[str, Any] | None) -> None:
    """Give the key `hook` of a state file a value, and leave every other character as it is.

    None removes it. Raises StateError.
    """
    from pytest_reflex.drivers.goal.hook_settings import set_key, without_entry
    from pytest_reflex.text.data_tree import read_json
    from pytest_reflex.text.lines import DataSyntaxError

    data = read_if_regular(path, statefile.LONGEST)
    if data is None:
        raise StateError(f"{path} is gone")
    statefile.read_object(data, path)
    mark = "\ufeff" if data.startswith(codecs.BOM_UTF8) else ""
    text = data.decode("utf-8-sig")
    try:
        root = read_json(text)
    except DataSyntaxError as error:
        raise StateError(f"{path} cannot be edited: {error}") from None
    names = [entry.key.value for entry in root.entries if entry.key]
    if hook is not None:
        text = set_key(text, root, statefile.HOOK, dict(hook))
    elif statefile.HOOK in names:
        text = without_entry(text, root, names.index(statefile.HOOK))
    replace_file(path, (mark + text).encode())


class SessionCounts:
    """The counts of one session in the user's state folder.

    A client may write the state file anew, for another goal, without what the hook had kept in it.
    """

    def __init__(self, project: Path, of: str, session: str) -> None:
        self._file = UserFile(KIND, project)
        self._key = hashlib.sha256(f"{of}\n{session}".encode("utf-8", "replace")).hexdigest()[:32]
        self._session = session

    def read(self) -> Counts:
        """Return the counts, those of a new session where there are none."""
        found = self._file.read().get(self._key)
        counts = table.read_counts(found if isinstance(found, dict) else {})
        return replace(counts, session=self._session)

    def write(self, counts: Counts) -> bool:
        """Write the counts; return whether there was a place for them."""
        try:
            with self._file.change() as wire:
                wire.pop(self._key, None)
                wire[self._key] = counts.to_json()
                for old in list(wire)[:-_SESSIONS]:
                    del wire[old]
        except StateError:
            return False
        return True

    def forget(self) -> bool:
        """Remove the counts; return whether none are left."""
        return self._key not in self._file.read() or self.write(Counts())


def release(project: Path) -> bool:
    """Forget which session a goal belongs to and how often it was held; return whether it was."""
    file = UserFile(KIND, project)
    held = bool(file.read())
    if held:
        with file.change() as wire:
            wire.clear()
    seen = read_state(project)
    if seen is None or statefile.HOOK not in seen[0]:
        return held
    path = statefile.state_path(project)
    with folder_lock(path.parent):
        write_hook(path, None)
    return True
