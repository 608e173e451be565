"""Names in a flow: ids of nodes, labels of iterations, slugs of branches, ids of runs (pure).

A label such as ``2.1.3`` is a text and no number: ``1.10`` comes after ``1.9``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from pytest_reflex.storage.folders import words_of

ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_OF_A_SLUG = 50
BRANCH_PREFIX = "ai-loop/"
_RUN = re.compile(r"run_(?P<day>[0-9]{8})_(?P<number>[0-9]{3,})")
# Windows has no files of these names, whatever their suffix.
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


def is_id(text: str) -> bool:
    """Return whether a text is the id of a node: it is a folder's name on every system."""
    return bool(ID.fullmatch(text)) and not _RESERVED.fullmatch(text) and len(text) <= 100


def label_of(parent: str, iteration: int) -> str:
    """Return the label of an iteration; `parent` is that of the parent's, empty for the root."""
    return f"{parent}.{iteration}" if parent else str(iteration)


def by_component(label: str) -> tuple[int, ...]:
    """Return a key that sorts labels component by component."""
    return tuple(int(part) for part in label.split("."))


def slug_of(task: str) -> str:
    """Return a name of at most 50 characters made of a task's words; never empty."""
    return words_of(task, MOST_OF_A_SLUG) or "task"


def is_run_id(text: str) -> bool:
    """Return whether a text is the id of a run."""
    return bool(_RUN.fullmatch(text))


def next_run_id(existing: Iterable[str], now: datetime) -> str:
    """Return the id of a new run on the day of `now` (UTC), behind all that exist of that day."""
    day = f"{now:%Y%m%d}"
    found = (_RUN.fullmatch(name) for name in existing)
    numbers = [int(match["number"]) for match in found if match and match["day"] == day]
    return f"run_{day}_{max(numbers, default=0) + 1:03}"
