"""What a look at a project leaves out: caches of tools, version control, leavings of editors.

Checks are kept from the caches (`process/temporary.py`), and nothing that judges reads the rest.
Of a version control folder of git, what it runs or ignores by is looked at all the same.
"""

from __future__ import annotations

import os
import re
from fnmatch import translate

CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
COVERAGE = (".coverage", ".coverage.*")
VERSION_CONTROL = (".hg", ".svn", ".jj", ".bzr", "_darcs")
EDITORS = (
    *(".idea", "*.sw[a-px]", "*~", ".#*", "#*#", ".~lock.*#", "*.kate-swp"),
    *(".DS_Store", "Thumbs.db", ".nfs*", ".fuse_hidden*"),
)
OWN_STATE = (".rooda", ".loop", ".ai-loop")
# What a loop keeps: a folder for each run, and a pointer. Other things there are none of its own.
STATE = (".ai-factory/evolution",)
RUN_FILES = ("history.jsonl", "run.json")
_STATE_FILES = re.compile(r"current\.json.*|\..+\.(tmp|gone)")
GIT = ".git"
GIT_FILES = ("config", "config.worktree")
GIT_FOLDERS = ("hooks", "info")
_GIT_MADE = "refs"  # in info: a list that git makes anew when it packs

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
    if name in _FOLDERS or (not parent and name in OWN_STATE):
        return True
    return parent.rpartition("/")[2] == GIT and name not in GIT_FOLDERS


def leaves_out_file(name: str, parent: str) -> bool:
    """Return whether a file that was not known before is of no interest."""
    if parent.rpartition("/")[2] == GIT:
        return name not in GIT_FILES
    if parent.endswith(f"{GIT}/info"):
        return name == _GIT_MADE
    return _FILES.match(name) is not None


def leaves_out_of_state(name: str, folder: str = "") -> bool:
    """Return whether what is in a state folder is a loop's own; `folder` is the path of a folder.

    Whatever else is there, a configuration beside the runs, is looked at like all of the project.
    """
    if _STATE_FILES.fullmatch(name):
        return True
    return bool(folder) and any(os.path.lexists(f"{folder}/{one}") for one in RUN_FILES)
