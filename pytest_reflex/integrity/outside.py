"""What judges and lies outside the project: programs, packages, and what its links lead to.

A program is looked up once, at the start, as the system does it: the file that is found is held,
and so is each earlier place on PATH, where none of that name may appear. Of every Python among them
(and of this one) the start-up files and the installed packages are held. Limits: what a program
starts or reads by itself is not known; of a folder behind a link with more than `MOST_FILES` files,
and of a file above `MOST_BYTES`, nothing is known.
"""

from __future__ import annotations

import os
import re
import shlex
import site
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from pytest_reflex.integrity.manifest import Change, ChangeKind, Manifest, compare, look_again, take
from pytest_reflex.integrity.packages import Packages
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.integrity.project import is_left_out
from pytest_reflex.integrity.tool_inputs import interpreter_files

Command = str | Sequence[str]
_START = 200
_PROGRAM = re.compile(r"[A-Za-z_][\w.+-]*")


class OutsideFiles:
    """What is held outside a project: `changes` looks again, `accept` takes things as they are."""

    def __init__(
        self,
        files: Manifest,
        packages: Iterable[Packages] = (),
        recorded: Mapping[str, str] | None = None,
        *,
        has_programs: bool = True,
    ) -> None:
        self._files, self._packages = files, list(packages)
        self._recorded = dict(recorded or {})
        self.has_programs = has_programs

    @classmethod
    def nothing(cls) -> OutsideFiles:
        """Hold nothing."""
        return cls(Manifest(root=Path(), patterns=(), files={}), has_programs=False)

    @classmethod
    def take(
        cls,
        project: Path,
        programs: Iterable[str],
        patterns: Iterable[str],
        further: Iterable[str] = (),
    ) -> OutsideFiles:
        """Know everything as it is now.

        `programs` are from `programs_of`; `patterns` mean further files, relative to the project or
        absolute, `further` folders whose files are held by their stamps.
        """
        found = list(programs)
        files = take([*found, *interpreter_files(), *patterns], root=project)
        folders = dict.fromkeys((*package_folders(found, project), *further))
        return cls(files, map(Packages, folders), has_programs=bool(found))

    @classmethod
    def from_json(cls, wire: Mapping[str, Any], project: Path) -> OutsideFiles:
        """Know what `to_json` returned in an earlier process."""
        files = Manifest.from_json(wire["files"], project)
        recorded = wire["packages"]
        packages = map(Packages, recorded)
        return cls(files, packages, recorded, has_programs=wire["has_programs"])

    def changes(self, *, packages: bool = True) -> tuple[Change, ...]:
        """Return what was added, changed or removed; without `packages` these are not looked at."""
        found = list(compare(self._files, look_again(self._files)))
        for one in self._packages if packages else ():
            if one.folder in self._recorded:
                if one.agrees(self._recorded[one.folder]):
                    del self._recorded[one.folder]
                else:
                    found.append(Change(one.folder, ChangeKind.CHANGED))
            found += one.changes()
        return tuple(found)

    def accept(self) -> None:
        """Take everything as it is now."""
        self._files = look_again(self._files)
        self._recorded = {}
        self._packages = [Packages(one.folder) for one in self._packages]

    def to_json(self) -> dict[str, Any]:
        """Return the record that `from_json` takes."""
        packages = {
            one.folder: self._recorded.get(one.folder) or one.fingerprint()
            for one in self._packages
        }
        files = self._files.to_json()
        return {"files": files, "packages": packages, "has_programs": self.has_programs}


def programs_of(commands: Iterable[Command], project: Path, path: str | None = None) -> list[str]:
    """Return patterns of the programs that commands name, and of the earlier places on PATH.

    Of a text for a shell, and of an argument with blanks in it, each word counts.
    """
    folders = (os.environ.get("PATH", os.defpath) if path is None else path).split(os.pathsep)
    places = [os.path.join(project, folder) for folder in folders]
    found = []
    for word in dict.fromkeys(word for command in commands for word in _words(command)):
        if "/" in word:
            full = os.path.join(project, word)
            if os.access(full, os.X_OK) and os.path.isfile(full):
                found.append(full)
            continue
        earlier = []
        for place in places:
            full = os.path.join(place, word)
            earlier.append(full)
            if os.access(full, os.X_OK) and os.path.isfile(full):
                found += earlier
                break
        else:  # not found now, but it may be found later
            found += earlier if _PROGRAM.fullmatch(word) else ()
    base = os.path.abspath(project).rstrip(os.sep) + os.sep
    held = dict.fromkeys(os.path.abspath(one) for one in found)
    return [escape_path(one) for one in held if not _is_looked_at(one, base)]


def _is_looked_at(path: str, base: str) -> bool:
    """Return whether a look at the project comes to a path anyway."""
    return path.startswith(base) and not is_left_out(path.removeprefix(base).replace(os.sep, "/"))


def _words(command: Command) -> Iterator[str]:
    for part in (command,) if isinstance(command, str) else command:
        if not isinstance(part, str) or "\0" in part:
            continue
        lexer = shlex.shlex(part, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        try:
            words = list(lexer)
        except ValueError:  # a shell may read it all the same
            words = part.split()
        yield from (word for word in words if word and not word.startswith("-"))


def package_folders(programs: Iterable[str], project: Path) -> list[str]:
    """Return the folders of installed packages, of this Python and of those among `programs`.

    What lies in the project is looked at with the project.
    """
    user = site.getusersitepackages()
    found = [*site.getsitepackages(), *([user] if user else [])]
    for program in programs:
        if prefix := _prefix_of_python(program.replace("[[]", "[")):
            found += glob(f"{prefix}/lib/python3*/site-packages")
            found += glob(f"{prefix}/lib/python3*/dist-packages")
    base = os.path.abspath(project).rstrip(os.sep) + os.sep
    folders = (os.path.realpath(one) for one in found if os.path.isdir(one))
    return [one for one in dict.fromkeys(folders) if not f"{one}{os.sep}".startswith(base)]


def _prefix_of_python(program: str) -> str:
    """Return the folder above that of a Python, or of the Python that runs a script; or ""."""
    name = os.path.basename(program)
    if name.startswith("python") and os.path.isfile(program):
        return os.path.dirname(os.path.dirname(program))
    try:
        with open(program, "rb") as file:
            line = file.read(_START).partition(b"\n")[0]
    except OSError:
        return ""
    if not line.startswith(b"#!") or b"python" not in line:
        return ""
    interpreter = os.fsdecode(line[2:].split()[0])
    if os.path.basename(interpreter) == "env":
        return sys.prefix
    return os.path.dirname(os.path.dirname(interpreter))


MOST_FILES = 10_000
MOST_BYTES = 16_000_000
_OF_SYSTEM = ("/dev/", "/proc/", "/sys/")
_ORDINARY = ("/dev/shm/",)


def is_of_system(path: str) -> bool:
    """Return whether a path is one of the kernel's own: what lies there changes all the time."""
    return path.startswith(_OF_SYSTEM) and not path.startswith(_ORDINARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPaths:
    """Patterns of the files, and the folders, that links lead to and no look comes to."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, links: Iterable[str], project: Path, state: Path | None = None) -> LinkedPaths:
        """Return what `links`, relative to the project, lead to, without what holds `state`."""
        base = os.path.realpath(project)
        found = dict.fromkeys(os.path.realpath(os.path.join(base, link)) for link in links)
        own = os.path.realpath(state) + os.sep if state else ""
        places = [
            place
            for place in found
            if not _is_in_look(place, base)
            and not is_of_system(place)
            and not own.startswith(place + os.sep)
        ]
        return cls(
            files=tuple(escape_path(place) for place in places if _is_small(place)),
            folders=tuple(place for place in places if _is_few(place, base)),
        )


def _is_in_look(place: str, base: str) -> bool:
    inside = os.path.relpath(place, base).replace(os.sep, "/")
    return not inside.startswith("../") and not is_left_out(inside)


def _is_small(place: str) -> bool:
    with suppress(OSError):  # it may go at this moment
        return os.path.isfile(place) and os.path.getsize(place) <= MOST_BYTES
    return False


def _is_few(place: str, base: str) -> bool:
    """Return whether a folder outside the project holds few enough files, and not the project."""
    if not os.path.isdir(place) or os.path.commonpath([place, base]) in (place, base):
        return False
    count = 0
    for _, _, names in os.walk(place):
        count += len(names)
        if count > MOST_FILES:
            return False
    return True
