"""A run whose state is one file that is replaced whole; what people ask of it lies beside it.

Promises: a reader sees the old state or the new one; a file that cannot be read is kept aside
before anything is written over it; what cannot be written is reported and stops nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, Self, TypeVar

from pytest_reflex.drivers.common.control import ControlFile
from pytest_reflex.drivers.common.lease import Lease, mark_of
from pytest_reflex.errors import LockedError, StateError, UnreadableError, read_or_raise
from pytest_reflex.storage.atomic import (
    keep_copy,
    quarantine,
    remove_file,
    remove_strays,
    replace_file,
)
from pytest_reflex.storage.files import read_file, refuse_links

State = TypeVar("State")
_MOST_BYTES = 50_000_000
_CORRUPT = "corrupt"


class SnapshotFile(Generic[State]):
    """The state file of a run while this process owns it; use it with `with`.

    `root` is the folder of all runs of a kind, `run_folder` that by which its tools are known.
    `dump` and `load` (which raises ValueError) make bytes of a state and read them. `warn` takes
    what went wrong and stopped nothing. `saved` says whether the file holds what was to be saved
    last.
    """

    def __init__(
        self,
        path: Path,
        *,
        root: Path,
        run_folder: Path,
        dump: Callable[[State], bytes],
        load: Callable[[bytes], State],
        warn: Callable[[str], object],
    ) -> None:
        self.path, self._root, self._warn = path, root, warn
        self._dump, self._load = dump, load
        self.saved = True
        self.lease = Lease(
            root,
            path.with_suffix(".lock"),
            what=path.stem,
            mark=mark_of(run_folder),
            warn=warn,
        )
        self._spoilt = self._lost = False

    def __enter__(self) -> Self:
        self.lease.take()
        if self.lease.owned:
            with suppress(OSError):
                remove_strays(self.path.parent, self.path.name)
                ControlFile.beside(self.path).remove_strays()
            self._drop_stop()
        return self

    def _drop_stop(self) -> None:
        """Remove a request to stop that the last owner has not seen any more."""
        control = ControlFile.beside(self.path)
        control.forget(control.drop_stop, self._warn, "a stop asked there counts")

    def __exit__(self, *_: object) -> None:
        self.lease.close()

    def read(self) -> State | None:
        """Return the state; None where there is none, or where it had to be kept aside.

        Raises StateError for a link, whose target belongs to others, and UnreadableError.
        """
        try:
            data = bytes_of(self.path)
        except UnreadableError:  # it may hold the state
            raise
        except StateError as error:
            if self.path.is_symlink():
                raise
            self._put_aside(lambda: quarantine(self.path, _CORRUPT), error.why)
            return None
        try:
            return None if data is None else self._load(data)
        except ValueError as error:
            self._put_aside(lambda: keep_copy(self.path, data or b"", _CORRUPT), str(error))
        return None

    def _put_aside(self, put: Callable[[], Path], why: str) -> None:
        text = f"the state {self.path} cannot be used ({why}): starting fresh"
        try:
            kept = put()
        except (StateError, OSError) as error:
            self._spoilt = True
            self._warn(
                f"{text}; it could not be quarantined ({error}), so nothing is saved: move it away"
            )
        else:
            self._warn(f"{text}; a copy is kept as {kept.name}")

    def save(self, state: State, *, quietly: bool = False) -> bool:
        """Put a state in the file's place, durably; return whether that could be done.

        `quietly`, a failure that follows another is not reported again.
        Raises LockedError where the files were removed, and another process owns the new ones.
        """
        if self._lost:
            return False
        try:
            if self._spoilt:
                raise StateError(f"{self.path} is damaged, and no copy of it could be kept")
            refuse_links(self._root, self.path.parent)
            self.lease.make_folder()
            self.lease.renew()
            replace_file(self.path, self._dump(state))
        except LockedError:
            self._lost, self.saved = True, False
            raise
        except (StateError, OSError) as error:
            if self.saved or not quietly:
                self._warn(f"the state could not be saved ({error}): going on")
            self.saved = False
        else:
            self.saved = True
        return self.saved

    def keep(self) -> None:
        """See that we still own the run; raises LockedError where another process does."""
        try:
            self.lease.keep()
        except LockedError:
            self._lost, self.saved = True, False
            raise

    def remove(self) -> bool:
        """Remove the file of a run that is complete; return whether all was kept until then.

        What could not be saved last stays so: where there is nothing to remove, nothing is fixed.
        """
        if self._lost:
            return False
        try:
            if not self._spoilt and self.path.parent.is_dir():
                refuse_links(self._root, self.path.parent)
                remove_file(self.path)
        except (StateError, OSError) as error:
            self.saved = False
            self._warn(f"the state could not be removed ({error})")
        return self.saved


def bytes_of(path: Path) -> bytes | None:
    """Return what a state file holds, None where there is none; raises StateError."""
    try:
        read_or_raise(path, lambda: os.lstat(path))
        return read_file(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StateError(f"could not be read: {error.strerror}", about=path) from None
