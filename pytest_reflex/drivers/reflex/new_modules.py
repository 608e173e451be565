"""New modules that an agent wrote beside the artifact: a person may allow them, file by file.

An agent that adds a helper has changed the project, so its run ends as tampered. Where nothing else
was modified, the run says which files these are, and goes on once a person has allowed each.
Never offered is what steers pytest, the interpreter or a tool by its name alone, and what would be
imported in place of an installed module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath

from pytest_reflex.errors import UsageError
from pytest_reflex.integrity.manifest import Change, ChangeKind
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.integrity.project import printable
from pytest_reflex.model.plain import escape_control
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import StopReason

OFFERED = "offered"
"""The key in the last event of a run: paths of new modules, with slashes."""
ALLOWED = "allowed"
"""The key in an event of an extension: those that a person has allowed."""

_SUFFIX, _PACKAGE = ".py", "__init__.py"
_MOST = 20
_STEERING = frozenset(
    ("conftest", "sitecustomize", "usercustomize", "setup", "noxfile", "tasks", "fabfile", "dodo")
)


def find_new_modules(changes: Iterable[Change], project: Path) -> tuple[str, ...]:
    """Return the paths of new modules, if there is nothing else among some changes; else none."""
    found = tuple(changes)
    paths = tuple(printable(change.path) for change in found)
    if not 0 < len(found) <= _MOST or any(one.kind is not ChangeKind.ADDED for one in found):
        return ()
    return paths if all(_is_helper(path, paths, project) for path in paths) else ()


def allow_flags(changes: Iterable[Change], flag: str, most: int) -> str:
    """Return by which flags a person allows what was changed in the project; empty for nothing."""
    inside = [change.path for change in changes if not os.path.isabs(change.path)][:most]
    quoted = (escape_control(escape_path(path)).replace("'", "'\\''") for path in inside)
    flags = " ".join(f"{flag} '{path}'" for path in quoted)
    return f" (to allow {'them' if inside[1:] else 'it'}: {flags})" if inside else ""


def _is_helper(path: str, new: Collection[str], project: Path) -> bool:
    """Return whether a new file is a module that is found only by importing it by name."""
    place = PurePosixPath(path)
    hidden = any(part.startswith(".") for part in place.parts)
    if place.is_absolute() or place.suffix != _SUFFIX or hidden or not path.isprintable():
        return False
    if (project / place).is_symlink() or place.stem in _STEERING:
        return False
    package = str(place.parent / _PACKAGE)
    if place.name != _PACKAGE and package not in new and (project / package).is_file():
        return True  # in a package of the project it has its own name
    name = place.parent.name if place.name == _PACKAGE else place.stem
    return name not in {*sys.stdlib_module_names, *packages_distributions()}


def refuse_tampered(state: RunState, allowed: Iterable[str], command: str) -> None:
    """Raise UsageError where a run was tampered with, unless all that it offers is `allowed`.

    `command` is the one by which it goes on. What is not offered cannot be allowed.
    """
    given, open_yet = tuple(map(_normal, allowed)), state.stop.offered
    tampered = state.stop.reason is StopReason.TAMPERED
    if tampered and not open_yet:
        raise UsageError(
            f"loop {state.alias!r} ended as tampered: {state.stop.detail}",
            hint="its verdicts cannot be trusted; start over with `loop new`",
        )
    if unknown := [path for path in given if path not in open_yet]:
        names = ", ".join(map(escape_control, open_yet)) or "none"
        raise UsageError(
            f"{escape_control(unknown[0])} cannot be allowed: "
            f"it is not a new module of {state.alias!r}",
            hint=f"new modules that wait for it: {names}",
        )
    if tampered and set(given) != set(open_yet):
        raise UsageError(
            f"loop {state.alias!r} ended as tampered: {state.stop.detail}",
            hint=f"review it; `{command}` keeps it and goes on",
        )


def _normal(path: str) -> str:
    return str(PurePosixPath(path))
