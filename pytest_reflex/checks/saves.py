"""Noticing that files were saved, by their stamps: cheap to ask, and patient with half a save.

Promises: what is returned has stood still for `SETTLE` seconds and two looks; where a file is gone
or empty that was not before, for `PATIENCE` looks: an editor may be about to put it back.
Limits: a save that takes longer than that is seen twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_reflex.checks.reading import Signature, files_below, signature
from pytest_reflex.errors import ArtifactError

IDLE = 0.25
SETTLE = 0.1
PATIENCE = 10
_SHARE = 25  # of the time, one part at most is spent on looking

Stamps = Mapping[Path, Signature]
Look = Callable[[], Stamps]


def look(paths: Iterable[Path], *, outside: bool = False) -> Stamps:
    """Return the stamps of files, and of all files in folders; those of a missing file say so.

    With `outside`, also of files to which links in a folder lead.
    """
    found: dict[Path, Signature] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            with suppress(ArtifactError):  # it changes at this moment, or cannot be read at all
                files = files_below(path, path.name, outside=outside)
        found |= {file: signature(file) for file in files}
    return found


def next_save(before: Stamps, look: Look, pause: Callable[[float], object] = time.sleep) -> Stamps:
    """Return the stamps once they differ from `before` and stand still; waits without an end."""
    while True:
        started = time.perf_counter()
        now = look()
        if now == before:
            pause(max(IDLE, _SHARE * (time.perf_counter() - started)))
            continue
        quiet = 0
        while quiet < (PATIENCE if _is_doubtful(before, now) else 1):
            pause(SETTLE)
            again = look()
            quiet = quiet + 1 if again == now else 0
            now = again
        if now != before:
            return now


def _is_doubtful(before: Stamps, now: Stamps) -> bool:
    """Return whether a file that had a text has none now."""
    return any(
        size > 0 and now.get(path, _GONE)[2] <= 0 for path, (_, _, size, _) in before.items()
    )


_GONE: Signature = (0, 0, -1, 0)
