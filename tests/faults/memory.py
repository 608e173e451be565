"""A folder in memory, where thousands of small runs do not wait for a disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = "/dev/shm"


@contextmanager
def memory_folder() -> Iterator[Path]:
    """Yield a folder of its own, in memory where the system has a place there."""
    where = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="reflex-", dir=where) as folder:
        yield Path(folder)
