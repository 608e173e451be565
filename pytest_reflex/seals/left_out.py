"""What a look at a project leaves out: caches of tools, version control, leavings of editors.

Checks are kept from the caches (`process/caches.py`), and nothing that judges reads the rest.
Of a version control folder of git, what it runs or ignores by is looked at all the same.
"""

from __future__ import annotations

import re
from fnmatch import translate

CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
COVERAGE = (".coverage", ".coverage.*")
VERSION_CONTROL = (".hg", ".svn", ".jj", ".bzr", "_darcs")
EDITORS = (".idea", "*.swp", "*.swo", "*.swx", ".#*", ".DS_Store", "Thumbs.db")
OWN_STATE = (".ai-factory/evolution", ".rooda", ".loop", ".ai-loop")
GIT = ".git"
GIT_FILES = ("config", "config.worktree")
GIT_FOLDERS = ("hooks", "info")

_FOLDERS = frozenset({*CACHES, *VERSION_CONTROL, ".idea"})
_FILES = re.compile("|".join(translate(name) for name in (*COVERAGE, *EDITORS) if name != ".idea"))


def is_left_out(path: str) -> bool:
    """Return whether a path, relative to the project and with slashes, is not looked at."""
    *folders, name = path.split("/")
    parent = ""
    for folder in folders:
        if leaves_out_folder(folder, parent):
            return True
        parent = f"{parent}/{folder}".lstrip("/")
    return leaves_out_file(name, parent)


def leaves_out_folder(name: str, parent: str) -> bool:
    """Return whether a folder is not entered; `parent` is the folder it is in, "" for the root."""
    if name in _FOLDERS:
        return True
    return parent.rpartition("/")[2] == GIT and name not in GIT_FOLDERS


def leaves_out_file(name: str, parent: str) -> bool:
    """Return whether a file that was not known before is of no interest."""
    if parent.rpartition("/")[2] == GIT:
        return name not in GIT_FILES
    return _FILES.match(name) is not None
