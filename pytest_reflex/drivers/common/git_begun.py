"""What git has begun in a repository and not finished: a commit in its middle is another one."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_reflex.errors import UsageError

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}


def refuse_unfinished(folder: Path) -> None:
    """Raise UsageError where a merge or the like is not finished; `folder` is that of git."""
    for name, what in _UNFINISHED.items():
        if os.path.lexists(folder / name):
            raise UsageError(f"{what} is not finished", hint="finish or abort it first")
