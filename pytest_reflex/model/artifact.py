"""The artifact: bytes read once and texts derived from them, files left out of it, samples in
small.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.globs import may_select_below, selects
from pytest_reflex.model.plain import list_first, one_line

SHOWN = 3
FOLLOW_LINKS = "to follow links: --outside, in pytest --reflex-outside"


class Reason(StrEnum):
    """Why something was not read; the values are the words of the JSON report."""

    EXCLUDED = "excluded"
    LINK_INSIDE = "link_inside"
    DANGLING_LINK = "dangling_link"
    SPECIAL = "special"
    LINK_OUTSIDE = "link_outside"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"


UNCHECKED = frozenset({Reason.LINK_OUTSIDE, Reason.UNREADABLE, Reason.TOO_LARGE})
"""The reasons for which text may be there that was not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """One file or folder that was not read.

    `path` is its name in the folder, with slashes. `detail` is where a link leads (inside: as a
    name in the folder), or what the system said, or how large it is. `is_folder` is True also
    where it is unknown what it is.
    """

    path: str
    reason: Reason
    detail: str = ""
    is_folder: bool = field(default=False, compare=False)

    @property
    def is_unchecked(self) -> bool:
        return self.reason in UNCHECKED

    def __str__(self) -> str:
        return f"{one_line(self.path, 120)} ({_WORDS[self.reason].format(one_line(self.detail))})"

    def to_json(self) -> dict[str, Any]:
        wire = {"path": self.path, "reason": self.reason.value}
        return {**wire, "detail": self.detail} if self.detail else wire

    @classmethod
    def from_json(cls, wire: Mapping[str, Any]) -> SkippedFile:
        return cls(path=wire["path"], reason=Reason(wire["reason"]), detail=wire.get("detail", ""))


_WORDS = {
    Reason.EXCLUDED: "excluded by name",
    Reason.LINK_INSIDE: "links to {}, which is checked there",
    Reason.DANGLING_LINK: "a link that leads nowhere",
    Reason.SPECIAL: "{}, which holds no text",
    Reason.LINK_OUTSIDE: "links to {}, outside the folder",
    Reason.UNREADABLE: "cannot be read: {}",
    Reason.TOO_LARGE: "too large: {}",
}


def format_skipped(left_out: Iterable[SkippedFile]) -> str:
    """Return a few of them in words, the number of the others, and the option that may help."""
    found = list(left_out)
    text = list_first(map(str, found), SHOWN)
    if any(one.reason is Reason.LINK_OUTSIDE for one in found):
        text += f"; {FOLLOW_LINKS}"
    return text


BOM = "\ufeff"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A file (`data`) or a folder (`files`, sorted by name) as it was at one moment.

    `name` is what messages show; `path` is where it really lies; `base` is the folder against
    which relative links in it resolve (default: the folder of `path`). `left_out` is what a folder
    holds beside its files; `outside` is True where links were followed that lead out of it.
    """

    path: Path
    name: str
    data: bytes = b""
    files: tuple[Artifact, ...] | None = None
    base: Path | None = None
    left_out: tuple[SkippedFile, ...] = ()
    outside: bool = False

    @property
    def is_folder(self) -> bool:
        return self.files is not None

    @property
    def link_base(self) -> Path:
        return self.base or self.path.parent

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the bytes; of a folder, of the names and digests of its files."""
        if self.files is None:
            return hashlib.sha256(self.data).hexdigest()
        listing = "".join(f"{file.sha256}  {file.name}\n" for file in self.files)
        return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def short_hash(self) -> str:
        """First 8 hex digits, as the seed's iteration block and evaluations show them."""
        return self.sha256[:8]

    @cached_property
    def raw_text(self) -> str:
        """The bytes as UTF-8, unchanged.

        Raises ArtifactError where the bytes are not UTF-8 text or hold NUL.
        """
        if b"\0" in self.data:
            offset = self.data.index(b"\0")
            raise ArtifactError(
                f"{self.name} is binary: a NUL byte at offset {offset}",
                hint="content and structure checks need UTF-8 text; use an executable check",
                reading="text",
                file=self.name,
            )
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ArtifactError(
                f"{self.name} is not UTF-8 text: byte 0x{self.data[error.start]:02x} "
                f"at offset {error.start}",
                hint="save it as UTF-8, or use an executable check",
                reading="text",
                file=self.name,
            ) from None

    @cached_property
    def text(self) -> str:
        """`raw_text` without a byte-order mark and with line ends as `\\n`."""
        text = self.raw_text.removeprefix(BOM)
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def select(self, patterns: tuple[str, ...]) -> tuple[Artifact, ...]:
        """Return the files of a folder that match one of the globs; a file is its own selection."""
        if self.files is None:
            return (self,)
        return tuple(file for file in self.files if selects(patterns, file.name))

    @property
    def unread(self) -> tuple[str, ...]:
        """Names of what a folder holds that had to be read and was not; excluded ones are none."""
        return tuple(one.path for one in self.left_out if one.is_unchecked)

    def skipped_for(self, patterns: tuple[str, ...]) -> tuple[SkippedFile, ...]:
        """Return what the globs would have selected, or may have, had it been read.

        What is excluded by name is meant only by a glob that says this name. A link to a folder
        that was read at its own place is left out only where the globs do not select it there.
        """
        return tuple(one for one in self.left_out if self._is_missed(one, patterns))

    def _is_missed(self, one: SkippedFile, patterns: tuple[str, ...]) -> bool:
        if one.reason is Reason.LINK_INSIDE:
            return any(
                _may_select(patterns, f"{one.path}/{rest}".rstrip("/"), is_folder)
                and not _may_select(patterns, name, is_folder)
                for name, rest, is_folder in self._below(one.detail, set())
            )
        if one.reason is Reason.EXCLUDED:
            name = one.path.rpartition("/")[2]
            patterns = tuple(pattern for pattern in patterns if name in pattern.split("/"))
        elif not one.is_unchecked:
            return False
        return _may_select(patterns, one.path, one.is_folder)

    def _below(self, folder: str, seen: set[str]) -> Iterator[tuple[str, str, bool]]:
        """Yield what lies below a folder of this one, through links as well.

        Each is its name, its name from there on, and whether it may be a folder.
        """
        seen.add(folder)
        start = "" if folder == "." else f"{folder}/"
        names = self._names
        for index in range(bisect_left(names, (start, False)), len(names)):
            name, is_folder = names[index]
            if not name.startswith(start):
                break
            yield name, name.removeprefix(start), is_folder
        for one in self.left_out:
            if one.is_unchecked and one.is_folder and start.startswith(f"{one.path}/"):
                yield one.path, "", True
            if one.reason is Reason.LINK_INSIDE and one.path.startswith(start):
                link = one.path.removeprefix(start)
                below = self._below(one.detail, seen) if one.detail not in seen else ()
                yield from ((name, f"{link}/{rest}", is_folder) for name, rest, is_folder in below)

    @cached_property
    def _names(self) -> list[tuple[str, bool]]:
        unchecked = ((one.path, one.is_folder) for one in self.left_out if one.is_unchecked)
        return sorted([*((file.name, False) for file in self.files or ()), *unchecked])


def _may_select(patterns: tuple[str, ...], name: str, is_folder: bool) -> bool:
    """Return whether globs match a name, or could match the name of something below it."""
    return selects(patterns, name) or (is_folder and may_select_below(patterns, name))


@dataclass(frozen=True, slots=True)
class Sample:
    """A file with its text, or a folder of such files.

    Names are relative and written with slashes. The one name of a file is empty where the file may
    have any.
    """

    files: Mapping[str, str]
    is_folder: bool = False

    @classmethod
    def of_text(cls, text: str, name: str = "") -> Sample:
        """Return the sample that is one file."""
        return cls({name: text})

    def to_plain(self) -> str | dict[str, Any]:
        """Return it as criteria write it: a text, or a mapping of `file` and `text`, or `files`."""
        if self.is_folder:
            return {"files": dict(self.files)}
        ((name, text),) = self.files.items()
        return {"file": name, "text": text} if name else text
