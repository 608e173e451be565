"""A manifest of files: what patterns found, with hashes, and what became of it since.

``take`` looks once, ``changes`` looks again and tells what was added, changed or removed.
Promises: a file whose content is the same is no change, whatever its times say; nothing that is no
regular file is opened; what cannot be read for a cause that may pass is no change, but an
UnreadableError. Limits: a file is read again only where its size, its times or its number
changed since the manifest was taken, or where it was written just before.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.errors import read_or_raise
from pytest_reflex.seals.contents import sealed_part
from pytest_reflex.seals.patterns import Finder, is_meant
from pytest_reflex.seals.stamps import Stamp, is_settled, stamp_of
from pytest_reflex.seals.world import CONFIGURATIONS

NO_FILE = "no regular file"
UNREADABLE = "unreadable"


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
class Print:
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
    files: Mapping[str, Print]

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
            files={path: Print(digest) for path, digest in wire["files"].items()},
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
    found, nothing = [], Print("")
    for path in sorted({*before.files, *after.files}):
        old, new = before.files.get(path, nothing), after.files.get(path, nothing)
        if old == new:
            continue
        kind = ChangeKind.CHANGED if old.counts else ChangeKind.ADDED
        found.append(Change(path, kind if new.counts else ChangeKind.REMOVED))
    return tuple(found)


def look_again(manifest: Manifest) -> Manifest:
    """Return a manifest of the same patterns as things are now."""
    finder, root = Finder(manifest.root), os.path.abspath(manifest.root)
    files: dict[str, Print] = {}
    for pattern in manifest.patterns:
        for path in finder.candidates(pattern):
            name = _name(path, root)
            if name in files or is_meant(name, manifest.apart):
                continue
            if found := _print_of(path, name, manifest.files.get(name)):
                files[name] = found
    return Manifest(
        root=manifest.root, patterns=manifest.patterns, apart=manifest.apart, files=files
    )


def _name(path: str, root: str) -> str:
    base = root.rstrip(os.sep) + os.sep
    name = path.removeprefix(base).replace(os.sep, "/")
    # A name that is no UTF-8 could not be written into a history.
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


def _print_of(path: str, name: str, known: Print | None) -> Print | None:
    """Return the print of a file, None where there is none, or a folder."""
    try:
        status = read_or_raise(path, lambda: os.lstat(path))
    except OSError:
        return None
    try:
        if stat.S_ISLNK(status.st_mode):
            status = read_or_raise(path, lambda: os.stat(path))
    except OSError:  # a link that leads nowhere
        return Print(UNREADABLE)
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        return Print(NO_FILE)
    stamp = stamp_of(status)
    if known and known.stamp == stamp:
        return known
    try:
        data = read_or_raise(path, lambda: _read(path))
    except OSError:
        return Print(UNREADABLE)
    part = data if _is_whole(name) else sealed_part(path, data)
    digest = "" if part is None else hashlib.sha256(part).hexdigest()
    return Print(digest, stamp if is_settled(status) else None)


def _is_whole(name: str) -> bool:
    """Return whether all of a file counts: configuration outside the root is nobody's to change."""
    return os.path.isabs(name) and os.path.basename(name) in CONFIGURATIONS


def _read(path: str) -> bytes:
    """Return the bytes of a file; what is no regular file any more cannot block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(NO_FILE)
        return file.read()
