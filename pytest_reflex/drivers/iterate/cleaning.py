"""Removing what is kept of procedures: state, requests, lock and logs.

Promises: nobody drives a procedure while its files are removed; links are removed and never
followed; what is not a file of ours stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from pytest_reflex.drivers.iterate.history import procedures_with_logs
from pytest_reflex.drivers.iterate.model import Status
from pytest_reflex.drivers.iterate.statefile import run_folder, state_file
from pytest_reflex.drivers.iterate.status import standing_of
from pytest_reflex.model.plain import counted, one_line
from pytest_reflex.settings.procedure_tables import NAME
from pytest_reflex.storage.atomic import remove_file, remove_strays
from pytest_reflex.storage.files import names_in
from pytest_reflex.storage.removal import remove_folder

_LOCK = "lock"
_OURS = re.compile(rf"({NAME.pattern})\.(json(?:\.corrupt-\d+)?|control\.json|{_LOCK})")


def kept_procedures(root: Path) -> list[str]:
    """Return the names of the procedures of which anything is kept, sorted."""
    found = (_OURS.fullmatch(name) for name in names_in(root / "state"))
    return sorted({match[1] for match in found if match} | {*procedures_with_logs(root)})


def what_is_lost(root: Path, procedure: str) -> str:
    """Return in words what is lost with the files of a procedure."""
    standing, logs = standing_of(root, procedure), names_in(root / "log" / procedure)
    number = sum(name.endswith(".jsonl") for name in logs)
    told = [f"{counted(number, 'log')}"] if number else []
    if standing.problem:
        told.insert(0, f"damaged: {one_line(standing.problem)}")
    elif standing.state and standing.status != Status.COMPLETED:
        told.insert(0, f"{standing.shown_status}; it could still be resumed")
    return ", ".join(told) or "no run"


def remove(root: Path, procedure: str, tell: Callable[[str], object]) -> None:
    """Remove all files of a procedure; raises LockedError where a process drives it, StateError."""
    with state_file(root, procedure, tell) as file:
        folder = file.path.parent
        remove_folder(run_folder(root, procedure))
        found = [match for name in names_in(folder) if (match := _OURS.fullmatch(name))]
        ours = [match for match in found if match[1] == procedure]
        for match in sorted(ours, key=lambda match: match[2] == _LOCK):
            remove_file(folder / match[0])
        remove_strays(folder, f"{procedure}.")
