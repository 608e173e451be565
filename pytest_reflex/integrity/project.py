"""A project's files as they were at some moment, and which of them are different now.

``take`` looks once, ``changes`` looks again. Promises: a file whose content is the same is no
change, whatever its times say; no link is followed; nothing that is not a regular file is opened; a
file is read again only where its number, size or ctime changed, which no program can set back.
Limits: a file above `MOST_OF_ONE` bytes, and what is left when `MOST_OF_ALL` bytes have been read,
is known by that stamp alone (`unread`); empty folders do not count. Left out are caches of tools,
from which checks are kept (`process/guard.py`), version control, but for what git runs or
ignores by, and leavings of editors: nothing that judges reads them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import translate
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError, UnreadableError, exists, is_transient
from pytest_reflex.integrity.manifest import NO_FILE, UNREADABLE, Change, ChangeKind, is_settled
from pytest_reflex.model.plain import escape_control

CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
COVERAGE = (".coverage", ".coverage.*")
VERSION_CONTROL = (".hg", ".svn", ".jj", ".bzr", "_darcs")
EDITORS = (
    *(".idea", "*.sw[a-px]", "*~", ".#*", "#*#", ".~lock.*#", "*.kate-swp"),
    *(".DS_Store", "Thumbs.db", ".nfs*", ".fuse_hidden*"),
)
OWN_STATE = (".rooda", ".loop", ".ai-loop")
# What a loop keeps: a folder for each run, and a pointer. Other things there do not belong to it.
STATE = (".ai-factory/evolution",)
RUN_FILES = ("history.jsonl", "run.json")
_STATE_FILES = re.compile(r"current\.json.*|\..+\.(tmp|gone)")
GIT = ".git"
GIT_FILES = ("config", "config.worktree")
GIT_FOLDERS = ("hooks", "info")
_GIT_MADE = "refs"  # in info: a list that git makes anew when it packs

_FOLDERS = frozenset({*CACHES, *VERSION_CONTROL, ".idea"})
_FILES = re.compile("|".join(translate(name) for name in (*COVERAGE, *EDITORS) if name != ".idea"))


def is_left_out(path: str) -> bool:
    """Return whether a path, relative to the project and with slashes, is not looked at."""
    *folders, name = path.split("/")
    parent = ""
    for folder in folders:
        if leaves_out_folder(folder, parent):
            return True
        parent = f"{parent}/{folder}".lstrip("/")
    return leaves_out_file(name, parent)


def leaves_out_folder(name: str, parent: str) -> bool:
    """Return whether a folder is not entered; `parent` is the folder it is in, "" for the root."""
    if name in _FOLDERS or (not parent and name in OWN_STATE):
        return True
    return parent.rpartition("/")[2] == GIT and name not in GIT_FOLDERS


def leaves_out_file(name: str, parent: str) -> bool:
    """Return whether a file that was not known before is of no interest."""
    if parent.rpartition("/")[2] == GIT:
        return name not in GIT_FILES
    if parent.endswith(f"{GIT}/info"):
        return name == _GIT_MADE
    return _FILES.match(name) is not None


def leaves_out_of_state(name: str, folder: str = "") -> bool:
    """Return whether what is in a state folder is a loop's own; `folder` is the path of a folder.

    Whatever else is there, a configuration beside the runs, is looked at like all of the project.
    """
    if _STATE_FILES.fullmatch(name):
        return True
    return bool(folder) and any(exists(f"{folder}/{one}") for one in RUN_FILES)


MOST_OF_ONE = 64_000_000  # the programs of an environment have 20 to 50 MB
MOST_OF_ALL = 1_000_000_000
_CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BY_STAMP = "stamp "
_LINK = "link "
# Git knows a file by its mode as well: of that, whether it can be executed bears on a verdict.
_PROGRAM = "x "

Digests = dict[str, dict[str, str]]
Free = Callable[[str], bool]
_Difference = tuple[str, str, str]
_Suspects = list[tuple[str, os.stat_result]]


def _nothing(path: str) -> bool:
    return False


class ProjectTree:
    """The files below `root`, without those in `apart` (relative, with slashes).

    Of a folder in `apart` only what a loop keeps there is left out.
    """

    def __init__(self, root: Path, apart: Iterable[str] = ()) -> None:
        self._root = os.path.abspath(root)
        self._apart = frozenset(apart)
        self._left = MOST_OF_ALL
        self._takes = False
        self._known: Digests = {}
        self._stamps: dict[str, dict[str, tuple[int, int, int]]] = {}

    def take(self) -> ProjectTree:
        """Know everything as it is now: later looks are compared with this one."""
        self._known, self._stamps, self._takes = {}, {}, True
        found = list(self._differences(_nothing))
        self._takes = False
        for folder, name, digest in found:
            self._known.setdefault(folder, {})[name] = digest
        return self

    def changes(self, free: Free = _nothing) -> dict[str, str]:
        """Return what differs by path, with what is there now, "" for nothing.

        A path that is `free` may be different.
        """
        found = self._differences(free)
        return dict(sorted((_join(folder, name), digest) for folder, name, digest in found))

    def accept(self, changes: Mapping[str, str]) -> None:
        """Know these paths as they are in `changes` from now on."""
        for path, digest in changes.items():
            folder, _, name = path.rpartition("/")
            if digest:
                self._known.setdefault(folder, {})[name] = digest
            else:
                self._known.get(folder, {}).pop(name, None)
            self._stamps.get(folder, {}).pop(name, None)

    def describe(self, changes: Mapping[str, str]) -> tuple[Change, ...]:
        """Return what became of each path that `changes` returned."""
        return tuple(Change(printable(path), self._kind(path, changes[path])) for path in changes)

    def _kind(self, path: str, digest: str) -> ChangeKind:
        folder, _, name = path.rpartition("/")
        if name not in self._known.get(folder, {}):
            return ChangeKind.ADDED
        return ChangeKind.CHANGED if digest else ChangeKind.REMOVED

    @property
    def unread(self) -> list[str]:
        """The files that are known by their stamps alone, in order."""
        return sorted(
            _join(folder, name)
            for folder, names in self._known.items()
            for name, digest in names.items()
            if digest.startswith(_BY_STAMP)
        )

    def links(self) -> Iterator[str]:
        """Yield the links that are known, in no order."""
        for folder, names in self._known.items():
            yield from (_join(folder, n) for n, what in names.items() if what.startswith(_LINK))

    def encode(self) -> str:
        """Return everything that is known, as a compact text."""
        return pack({folder: names for folder, names in self._known.items() if names})

    def decode(self, text: str) -> ProjectTree:
        """Know what `encode` returned; raises StateError where it is no such text."""
        self._known, self._stamps = unpack(text), {}
        return self

    def _differences(self, free: Free) -> Iterator[_Difference]:
        """Yield folder and name of all that is not as it is known, with what is there now."""
        gone, waiting = set(self._known), [""]
        while waiting:
            folder = waiting.pop()
            gone.discard(folder)
            yield from self._in_folder(folder, waiting, free)
        for folder in gone:
            self._stamps.pop(folder, None)
            missing = ((name, _join(folder, name)) for name in self._known[folder])
            yield from ((folder, name, "") for name, path in missing if not free(path))

    def _in_folder(self, folder: str, waiting: list[str], free: Free) -> Iterator[_Difference]:
        known = self._known.get(folder, {})
        try:
            same, suspects = self._scan(folder, waiting)
        except OSError as error:
            yield from self._unread_folder(folder, error)
            return
        there = 0
        for name, status in suspects:
            path = _join(folder, name)
            is_known = name in known
            if not is_known and (leaves_out_file(name, folder) or path in self._apart):
                continue
            there += is_known
            if free(path):
                continue
            digest = self._digest(path, status, known.get(name, ""))
            if (self._takes or digest == known.get(name)) and is_settled(status):
                stamp = status.st_ctime_ns, status.st_ino, status.st_size
                self._stamps.setdefault(folder, {})[name] = stamp
            if digest != known.get(name, ""):
                yield folder, name, digest
        if same + there < len(known):
            yield from self._find_removed(folder, free)

    def _scan(self, folder: str, waiting: list[str]) -> tuple[int, _Suspects]:
        """Return how many files have the stamps that are known, and all others."""
        stamps, same = self._stamps.get(folder, {}), 0
        suspects: _Suspects = []
        prefix = f"{folder}/" if folder else ""
        is_state = folder in self._apart
        with os.scandir(f"{self._root}/{folder}") as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if leaves_out_folder(name, folder):
                        continue
                    if not is_state or not leaves_out_of_state(name, entry.path):
                        waiting.append(prefix + name)
                    continue
                if is_state and leaves_out_of_state(name):
                    continue
                status = entry.stat(follow_symlinks=False)
                if stamps.get(name) == (status.st_ctime_ns, status.st_ino, status.st_size):
                    same += 1
                else:
                    suspects.append((name, status))
        return same, suspects

    def _unread_folder(self, folder: str, error: OSError) -> Iterator[_Difference]:
        """Yield that a folder cannot be read any more, or that its files are gone."""
        if not folder or is_transient(error):
            raise UnreadableError(printable(folder or self._root), error) from None
        known = self._known.get(folder, {})
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            yield from ((folder, name, "") for name in known)
        elif known.get("") != UNREADABLE:
            yield folder, "", UNREADABLE

    def _find_removed(self, folder: str, free: Free) -> Iterator[_Difference]:
        there = self._names(folder)
        for name in self._known[folder].keys() - there:
            self._stamps.get(folder, {}).pop(name, None)
            if not free(_join(folder, name)):
                yield folder, name, ""

    def _names(self, folder: str) -> set[str]:
        """Return the names of what is in a folder and no folder itself."""
        try:
            with os.scandir(f"{self._root}/{folder}") as entries:
                return {one.name for one in entries if not one.is_dir(follow_symlinks=False)}
        except OSError:
            return set()

    def _digest(self, path: str, status: os.stat_result, known: str) -> str:
        """Return what is at a path: a hash, a word for what is not a file, "" for nothing."""
        try:
            if stat.S_ISLNK(status.st_mode):
                target = os.readlink(f"{self._root}/{path}")
                return f"{_LINK}{hashlib.sha256(os.fsencode(target)).hexdigest()[:32]}"
            if not stat.S_ISREG(status.st_mode):
                return NO_FILE
            if known.startswith(_BY_STAMP) or (not known and self._is_too_large(status)):
                return f"{_BY_STAMP}{status.st_ctime_ns} {status.st_ino} {status.st_size}"
            return self._hash(path, status)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            if is_transient(error):
                raise UnreadableError(printable(path), error) from None
            return UNREADABLE

    def _is_too_large(self, status: os.stat_result) -> bool:
        if status.st_size > min(MOST_OF_ONE, self._left):
            return True
        self._left -= status.st_size
        return False

    def _hash(self, path: str, status: os.stat_result) -> str:
        descriptor = os.open(f"{self._root}/{path}", _OPEN)
        digest = hashlib.blake2b(digest_size=16)
        with open(descriptor, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return NO_FILE
            while part := file.read(_CHUNK):
                digest.update(part)
        return (_PROGRAM if status.st_mode & stat.S_IXUSR else "") + digest.hexdigest()


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def pack(found: Mapping[str, Any]) -> str:
    """Return what is known of files as a compact text: ASCII, whatever their names are."""
    data = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def unpack(text: str) -> Any:
    """Return what `pack` was given; raises StateError where it is no such text."""
    try:
        return json.loads(zlib.decompress(base64.b64decode(text)))
    except (ValueError, zlib.error):
        raise StateError("the record of the project's files is damaged") from None


def printable(path: str) -> str:
    """Return a path as it can be shown on one line: what is not text of UTF-8 is escaped."""
    if path.isascii() and path.isprintable():
        return path
    shown = escape_control(path.encode("utf-8", "backslashreplace").decode())
    return shown.replace("\n", "\\n").replace("\t", "\\t")
