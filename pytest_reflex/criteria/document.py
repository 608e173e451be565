"""A criteria file from the disk to a mapping with positions: YAML 1.2, or JSON by its suffix."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from pytest_reflex.criteria.build import build, read_json
from pytest_reflex.criteria.diagnostics import Diagnostics, Spot, Table
from pytest_reflex.errors import (
    TRY_AGAIN,
    CriteriaError,
    Place,
    for_cause,
    is_transient,
    read_twice,
)
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.yaml_data import ForbiddenCharacterError, yaml_events

MAX_BYTES = 16 * 1024 * 1024


def display_path(path: Path) -> str:
    """Return a path as messages show it: relative where it lies below the working directory."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def read_document(path: Path, keys: str = "`rules`") -> tuple[Table, Diagnostics]:
    """Return the mapping in a file and what was found wrong so far; `keys` are what it needs.

    Raises CriteriaError where the file cannot be read at all.
    """
    name = display_path(path)
    return parse_document(read_bytes(path, name), name, keys)


def parse_document(data: bytes, name: str, keys: str = "`rules`") -> tuple[Table, Diagnostics]:
    """Return the mapping in `data`; `name` is the file's name, whose suffix .json means JSON."""
    diagnostics = Diagnostics(name)
    diagnostics.text = text = _decode(data, diagnostics)
    root = _json(text, diagnostics) if name.endswith(".json") else parse_events(text, diagnostics)
    if root is None and not diagnostics.found:
        diagnostics.stop("the file is empty", hint=f"it needs a mapping with {keys}")
    if not isinstance(root, Table):
        diagnostics.stop(f"the file must be a mapping with keys such as {keys}", (1, 1))
    return root, diagnostics


def read_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a regular file of bearable size; raises CriteriaError."""
    place = Place(name)
    try:
        data = read_twice(lambda: _bytes_of(path, place))
    except FileNotFoundError:
        raise CriteriaError("there is no such file", place=place) from None
    except IsADirectoryError:
        hint = "name the criteria file in it"
        raise CriteriaError(
            "this is a folder, not a criteria file", place=place, hint=hint
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = TRY_AGAIN if is_transient(error) else ""
        found = CriteriaError(f"cannot be read: {reason}", place=place, hint=hint)
        raise for_cause(found, error) from None
    if len(data) > MAX_BYTES:
        limit = f"{MAX_BYTES // 1024 // 1024} MB"
        raise CriteriaError(f"the file is larger than {limit}", place=place, hint="split it")
    return data


def _bytes_of(path: Path, place: Place) -> bytes:
    # Not blocking: a named pipe would wait for a writer.
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise CriteriaError("this is not a regular file", place=place)
        return file.read(MAX_BYTES + 1)


def _decode(data: bytes, diagnostics: Diagnostics) -> str:
    try:
        text = data.decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n") if b"\r" in data else text
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        spot = before.count("\n") + 1, len(before) - before.rfind("\n")
        diagnostics.stop(
            f"the file is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}",
            spot,
            hint="save it as UTF-8",
        )


def _json(text: str, diagnostics: Diagnostics) -> Any:

    return read_json(text, diagnostics) if text.strip() else None


def parse_events(text: str, diagnostics: Diagnostics) -> Any:
    """Return the value of a YAML text; raises CriteriaError."""
    try:
        return build(yaml_events(text), diagnostics)
    except ForbiddenCharacterError as error:
        diagnostics.stop(error.reason, (error.line, error.column))
    except DataSyntaxError as error:
        spot: Spot = (error.line or 1, error.column or 1)
        hint = _remedy(error.reason, diagnostics.line(spot[0]), spot[1])
        diagnostics.stop(f"this is not valid YAML: {error.message()}", spot, hint=hint)


def _remedy(problem: str, line: str, column: int) -> str:
    """Return what to do about a syntax error that people make often."""
    character = line[column - 1 : column]
    if "Unicode" in problem:
        return "write the character itself"
    if "escape" in problem:
        return "put the text in single quotes, where a backslash stands for itself"
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "indent with spaces, not with tabs"
    if "cannot start any token" in problem and character:
        return f"put a text that starts with {character} in quotes"
    if "mapping values are not allowed" in problem:
        return 'put a text that holds ": " in quotes, and look at the indentation'
    if "block sequence entries" in problem:
        return 'put a text that starts with "- " in quotes'
    if "expected comment or line break" in problem:
        return "put a text that starts with | or > in quotes"
    if "end of stream" in problem:
        return "close the quotes"
    if "alphabetic or numeric" in problem:
        return "put a text that starts with * or & in quotes"
    if any(sign in line for sign in "{[\"'"):
        return "put the whole value in one pair of quotes"
    return "look at the indentation"
