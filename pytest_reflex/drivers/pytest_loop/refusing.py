"""What lies where an artifact should and is none: which it is, why, and how it is moved away.

Promises: no link is followed; what may be somebody's work is moved, never deleted.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from pytest_reflex.drivers.pytest_loop.territory import MOST_BYTES, Territory, as_text
from pytest_reflex.errors import ReflexError, StateError, UnreadableError, read_or_raise
from pytest_reflex.storage.files import read_file

Links = Mapping[str, str]


def links_of(territory: Territory) -> dict[str, str]:
    """Return where each link leads on the way to what patterns mean, by its path.

    A socket or the like leads nowhere: an empty string.
    """
    found = {}
    for path in territory.candidates():
        for step in _way(path):
            with suppress(OSError):
                mode = os.lstat(territory.root / step).st_mode
                if stat.S_ISLNK(mode):
                    found[step] = os.readlink(territory.root / step)
                elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    found[step] = ""
    return found


def faults(territory: Territory, recorded: Iterable[str], links: Links) -> dict[str, str]:
    """Return why something is not an artifact, by the path that has to go.

    `recorded` are the artifacts that were there before, `links` those links that may stay.
    """
    known = set(recorded)
    found: dict[str, str] = {}
    for path in sorted({*territory.candidates(), *known}):
        place, why = _fault(territory.root, path, links, recorded=path in known)
        if why:
            found[place] = f"{place} {why}"
    return found


def _status(path: Path) -> os.stat_result:
    return read_or_raise(path, lambda: os.lstat(path))


def _fault(root: Path, path: str, links: Links, *, recorded: bool) -> tuple[str, str]:
    mode = 0
    for step in _way(path):
        try:
            mode = _status(root / step).st_mode
        except OSError:  # what is not there was removed, and that is allowed
            return step, ""
        if stat.S_ISLNK(mode):
            if os.readlink(root / step) != links.get(step):
                return step, "is a symbolic link, and no file of the project"
            if step == path or not (root / step).resolve().is_relative_to(root.resolve()):
                return step, ""
    if stat.S_ISDIR(mode):
        return path, "is a folder now, and no file" if recorded else ""
    if not stat.S_ISREG(mode):
        return path, "" if path in links else "is not a regular file"
    try:
        as_text(path, read_file(root / path, MOST_BYTES))
    except FileNotFoundError:
        return path, ""
    except UnreadableError:  # it may be one
        raise
    except ReflexError as error:
        return path, error.why
    return path, ""


def _way(path: str) -> Iterator[str]:
    """Yield the folders that lead to a path, and the path."""
    parts = PurePosixPath(path).parts
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count])


def clear(root: Path, path: str, aside: Path) -> None:
    """Take away what is at a path: links and empty folders for good, anything else to `aside`.

    Raises StateError.
    """
    place = root / path
    try:
        mode = os.lstat(place).st_mode
        if stat.S_ISDIR(mode):
            with suppress(OSError):
                place.rmdir()
                return
        elif not stat.S_ISREG(mode):
            place.unlink()
            return
        shutil.move(place, _free(aside / path))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StateError(
            f"{place} could not be moved to {aside}: {error.strerror or error}",
            hint="move it away and resume",
        ) from None


def _free(wanted: Path) -> Path:
    """Return a path that nothing has, in a folder that is there."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    found, number = wanted, 1
    while os.path.lexists(found):
        number += 1
        found = wanted.with_name(f"{wanted.name}.{number}")
    return found


def clear_way(root: Path, path: str, aside: Path, links: Links) -> None:
    """Take away whatever keeps a file from being written at a path; raises StateError."""
    for step in _way(path):
        place = root / step
        linked = place.is_symlink() and step not in links
        if linked or (os.path.lexists(place) and place.is_dir() is (step == path)):
            clear(root, step, aside)
