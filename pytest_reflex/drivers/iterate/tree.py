"""The working tree: which paths make it up, and whether their content changed.

With git: all that it tracks, and what it does not ignore. Without: everything. Folders of caches
(`integrity.patterns.NOT_ENTERED`) count only where git tracks something in them.
Promises: git gets no say over us: no hook, file system monitor or pager of a repository is run, and
its index is not written. Limits: a project that git itself ignores is read as if there were none.

A fingerprint holds of each file its path, its bytes and whether it can be executed, of a link its
target, of anything else that it is there. Times, commits, rewritten bytes, ignored files and our
own state change none of that. A tree that comes back as it once was is nothing new either.
Promises: nothing that is not a regular file is opened, no link is followed, a file is read again
only where its stamp changed. Limits: an agent that writes something different each time is at work,
as far as this is known; empty folders do not count.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from pytest_reflex.drivers.common.git_command import ELSEWHERE, MOST_OUTPUT, run_git
from pytest_reflex.integrity.manifest import Stamp, is_settled, stamp_of
from pytest_reflex.integrity.patterns import NOT_ENTERED
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.spawn import SpawnError

MOST_PATHS = 200_000
_DEEPEST = 20
# A repository of another user is read like any other: nothing in it is run.
_QUIETLY = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.pager=cat"),
    *("-c", f"core.hooksPath={os.devnull}", "-c", "safe.directory=*"),
)
_CACHES = frozenset(os.fsencode(name) for name in NOT_ENTERED)


class UnreadableTreeError(Exception):
    """A tree is too large, or may not be read."""


def paths_in(folder: Path, depth: int = 0) -> Iterator[bytes]:
    """Yield the paths of a tree, seen from its folder, some perhaps twice or gone by now.

    What git has as one thing but is a folder (a submodule, a repository within) is yielded as the
    paths in it. Raises UnreadableTreeError.
    """
    if depth > _DEEPEST:
        raise UnreadableTreeError("repositories are nested too deep")
    listed = _list_files(folder)
    if listed is None:
        yield from walk(os.fsencode(folder))
        return
    for name in listed:
        inner = Path(os.fsdecode(os.path.join(os.fsencode(folder), name)))
        if inner.is_dir() and not inner.is_symlink():
            base = name.rstrip(b"/")
            yield from (base + b"/" + path for path in paths_in(inner, depth + 1))
        else:
            yield name


def _list_files(folder: Path) -> list[bytes] | None:
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
    """Return what git says; None where it refuses, or is not there. Raises UnreadableTreeError."""
    try:
        environment = git_environment() | {"GIT_OPTIONAL_LOCKS": "0"}
        finished = run_git(folder, (*_QUIETLY, *words), environment)
    except SpawnError:
        return None
    if finished.stopped or finished.stdout_truncated:
        raise UnreadableTreeError("git returned too much, or took too long")
    return None if finished.returncode else finished.stdout


def git_environment() -> dict[str, str]:
    """Return our environment for a git that looks at the folder in which it is run, quietly."""
    kept = {name: value for name, value in copy_environment().items() if name not in ELSEWHERE}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def ignore_file(folder: Path) -> bytes | None:
    """Return what git ignores in a repository by its own file; None where git has no say."""
    output = _git(folder, "rev-parse", "--git-path", "info/exclude")
    if output is None:
        return None
    path = os.path.join(os.fsencode(folder), output.rstrip(b"\n"))
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(MOST_OUTPUT)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise UnreadableTreeError(str(error)) from None


def is_ignored(folder: Path, path: bytes) -> bool:
    """Return whether git ignores a path in a folder, by its configuration outside of it."""
    return _git(folder, "check-ignore", "--quiet", "--", os.fsdecode(path)) is not None


def is_in(path: bytes, folders: Iterable[bytes]) -> bool:
    """Return whether a path is one of some folders, or lies below one."""
    return any(path == one or path.startswith(one + b"/") for one in folders)


def walk(folder: bytes) -> Iterator[bytes]:
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
            raise UnreadableTreeError(str(error)) from None
        for name, is_folder in found:
            path = os.path.join(inside, name)
            if name in _CACHES:
                continue
            if is_folder:
                waiting.append(path)
            else:
                yield path


MOST_BYTES = 4_000_000_000
_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class WorkingTree:
    """The working tree of a project, without the folders in `exclude` (seen from the project)."""

    def __init__(
        self,
        project: Path,
        exclude: Iterable[str] = (),
        *,
        most_paths: int = MOST_PATHS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._project, self._base = project, os.fsencode(project.absolute())
        self._exclude = [os.fsencode(os.path.normpath(name)) for name in exclude]
        self._most_paths, self._most_bytes = most_paths, most_bytes
        self._left = most_bytes
        self._known: dict[bytes, tuple[Stamp, bytes]] = {}
        self._seen: Mapping[bytes, bytes] | None = None

    def seen_files(self) -> Mapping[bytes, bytes] | None:
        """Return the files as the last fingerprint saw them; None where they are unknown."""
        return self._seen

    def fingerprint(self) -> str | None:
        """Return a text that is the same for two looks iff the trees are; None: unknown.

        That is so where a file may not be read, or where there are too many or too large ones.
        """
        self._seen = None
        try:
            entries = self.entries(paths_in(self._project))
        except UnreadableTreeError:
            return None
        self._seen = entries
        whole = hashlib.sha256()
        for path, entry in sorted(entries.items()):
            whole.update(path + b"\0" + entry + b"\n")
        return whole.hexdigest()

    def entries(self, paths: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return for each path that is there what it comes to: its kind, and a hash of its content.

        Raises UnreadableTreeError where that cannot be said of all of them.
        """
        found: dict[bytes, bytes] = {}
        folders: dict[bytes, bool] = {b"": True}
        self._left = self._most_bytes
        for number, path in enumerate(paths):
            if number >= self._most_paths:
                raise UnreadableTreeError("there are too many files")
            if path in found or is_in(path, self._exclude) or not self._is_below(path, folders):
                continue
            if entry := self._entry(path):
                found[path] = entry
        return found

    def _is_below(self, path: bytes, folders: dict[bytes, bool]) -> bool:
        """Return whether no part of the way to a path is a link: it would lead elsewhere."""
        folder = os.path.dirname(path)
        if folder not in folders:
            full = os.path.join(self._base, folder)
            folders[folder] = self._is_below(folder, folders) and not os.path.islink(full)
        return folders[folder]

    def _entry(self, path: bytes) -> bytes:
        """Return what a path comes to, empty where nothing is there. Raises UnreadableTreeError."""
        full = os.path.join(self._base, path)
        try:
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                return b"link " + hashlib.sha256(os.readlink(full)).digest().hex().encode()
            if not stat.S_ISREG(status.st_mode):
                return b"" if stat.S_ISDIR(status.st_mode) else b"special %o" % _kind(status)
            return self._file(full, path)
        except (FileNotFoundError, NotADirectoryError):  # it is gone by now
            return b""
        except OSError as error:
            raise UnreadableTreeError(str(error)) from None

    def _file(self, full: bytes, path: bytes) -> bytes:
        descriptor = os.open(full, _OPEN)
        with open(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return b"special %o" % _kind(status)
            kind = b"program " if status.st_mode & stat.S_IXUSR else b"file "
            stamp = stamp_of(status)
            known = self._known.get(path)
            if known and known[0] == stamp:
                return kind + known[1]
            if status.st_size > self._left:
                raise UnreadableTreeError("the files are too large")
            digest = hashlib.sha256()
            while part := file.read(_CHUNK):
                digest.update(part)
                self._left -= len(part)
                if self._left < 0:
                    raise UnreadableTreeError("the files are too large")
        self._known.pop(path, None)
        found = digest.hexdigest().encode()
        if is_settled(status):
            self._known[path] = stamp, found
        return kind + found


def _kind(status: os.stat_result) -> int:
    return stat.S_IFMT(status.st_mode)


def fingerprint(project: Path, exclude: Iterable[str] = ()) -> str | None:
    """Return the fingerprint of a tree that is looked at only once."""
    return WorkingTree(project, exclude).fingerprint()


class TreeChangeDetector:
    """Reports of each iteration whether it left a tree that was not there before.

    `fingerprint` is asked twice in an iteration: `begin` before the agent, `has_changed` right
    after it, so that what gates write between is not its work. `seen_files` are the files as it saw
    them.
    """

    def __init__(
        self,
        fingerprint: Callable[[], str | None],
        seen: Callable[[], Mapping[bytes, bytes] | None] = lambda: None,
    ) -> None:
        self._fingerprint, self._entries, self._seen = fingerprint, seen, set[str]()
        self._sure = False
        self._before: Mapping[bytes, bytes] | None = None

    def begin(self) -> None:
        """Look at the tree before an iteration."""
        before = self._fingerprint()
        self._sure = before is not None
        self._before = self._entries()
        if before is not None:
            self._seen.add(before)

    def has_changed(self) -> bool | None:
        """Return whether the tree is another than before this iteration and all earlier ones.

        None where this is unknown.
        """
        after = self._fingerprint()
        if after is None or not self._sure:
            return None
        new = after not in self._seen
        self._seen.add(after)
        return new

    def files(self) -> tuple[str, ...] | None:
        """Return the files that differ from before the iteration; None where that is unknown."""
        before, after = self._before, self._entries()
        if before is None or after is None:
            return None
        paths = before.keys() | after.keys()
        changed = (path for path in paths if before.get(path) != after.get(path))
        return tuple(sorted(map(display_path, changed)))


def display_path(path: bytes) -> str:
    """Return a path as text; bytes that are none are escaped."""
    return os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
