"""The thing that is judged: bytes that were read once, and the texts derived from them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.globs import may_select_below, selects
from pytest_reflex.model.left_out import LeftOut, Reason

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
    left_out: tuple[LeftOut, ...] = ()
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

    def unchecked(self, patterns: tuple[str, ...]) -> tuple[LeftOut, ...]:
        """Return what the globs would have selected, or may have, had it been read.

        What is excluded by name is meant only by a glob that says this name. A link to a folder
        that was read at its own place is left out only where the globs do not select it there.
        """
        return tuple(one for one in self.left_out if self._is_missed(one, patterns))

    def _is_missed(self, one: LeftOut, patterns: tuple[str, ...]) -> bool:
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
