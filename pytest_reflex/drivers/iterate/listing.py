"""Which paths make up a working tree: what git lists where there is one, else what lies there.

With git: all that it tracks, and what it does not ignore. Without: everything. Folders of caches
(`seals.patterns.NOT_ENTERED`) count only where git tracks something in them.
Promises: git gets no say over us: no hook, file system monitor or pager of a repository is run, and
its index is not written. Limits: a project that git itself ignores is read as if there were none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.drivers.common.git_settings import ELSEWHERE
from pytest_reflex.integrity.patterns import NOT_ENTERED
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import run
from pytest_reflex.process.spawn import SpawnError

MOST_PATHS = 200_000
_DEEPEST = 20
_SECONDS = 120.0
_MOST_BYTES = 64_000_000
# A repository of another user is read like any other: nothing in it is run.
_QUIETLY = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.pager=cat"),
    *("-c", f"core.hooksPath={os.devnull}", "-c", "safe.directory=*"),
)
_CACHES = frozenset(os.fsencode(name) for name in NOT_ENTERED)


class CannotTellError(Exception):
    """A tree is too large, or may not be read."""


def paths_in(folder: Path, depth: int = 0) -> Iterator[bytes]:
    """Yield the paths of a tree, seen from its folder, some perhaps twice or gone by now.

    What git has as one thing but is a folder (a submodule, a repository within) is yielded as the
    paths in it. Raises CannotTellError.
    """
    if depth > _DEEPEST:
        raise CannotTellError("repositories are nested too deep")
    listed = _listed(folder)
    if listed is None:
        yield from walked(os.fsencode(folder))
        return
    for name in listed:
        inner = Path(os.fsdecode(os.path.join(os.fsencode(folder), name)))
        if inner.is_dir() and not inner.is_symlink():
            base = name.rstrip(b"/")
            yield from (base + b"/" + path for path in paths_in(inner, depth + 1))
        else:
            yield name


def _listed(folder: Path) -> list[bytes] | None:
    """Return what git has in a folder; None where it has no say there."""
    tracked = _git(folder, "ls-files", "-z", "--cached")
    if tracked is None or _git(folder, "check-ignore", "--quiet", ".") is not None:
        return None
    others = _git(folder, "ls-files", "-z", "--others", "--exclude-standard")
    if others is None or any(os.path.normpath(name) == b"." for name in _names(tracked + others)):
        return None  # the folder is a submodule that is not there yet: git speaks of it, not in it
    return [*_names(tracked), *filter(_counts, _names(others))]


def _names(output: bytes) -> list[bytes]:
    return [name for name in output.split(b"\0") if name]


def _counts(path: bytes) -> bool:
    return _CACHES.isdisjoint(path.split(b"/"))


def _git(folder: Path, *words: str) -> bytes | None:
    """Return what git says; None where it refuses, or is not there. Raises CannotTellError."""
    try:
        finished = run(
            ["git", *_QUIETLY, *words],
            cwd=folder,
            env=git_environment() | {"GIT_OPTIONAL_LOCKS": "0"},
            timeout=_SECONDS,
            head=_MOST_BYTES,
        )
    except SpawnError:
        return None
    if finished.stopped or finished.stdout_truncated:
        raise CannotTellError("git returned too much, or took too long")
    return None if finished.returncode else finished.stdout


def git_environment() -> dict[str, str]:
    """Return our environment for a git that looks at the folder in which it is run, quietly."""
    kept = {name: value for name, value in inherited().items() if name not in ELSEWHERE}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def ignore_file(folder: Path) -> bytes | None:
    """Return what git ignores in a repository by its own file; None where git has no say."""
    told = _git(folder, "rev-parse", "--git-path", "info/exclude")
    if told is None:
        return None
    path = os.path.join(os.fsencode(folder), told.rstrip(b"\n"))
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise CannotTellError(str(error)) from None


def is_ignored(folder: Path, path: bytes) -> bool:
    """Return whether git ignores a path in a folder, by what it is told outside of it."""
    return _git(folder, "check-ignore", "--quiet", "--", os.fsdecode(path)) is not None


def walked(folder: bytes) -> Iterator[bytes]:
    """Yield everything below a folder that is not a folder itself; links are not followed."""
    waiting = [b""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, inside)) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except FileNotFoundError:
            continue
        except OSError as error:
            raise CannotTellError(str(error)) from None
        for name, is_folder in found:
            path = os.path.join(inside, name)
            if name in _CACHES:
                continue
            if is_folder:
                waiting.append(path)
            else:
                yield path
