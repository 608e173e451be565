"""What a run works on: where its artifact stands, how it is read, how it follows the history."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pytest_reflex.checks.reading import SIZE_LIMIT
from pytest_reflex.errors import StateError, UnreadableError, UsageError
from pytest_reflex.store.atomic import replace_file
from pytest_reflex.store.regular import read_if_regular

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
