"""What is kept in a person's own folders about a project: decisions and votes.

The folders are never inside the project, so that a clone or an agent that writes in the project
changes no decision and brings no votes. Promises: what cannot be read, or what another user may
have written, is ignored. A vote counts only if its file was there, unchanged, when this was made,
or if this has written it: code of what is judged may run meanwhile. Other files are removed by
`sweep`. What cannot be read, understood or written is not a vote, and no error either. Limits:
other programs of the same account can write there at any other time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from pytest_reflex.errors import ReflexError, StateError
from pytest_reflex.model.judged import Ruling, Vote
from pytest_reflex.storage.atomic import replace_file
from pytest_reflex.storage.files import open_regular, read_all, read_if_regular
from pytest_reflex.storage.folders import make_folder
from pytest_reflex.storage.lock import folder_lock

_FOREIGN = 0o022


def place_of(project: Path, top: Path) -> Path | None:
    """Return the path below `top` that belongs to a project; None where that is in the project."""
    root = os.path.realpath(project)
    if Path(os.path.realpath(top)).is_relative_to(root):
        return None
    return top / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def is_private(folder: Path) -> bool:
    """Return whether no other user can write in a folder, or in that around it."""
    try:
        found = [os.lstat(one) for one in (folder, folder.parent)]
    except OSError:
        return False
    return all(one.st_uid == os.geteuid() and not one.st_mode & _FOREIGN for one in found)


_LONGEST = 4_000_000
_PROJECT = "project"


class UserFile:
    """One JSON object of a `kind` about one project; `path` is None where there can be none."""

    def __init__(self, kind: str, project: Path) -> None:
        from platformdirs import user_state_path

        self._project = os.path.realpath(project)
        place = place_of(project, user_state_path("pytest-reflex", appauthor=False) / kind)
        self.path = place and place.with_suffix(".json")

    def read(self) -> dict[str, Any]:
        """Return what was written last, empty where there is nothing to rely on."""
        if self.path is None or not is_private(self.path.parent):
            return {}
        try:
            data = read_if_regular(self.path, _LONGEST)
            wire = json.loads(data) if data is not None else {}
        except (OSError, StateError, ValueError, RecursionError):
            return {}
        if not isinstance(wire, dict) or wire.pop(_PROJECT, None) != self._project:
            return {}
        return wire

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        """Yield what was written last, and write what has become of it; raises StateError."""
        if self.path is None:
            raise StateError(
                f"the user's state folder lies inside of {self._project}",
                hint="set XDG_STATE_HOME to a folder outside, or work in a folder of its own",
            )
        folder = self.path.parent
        try:
            for one in (folder.parent, folder):  # each private, whatever the umask is
                make_folder(one)
        except OSError as error:
            raise StateError(f"{folder} could not be made: {error.strerror}") from None
        if not is_private(folder):
            raise StateError(
                f"others can write in {folder}", hint=f"chmod go-w {folder} {folder.parent}"
            )
        with folder_lock(folder):
            wire = self.read()
            yield wire
            replace_file(self.path, _bytes({_PROJECT: self._project, **wire}))


def _bytes(wire: Mapping[str, Any]) -> bytes:
    return (json.dumps(wire, indent=1) + "\n").encode("ascii")


MOST_VOTES = 1_000
MOST_PROJECTS = 50
MOST_BYTES = 8_000
"""A vote of more bytes is not kept."""

_SUFFIX = ".json"
_ROOM = MOST_VOTES // 10  # so many go at once

Stamp = tuple[int, int, int]
Stamps = Mapping[str, Stamp]


def folder_of(project: Path) -> Path | None:
    """Return where votes about files of a project lie; None where that would be in the project."""
    from platformdirs import user_cache_path

    return place_of(project, user_cache_path("pytest-reflex", appauthor=False) / "votes")


class VoteFolder:
    """The votes in a folder as they are when this is made, and those that are added by it.

    Of those that are there, only `known` ones count where these are given.
    """

    def __init__(self, folder: Path, known: Stamps | None = None) -> None:
        self._folder, self._lock = folder, Lock()
        there = _stamps(folder) if is_private(folder) else {}
        self._known = dict(there if known is None else known)
        self._written: dict[str, Stamp] = {}

    @property
    def known(self) -> Stamps:
        """What counts."""
        return dict(self._known)

    @property
    def written(self) -> Stamps:
        """What this has written."""
        return dict(self._written)

    def get(self, question: str) -> Vote | None:
        """Return the vote that was kept for a question; None where there is none to rely on."""
        name = question + _SUFFIX
        if name not in self._known:
            return None
        with suppress(ReflexError, OSError):
            descriptor = open_regular(self._folder / name)
            try:
                if _stamp(os.fstat(descriptor)) != self._known[name]:
                    return None
                return _vote_in(read_all(descriptor, self._folder / name, MOST_BYTES), question)
            finally:
                os.close(descriptor)
        return None

    def put(self, question: str, vote: Vote) -> None:
        """Keep a vote; old ones go where there are too many."""
        data = _document(question, vote)
        if len(data) > MOST_BYTES:
            return
        with suppress(ReflexError, OSError), self._lock:
            if is_new := not self._folder.is_dir():
                make_folder(self._folder)
            if not is_private(self._folder):
                return
            path = self._folder / (question + _SUFFIX)
            with folder_lock(self._folder):
                replace_file(path, data)
                self._known[path.name] = self._written[path.name] = _stamp(os.lstat(path))
                _drop_oldest(self._folder)
            if is_new:
                _drop_oldest_projects(self._folder)

    def clear(self) -> None:
        """Remove all votes of the project."""
        with self._lock:
            self._known, self._written = {}, {}
        self.sweep()

    def sweep(self, others: Stamps | None = None) -> None:
        """Remove what others have put there since this was made, but for what is in `others`."""
        with suppress(OSError), self._lock:
            for name, stamp in _stamps(self._folder).items():
                if stamp not in (self._known.get(name), (others or {}).get(name)):
                    with suppress(OSError):
                        (self._folder / name).unlink()


@contextmanager
def remove_planted_votes(project: Path) -> Iterator[None]:
    """Remove the votes that come into the folder of a project meanwhile: no judge gave them."""
    folder = folder_of(project)
    before = VoteFolder(folder) if folder else None
    try:
        yield
    finally:
        if before:
            before.sweep()


def _stamps(folder: Path) -> Stamps:
    try:
        with os.scandir(folder) as entries:
            return {one.name: _stamp(one.stat(follow_symlinks=False)) for one in entries}
    except OSError:
        return {}


def _stamp(status: os.stat_result) -> Stamp:
    """Return what changes with each write of a file: no program sets that time."""
    return status.st_ctime_ns, status.st_ino, status.st_size


def _document(question: str, vote: Vote) -> bytes:
    said = {
        "question": question,
        "verdict": vote.ruling.value,
        "agent": vote.agent,
        "reasons": list(vote.reasons),
    }
    return json.dumps({**said, "sha256": _sum(said)}).encode("ascii")


def _sum(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()


def _vote_in(data: bytes, question: str) -> Vote | None:
    """Return the vote in a file; None where it is damaged, or of another question."""
    try:
        wire = json.loads(data)
        said = {key: wire[key] for key in ("question", "verdict", "agent", "reasons")}
        ruling, reasons = Ruling(said["verdict"]), said["reasons"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    texts = [said["agent"], *reasons] if isinstance(reasons, list) else [None]
    is_whole = wire.get("sha256") == _sum(said) and said["question"] == question
    if not is_whole or ruling is Ruling.VOID or not all(isinstance(one, str) for one in texts):
        return None
    return Vote(ruling=ruling, agent=said["agent"], reasons=tuple(reasons))


def _drop_oldest(folder: Path) -> None:
    with os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.name.endswith(_SUFFIX)]
    if len(files) <= MOST_VOTES:
        return
    files.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    for entry in files[: len(files) - MOST_VOTES + _ROOM]:
        with suppress(OSError):
            os.unlink(entry.path)


def _drop_oldest_projects(folder: Path) -> None:
    with folder_lock(folder.parent), os.scandir(folder.parent) as entries:
        others = [one for one in entries if one.is_dir(follow_symlinks=False)]
        others.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
        for entry in others[: max(0, len(others) - MOST_PROJECTS)]:
            if entry.name != folder.name:
                shutil.rmtree(entry.path, ignore_errors=True)
