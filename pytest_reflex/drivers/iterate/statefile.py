"""Where the state of an iteration loop lies, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pytest_reflex.drivers.common import lease
from pytest_reflex.drivers.common.snapshot import SnapshotFile, bytes_of
from pytest_reflex.drivers.iterate.model import State
from pytest_reflex.drivers.iterate.state import dump, load
from pytest_reflex.errors import StateError, UnreadableError


def state_path(root: Path, procedure: str) -> Path:
    """Return the state file of a procedure; `root` is the folder of all that iterate keeps."""
    return root / "state" / f"{procedure}.json"


def run_folder(root: Path, procedure: str) -> Path:
    """Return the folder that tools of a procedure are told of as theirs: by it they are known."""
    return (root / "log" / procedure).absolute()


def is_driven(root: Path, procedure: str) -> bool:
    """Return whether a process drives a procedure now."""
    lock = state_path(root, procedure).with_suffix(".lock")
    return lease.is_driven(lock, lease.mark_of(run_folder(root, procedure)))


def state_file(root: Path, procedure: str, tell: Callable[[str], object]) -> SnapshotFile[State]:
    """Return the state file of a procedure, to be owned; `tell` takes what went wrong."""
    return SnapshotFile(
        state_path(root, procedure),
        root=root,
        run_folder=run_folder(root, procedure),
        dump=dump,
        load=partial(load, procedure=procedure),
        tell=tell,
    )


def read_state(root: Path, procedure: str) -> State | None:
    """Return the state of a procedure, None where there is none; nothing is written.

    Raises StateError for a file that cannot be read or holds no state.
    """
    path = state_path(root, procedure)
    hint = f"a new run keeps it aside: pytest-reflex iterate run {procedure}"
    try:
        data = bytes_of(path)
        return None if data is None else load(data, procedure)
    except ValueError as error:
        message = f"{path} holds no state of an iteration loop: {error}"
        raise StateError(message, hint=hint) from None
    except UnreadableError:
        raise
    except StateError as error:
        if path.is_symlink():
            raise
        raise StateError(error.problems[0].message, hint=hint) from None
