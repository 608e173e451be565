"""An append-only file of JSON lines with one writer, held by a kernel lock on the file itself.

Promises: a record that `append` returned is on the disk; one that it did not return is there whole
or not at all for a reader; records are linked, so that a changed, lost or added line shows; the
file is never truncated and never replaced; the lock ends with the process, however it ends, and a
fork does not keep it.
Limits: after a failed write the journal has to be opened again; the whole file is held in memory.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError, TamperedError, read_or_raise
from pytest_reflex.storage.atomic import PRIVATE, keep_copy, sync, sync_folder
from pytest_reflex.storage.files import open_regular, read_all, read_file, status_of
from pytest_reflex.storage.lines import NO_LINE, Content, Damage, decode, digest_of, encode
from pytest_reflex.storage.lock import is_locked, let_go_in_forks, take_lock

__all__ = ["Journal", "damage_error", "describe_recovery", "is_locked", "read_journal"]

_UNKNOWN = -1  # no time of a change


class Journal:
    """A journal held for writing. Make one with `create` or `open`; close it, or use `with`.

    `aside` is where `open` kept an unfinished last line; `torn_lines` how many there ever were;
    `describe_recovery` says where NUL bytes are that took no event with them.
    """

    def __init__(self, path: Path, descriptor: int, data: bytes, content: Content) -> None:
        self.path = path
        self.records = list(content.records)
        self.aside: Path | None = None
        self._descriptor = descriptor
        self.recovered = describe_recovery(path, content)
        self.torn_lines = len(content.sealed) + bool(content.torn)
        self._last = digest_of(content.torn) if content.torn else content.last
        # Written with the next line: alone, it would turn an unfinished line into a damaged one.
        self._line_end = b"" if data.endswith(b"\n") or not data else b"\n"
        self._failed = False
        self._size, self._sum = 0, hashlib.sha256()
        self._note(data)
        let_go_in_forks(self)

    @classmethod
    def create(cls, path: Path) -> Journal:
        """Make a new journal; raises StateError where the file exists or cannot be made."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, PRIVATE)
        except OSError as error:
            raise StateError(f"{path} could not be made: {error.strerror}") from None
        try:
            os.fchmod(descriptor, PRIVATE)
            take_lock(descriptor, path)
            sync_folder(path.parent)
        except OSError as error:
            os.close(descriptor)
            raise StateError(f"{path} could not be made: {error.strerror}") from None
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor, b"", Content(last=NO_LINE))

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Hold an existing journal; an unfinished last line is set aside and written on after.

        Raises FileNotFoundError, LockedError where another process holds it, and StateError where
        a line is damaged or missing.
        """
        descriptor = open_regular(path, os.O_RDWR | os.O_APPEND)
        try:
            take_lock(descriptor, path)
            _refuse_removed(descriptor, path)
            data = read_all(descriptor, path)
            content = decode(data)
            if not content.whole:
                raise damage_error(path, content)
        except BaseException:
            os.close(descriptor)
            raise
        journal = cls(path, descriptor, data, content)
        try:
            if content.torn:
                journal.aside = keep_copy(path, content.torn, "torn")
        except BaseException:
            journal.close()
            raise
        return journal

    @property
    def next_seq(self) -> int:
        return self.records[-1]["seq"] + 1 if self.records else 1

    def append(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Write a record durably and return it with its `seq`.

        Raises StateError where it could not be written, or where the file is not as this process
        left it; ValueError for a value that JSON does not have.
        """
        if "seq" in record and record["seq"] != self.next_seq:
            raise ValueError(f"seq {record['seq']} does not follow {self.next_seq - 1}")
        line = encode(record, self.next_seq, self._last)
        data = self._line_end + line
        self._check_file()
        self._failed = True
        try:
            written = os.write(self._descriptor, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes fitted")
            sync(self._descriptor)
        except OSError as error:
            raise StateError(
                f"{self.path} could not be written: {error.strerror or error}",
                hint="earlier records are intact; fix the cause and resume",
            ) from None
        self._failed = False
        self._note(data)
        self._line_end, self._last = b"", digest_of(line[:-1])
        self.records.append({**record, "seq": self.next_seq})
        return self.records[-1]

    def _check_file(self) -> None:
        """Refuse to write on what this process did not leave."""
        if self._descriptor < 0 or self._failed:
            why = "is closed" if self._descriptor < 0 else "could not be written before"
            raise StateError(f"{self.path} {why}", hint="resume the run to open it again")
        try:
            there = _status_at(self.path)
        except OSError:
            raise StateError(
                f"{self.path} was removed while this run was writing it", hint="start a new loop"
            ) from None
        if problem := self._foreign(there):
            raise TamperedError(
                f"{self.path} {problem} while this run was writing it",
                hint="its history can no longer be trusted; start a new loop",
            )

    def _note(self, data: bytes) -> None:
        """Remember what this process has read or written."""
        self._sum.update(data)
        self._size += len(data)
        try:
            self._changed_at = status_of(self._descriptor, self.path).st_ctime_ns
        except (StateError, OSError):  # what is written counts: the next record reads it all again
            self._changed_at = _UNKNOWN

    def _foreign(self, there: os.stat_result) -> str:
        """Return what another program did to the file; the time of its last change says if any."""
        held = status_of(self._descriptor, self.path)
        if (there.st_dev, there.st_ino) != (held.st_dev, held.st_ino):
            return "was replaced"
        if held.st_size != self._size:
            return f"was changed: it has {held.st_size} bytes, not {self._size},"
        if held.st_ctime_ns != self._changed_at:
            data = read_all(self._descriptor, self.path)
            if hashlib.sha256(data).digest() != self._sum.digest():
                return "was changed"
            self._changed_at = held.st_ctime_ns
        return ""

    def close(self) -> None:
        """Let go of the file and its lock; closing twice is fine."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            # No LOCK_UN: it would end the lock for every process that shares the descriptor.
            os.close(descriptor)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: Path) -> Content:
    """Return what a journal holds, without its lock; raises FileNotFoundError and StateError.

    A `torn` end may be a line that another process is writing at this moment.
    """
    return decode(read_file(path))


def describe_recovery(path: Path, content: Content) -> tuple[str, ...]:
    """Return what a crash left in a journal that took no event with it, a sentence each."""
    return tuple(f"{path}: {one}; no event is missing" for one in content.zeros)


def damage_error(path: Path, content: Content) -> StateError:
    """Return the error that names every damaged line of a journal."""
    wrong: list[Damage] = sorted((*content.damages, *content.breaks), key=lambda d: d.line)
    shown = "; ".join(map(str, wrong[:5])) + ("; ..." if len(wrong) > 5 else "")
    return StateError(
        f"{path} is damaged: {shown}",
        hint=f"{len(content.records)} events can be read; to start over from its artifact: "
        f"pytest-reflex loop new TASK --input {path.parent / 'artifact.md'}",
    )


def _status_at(path: Path) -> os.stat_result:
    return read_or_raise(path, lambda: os.stat(path, follow_symlinks=False))


def _refuse_removed(descriptor: int, path: Path) -> None:
    """Raise FileNotFoundError where the name is gone or another file's: the lock is not held."""
    if not os.path.samestat(_status_at(path), status_of(descriptor, path)):
        raise FileNotFoundError(errno.ENOENT, "removed by another process", str(path))
