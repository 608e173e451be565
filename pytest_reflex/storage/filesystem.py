"""What lies below a folder: the kind of its file system, and whether locks hold there.

Limits: the kind is known on Linux only; elsewhere it is an empty text.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

# Locks of these are kept by another machine or a program, or by nobody (RELIABILITY: advisory).
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|ocfs2|ncpfs|virtiofs|fuse(\..*)?"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def kind_of(folder: Path, mounts: str | None = None) -> str:
    """Return the kind of file system that a folder is on, empty where it is not known.

    `mounts` is the text of /proc/self/mountinfo, read where it is not given.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    place = str(folder.resolve())
    kind, longest = "", -1
    for line in mounts.split("\n"):
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
        below = place == point or place.startswith(point.rstrip("/") + "/")
        if below and len(point) >= longest:  # what is mounted later lies above
            kind, longest = after.split()[0], len(point)
    return kind


def is_remote(kind: str) -> bool:
    """Return whether a kind of file system is shared over a network, or made by a program."""
    return _NETWORK.fullmatch(kind) is not None


def lock_warning(folder: Path, mounts: str | None = None) -> str:
    """Return what who drives a loop in a folder has to know of its lock, empty for a local one."""
    kind = kind_of(folder, mounts)
    if not is_remote(kind):
        return ""
    return (
        f"The state folder is on a file system of kind {kind}: its lock may not reach other "
        "machines. Drive a loop from one machine at a time."
    )


def why_no_lock(folder: Path) -> str:
    """Return why files in a folder cannot be locked, empty where they can; none is left there."""
    try:
        import fcntl

        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return "this system has no flock"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def nearest_folder(path: Path) -> Path:
    """Return a folder, or what is there of the way to it."""
    for folder in (path, *path.parents):
        if os.path.isdir(folder):
            return folder
    return Path(os.sep)
