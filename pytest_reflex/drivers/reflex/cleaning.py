"""Removing runs, and what is left of runs, from a state root."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_reflex.drivers.common.control import Requests
from pytest_reflex.drivers.reflex.statefile import (
    HISTORY,
    Pointer,
    change_pointer,
    newest_running,
    settled,
)
from pytest_reflex.drivers.reflex.survey import Found, is_loop
from pytest_reflex.errors import ReflexError
from pytest_reflex.storage.removal import remove_leftovers, remove_run


def remove(root: Path, found: Iterable[Found]) -> dict[str, ReflexError]:
    """Remove runs one after the other; return, by alias, why some are still there."""
    left: dict[str, ReflexError] = {}
    for one in found:
        try:
            remove_run(root, one.alias, HISTORY)
        except ReflexError as error:
            left[one.alias] = error
    return left


def tidy(root: Path, gone: Iterable[Found] = ()) -> None:
    """Remove what killed removals left, requests to runs that are gone, a pointer that dangles."""
    remove_leftovers(root)
    if not root.is_dir():
        return
    run_ids = [one.run.state.run_id for one in gone if one.run and not is_loop(one.run.folder)]

    def change(pointer: Pointer) -> Pointer:
        for run_id in run_ids:
            pointer = pointer.asking(run_id, Requests())
        return settled(root, pointer)

    following = newest_running(root)
    change_pointer(root, change, root / following.alias if following else root)
