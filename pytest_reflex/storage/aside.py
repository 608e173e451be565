"""Keep bytes that could not be used, beside the file they were found in, for a person to look at.

Promises: what is kept is on the disk when `keep_aside` returned; nothing that is there is written
over.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pytest_reflex.errors import StateError
from pytest_reflex.storage.atomic import PRIVATE, sync, sync_folder, write_all
from pytest_reflex.storage.files import read_if_regular

MOST_KEPT = 999

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def keep_aside(path: Path, data: bytes, word: str) -> Path:
    """Write `data` to a new file `<name>.<word>-<n>` beside `path`, and return its path.

    Where it is kept already, nothing is written. Raises StateError.
    """
    for number in range(1, MOST_KEPT + 1):
        target = path.with_name(f"{path.name}.{word}-{number}")
        try:
            descriptor = os.open(target, _FLAGS, PRIVATE)
        except FileExistsError:
            if read_if_regular(target) == data:
                return target
            continue
        except OSError as error:
            raise StateError(f"{target} could not be made: {error.strerror}") from None
        try:
            write_all(descriptor, data)
            sync(descriptor)
        except OSError as error:
            with suppress(OSError):  # a part is not a copy, and the next try would make another
                os.unlink(target)
            raise StateError(f"{target} could not be written: {error.strerror}") from None
        finally:
            os.close(descriptor)
        sync_folder(target.parent)
        return target
    raise StateError(f"{path}: there are too many copies next to it", hint="move them away")


def move_aside(path: Path, word: str) -> Path:
    """Rename whatever is at `path`, unread, to `<name>.<word>-<n>` beside it; return that path.

    Call under a lock: who makes a file of that name meanwhile would lose it. Raises StateError.
    """
    for number in range(1, MOST_KEPT + 1):
        target = path.with_name(f"{path.name}.{word}-{number}")
        if os.path.lexists(target):
            continue
        try:
            os.rename(path, target)
            sync_folder(target.parent)
        except OSError as error:
            raise StateError(f"{path} could not be moved: {error.strerror}") from None
        return target
    raise StateError(f"{path}: there are too many copies next to it", hint="move them away")
