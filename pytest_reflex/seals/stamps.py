"""The stamp of a file: what cannot stay the same where its content changed.

It spares a read: size, times and number of a file that was looked at before. Its ctime is the
system's own, and no program can set it.
"""

from __future__ import annotations

import os
import time

# A file written this shortly before a look may be written again without its times showing it.
_JUST_NOW_NS = 100_000_000

Stamp = tuple[int, int, int, int, int]


def stamp_of(status: os.stat_result) -> Stamp:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def is_settled(status: os.stat_result) -> bool:
    """Return whether a stamp can be relied on: the file was not written just now."""
    return time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _JUST_NOW_NS
