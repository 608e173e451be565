"""A manifest of files: what patterns found, with hashes, and what became of it since.

``take`` looks once, ``changes`` looks again and reports what was added, changed or removed.
Promises: a file whose content is the same is not a change, whatever its times say; nothing that is
no regular file is opened; what cannot be read for a cause that may pass is not a change, but an
UnreadableError. Limits: a file is read again only where its size, its times or its number
changed since the manifest was taken, or where it was written just before.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.errors import read_again, read_or_raise
from pytest_reflex.integrity.patterns import Finder
from pytest_reflex.integrity.tool_inputs import CONFIGURATIONS, READ_IN_PARTS, extract_all

NO_FILE = "no regular file"
UNREADABLE = "unreadable"
# A file written this shortly before a look may be written again without its times showing it.
_JUST_NOW_NS = 100_000_000

Stamp = tuple[int, int, int, int, int]


class ChangeKind(StrEnum):
    """What became of a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One file that is not as it was; `path` is relative to the root where it lies below it."""

    path: str
    kind: ChangeKind

    def __str__(self) -> str:
        return f"{self.path} was {self.kind.value}"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The SHA-256 of what counts in a file, a word where there is none, empty if nothing counts.

    `stamp` spares a read while it stays the same.
    """

    digest: str
    stamp: Stamp | None = field(default=None, compare=False, repr=False)

    @property
    def counts(self) -> bool:
        return bool(self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What `patterns` found below `root`, without what `apart` means: a print for each path."""

    root: Path = field(compare=False)
    patterns: tuple[str, ...]
    apart: tuple[str, ...] = ()
    files: Mapping[str, Fingerprint]

    def to_json(self) -> dict[str, Any]:
        """Return the wire form: it holds paths and hashes, and no root."""
        return {
            "patterns": list(self.patterns),
            "apart": list(self.apart),
            "files": {path: one.digest for path, one in sorted(self.files.items()) if one.counts},
        }

    @classmethod
    def from_json(cls, wire: Mapping[str, Any], root: Path) -> Manifest:
        return cls(
            root=root,
            patterns=tuple(wire["patterns"]),
            apart=tuple(wire["apart"]),
            files={path: Fingerprint(digest) for path, digest in wire["files"].items()},
        )


def take(
    patterns: Iterable[str | Path], *, root: Path, apart: Iterable[str | Path] = ()
) -> Manifest:
    """Return the manifest of everything that patterns find; see `patterns` for what they mean.

    A path without wildcards is held too where nothing is there yet: then it may not appear. What
    an `apart` pattern means, or lies below a folder that it means, is left out.
    """
    known = Manifest(
        root=root,
        patterns=tuple(dict.fromkeys(PurePath(pattern).as_posix() for pattern in patterns)),
        apart=tuple(dict.fromkeys(PurePath(pattern).as_posix() for pattern in apart)),
        files={},
    )
    return look_again(known)


def changes(manifest: Manifest) -> tuple[Change, ...]:
    """Return what is not as the manifest has it, in the order of the paths."""
    return compare(manifest, look_again(manifest))


def compare(before: Manifest, after: Manifest) -> tuple[Change, ...]:
    """Return what differs between two manifests."""
    found, nothing = [], Fingerprint("")
    for path in sorted({*before.files, *after.files}):
        old, new = before.files.get(path, nothing), after.files.get(path, nothing)
        if old == new:
            continue
        kind = ChangeKind.CHANGED if old.counts else ChangeKind.ADDED
        found.append(Change(path, kind if new.counts else ChangeKind.REMOVED))
    return tuple(found)


def look_again(manifest: Manifest) -> Manifest:
    """Return a manifest of the same patterns as things are now."""
    found = Finder(manifest.root).all_candidates(manifest.patterns, manifest.apart)
    files: dict[str, Fingerprint] = {}
    # What is sealed in parts is read first and taken apart afterwards, all at once.
    in_parts: dict[str, tuple[str, bytes, Stamp | None]] = {}
    for name, path in found.items():
        known = manifest.files.get(name)
        status = _status_of(path)
        if status is None or stat.S_ISDIR(status.st_mode):
            continue
        if not stat.S_ISREG(status.st_mode):
            files[name] = Fingerprint(UNREADABLE if stat.S_ISLNK(status.st_mode) else NO_FILE)
            continue
        stamp = stamp_of(status)
        if known and known.stamp == stamp:
            files[name] = known
            continue
        data = _data_of(path)
        settled = stamp if is_settled(status) else None
        files[name] = Fingerprint(UNREADABLE if data is None else _digest(data), settled)
        if data is not None and os.path.basename(path) in READ_IN_PARTS and not _is_whole(name):
            in_parts[path] = (name, data, settled)
    if in_parts:
        parts = extract_all({path: data for path, (_, data, _) in in_parts.items()})
        for path, (name, _, settled) in in_parts.items():
            part = parts[path]
            files[name] = Fingerprint("" if part is None else _digest(part), settled)
    return Manifest(
        root=manifest.root, patterns=manifest.patterns, apart=manifest.apart, files=files
    )


def _status_of(path: str) -> os.stat_result | None:
    """Return the status of what is at a path or what a link leads to; of one to nothing, its own.

    None where nothing is there. Raises UnreadableError.
    """
    try:
        try:
            status = os.lstat(path)
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                return None
            status = read_again(path, error, lambda: os.lstat(path))
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        with suppress(OSError):
            return read_or_raise(path, lambda: os.stat(path))
    return status


def _data_of(path: str) -> bytes | None:
    """Return the bytes of a file, None where it cannot be read; raises UnreadableError."""
    try:
        try:
            return _read(path)
        except OSError as error:
            return read_again(path, error, lambda: _read(path))
    except OSError:
        return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_whole(name: str) -> bool:
    """Return whether all of a file counts: configuration outside the root must not be changed."""
    return os.path.isabs(name) and os.path.basename(name) in CONFIGURATIONS


def _read(path: str) -> bytes:
    """Return the bytes of a file; what is not a regular file any more cannot block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(NO_FILE)
        return file.read()


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what cannot stay the same where the content of a file changed.

    It spares a read: its ctime is the system's own, and no program can set it.
    """
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def is_settled(status: os.stat_result) -> bool:
    """Return whether a stamp can be relied on: the file was not written just now."""
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _JUST_NOW_NS
