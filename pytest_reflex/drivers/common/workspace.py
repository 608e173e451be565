"""What a run works on: where its artifact stands, how it is read, how it follows the history."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pytest_reflex.checks.reading import SIZE_LIMIT
from pytest_reflex.errors import StateError, UnreadableError, UsageError
from pytest_reflex.storage.atomic import replace_file
from pytest_reflex.storage.files import read_if_regular

_DESCRIPTORS = "/proc/self/fd"
_REMOVE = "remove it to have the recorded artifact restored"


class Workspace(Protocol):
    """The artifact of a run outside its history, as one text."""

    def read(self) -> bytes | None:
        """Return what stands there now; None where nothing does that could be an artifact.

        Raises UsageError where a person has to look.
        """
        ...

    def write(self, text: str, *, follow: bool = True) -> None:
        """Make what stands there what the history has.

        Without `follow` only our own copy is written: what people work on followed already.
        """
        ...


class TextFile:
    """An artifact that is one file of the run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> bytes | None:
        """Return the bytes of the file, None where no regular file is there."""
        try:
            return read_if_regular(self._path, SIZE_LIMIT)
        except UnreadableError:
            raise
        except StateError as error:
            raise UsageError(error.problems[0].message, hint=_REMOVE) from None

    def write(self, text: str, *, follow: bool = True) -> None:
        """Put a text in the file's place."""
        replace_file(self._path, text.encode("utf-8"))


def own_paths(project: Path, root: Path, *paths: str | Path | None) -> tuple[str, ...]:
    """Return the paths that a run writes itself, relative to the project; `root` is of its state.

    Files that this process has opened to write, as `loop new TASK 2> log.txt` has it, are of them.
    What lies elsewhere is left out.
    """
    base = os.path.realpath(project).rstrip(os.sep) + os.sep
    own = (os.path.join(project, one) for one in (root, *paths) if one)
    full = (os.path.realpath(one) for one in (*own, *_files_open_for_writing()))
    inside = (
        f"{one}{os.sep}".removeprefix(base) for one in full if f"{one}{os.sep}".startswith(base)
    )
    return tuple(dict.fromkeys(one.rstrip(os.sep).replace(os.sep, "/") for one in inside))


def _files_open_for_writing() -> Iterator[str]:
    """Yield the regular files that this process has opened to write. Linux only."""
    for name in os.listdir(_DESCRIPTORS) if os.path.isdir(_DESCRIPTORS) else ():
        with suppress(OSError):
            mode = fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE
            if mode != os.O_RDONLY and stat.S_ISREG(os.fstat(int(name)).st_mode):
                yield os.readlink(f"{_DESCRIPTORS}/{name}")
