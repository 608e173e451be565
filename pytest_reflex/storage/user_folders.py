"""Where a person's folders have what concerns one project: outside of it, for nobody else to write.

What is cloned, and what an agent writes in the project, reaches none of it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_FOREIGN = 0o022


def place_of(project: Path, top: Path) -> Path | None:
    """Return the path below `top` that belongs to a project; None where that is in the project."""
    root = os.path.realpath(project)
    if Path(os.path.realpath(top)).is_relative_to(root):
        return None
    return top / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def is_private(folder: Path) -> bool:
    """Return whether nobody else can write in a folder, or in that around it."""
    try:
        found = [os.lstat(one) for one in (folder, folder.parent)]
    except OSError:
        return False
    return all(one.st_uid == os.geteuid() and not one.st_mode & _FOREIGN for one in found)
