"""A hash of what is at a path: of a file, of where a link leads, or that nothing is there."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path


def content_hash(path: Path) -> str:
    """Return a text that is another one when a path has changed; empty: nothing is there."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return hashlib.sha256(b"link " + os.fsencode(os.readlink(path))).hexdigest()
        if not stat.S_ISREG(status.st_mode):
            return f"special {status.st_mode}"
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        return f"{found}{'x' if status.st_mode & 0o100 else ''}"
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"unreadable {error.errno}"


def changed_between(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths whose contents differ between two looks at what is dirty."""
    paths: Iterable[str] = {**before, **after}
    return sorted(path for path in paths if before.get(path) != after.get(path))
