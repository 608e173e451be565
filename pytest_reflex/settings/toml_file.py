"""Reads a configuration file: one that is there and cannot be read is never taken for none."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

from pytest_reflex.errors import Place, UsageError, for_cause, read_twice

_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def read_toml(path: Path, *, foreign: bool = False) -> dict[str, Any] | None:
    """Return what a TOML file says; None where there is no such name in its folder.

    In a `foreign` folder, which may be closed to us, what cannot be looked for is not there. Raises
    UsageError for a link to nothing, a folder, a pipe, and whatever is not TOML in UTF-8.
    """
    try:
        read_twice(path.lstat)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if foreign:
            return None
        raise for_cause(_unreadable(path, error.strerror or str(error)), error) from None
    return _parsed(_text(path), path)


def _text(path: Path) -> str:
    try:
        if not stat.S_ISREG(read_twice(path.stat).st_mode):
            raise _unreadable(path, "it is not a regular file")
        data = read_twice(path.read_bytes)
    except FileNotFoundError:
        raise _unreadable(path, "it is a link to a file that is not there") from None
    except OSError as error:
        raise for_cause(_unreadable(path, error.strerror or str(error)), error) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts behind the mark of a file that begins with one.
        before = error.object[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        raise UsageError(
            f"byte 0x{error.object[error.start]:02x} is not UTF-8",
            place=Place(str(path), line, column),
            hint="save the file as UTF-8",
        ) from None


def _parsed(text: str, path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        found = _WHERE.search(said)
        place = Place(str(path))
        if found and found[1]:
            place = Place(str(path), int(found[1]), int(found[2]))
        elif found:
            place = Place(str(path), text.count("\n") + 1)
        said = _WHERE.sub("", said)
        raise UsageError(f"this is not TOML: {said}", place=place, hint="fix the file") from None
    except RecursionError:
        raise UsageError(
            "this is not TOML that can be read: it is nested too deep",
            place=Place(str(path)),
            hint="fix the file",
        ) from None


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(
        f"the configuration cannot be read: {why}",
        place=Place(str(path)),
        hint="fix or remove it",
    )
