"""Where code and options enter a Python test run from outside, and what part of such a file counts.

The files are patterns for `manifest.take`: pytest's and the interpreter's. A pyproject.toml changes
for many reasons; only its tables for pytest and for its plugins bear on a verdict. The same goes
for setup.cfg and tox.ini, and for the entry points of a distribution. Limits: the files are those
of the interpreter that runs this program; a command may start another one.
"""

from __future__ import annotations

import json
import os
import site
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.integrity.patterns import all_escaped

CONFIGURATIONS = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
"""Files in which pytest looks for its options."""

_CUSTOM = (
    "sitecustomize.py",
    "usercustomize.py",
    "sitecustomize/__init__.py",
    "usercustomize/__init__.py",
)
_SITE = ("*.pth", "*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")


def pytest_files(folders: Iterable[Path]) -> list[str]:
    """Return patterns of what a pytest session in one of the folders would read or import."""
    bases = all_escaped(folders)
    return [f"{base}/{name}" for base in bases for name in ("conftest.py", *CONFIGURATIONS)]


def configured_options(project: Path) -> Iterator[str]:
    """Yield the texts in which a project configures pytest, as far as they can be read."""
    for name in CONFIGURATIONS:
        with suppress(OSError, ValueError):
            yield (project / name).read_text(encoding="utf-8")


def interpreter_files() -> list[str]:
    """Return patterns of what every start of this interpreter runs, and of its pytest plugins."""
    user = site.getusersitepackages()
    sites = [*site.getsitepackages(), *([user] if user else [])]
    entries = [os.path.abspath(one) for one in dict.fromkeys(filter(os.path.isdir, sys.path))]
    *bases, prefix = all_escaped([*sites, *entries, sys.prefix])
    found = [f"{base}/{name}" for base in bases[: len(sites)] for name in _SITE]
    found += [f"{base}/{name}" for base in bases[len(sites) :] for name in _CUSTOM]
    return [*found, f"{prefix}/pyvenv.cfg"]


def up_to(project: Path, path: Path) -> Iterator[Path]:
    """Yield the folder that a path is in and those above it, up to the project's.

    Outside the project only the folder itself.
    """
    base = Path(os.path.abspath(project))
    folder = Path(os.path.abspath(path)).parent
    yield folder
    while folder != base and folder.is_relative_to(base):
        folder = folder.parent
        yield folder


_Reader = Callable[[str], Mapping[str, Any]]


def sealed_part(path: str, data: bytes) -> bytes | None:
    """Return the bytes of a file that count, None where it says nothing that does.

    Where the file cannot be read as what it should be, all of it counts.
    """
    reader = _READERS.get(PurePath(path).name)
    return data if reader is None else _part(reader, data)


def sealed_parts(files: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Return `sealed_part` of each file, by its path."""
    return {path: sealed_part(path, data) for path, data in files.items()}


def chosen_part(path: str, data: bytes, sections: Iterable[str]) -> bytes | None:
    """Return the bytes of some sections of a file, None where it has none of them.

    A section is a table of TOML by its dotted name, a member of a JSON object, or a section of an
    INI file. Where the file cannot be read as what it should be, all of it counts.
    """
    read: Callable[..., _Reader] = _FORMATS.get(PurePath(path).suffix, _sections)
    return _part(read(*sections), data)


def _part(reader: _Reader, data: bytes) -> bytes | None:
    try:
        found = reader(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # no UTF-8, or not of that format
        return data
    return json.dumps(found, sort_keys=True, default=str).encode() if found else None


def _pyproject(text: str) -> Mapping[str, Any]:
    import tomllib

    tools = tomllib.loads(text).get("tool", {})
    if not isinstance(tools, dict):
        return {}
    return {name: table for name, table in tools.items() if name == "pytest"}


def _sections(*wanted: str) -> Callable[[str], Mapping[str, Any]]:
    def read(text: str) -> Mapping[str, Any]:
        from configparser import Error, RawConfigParser

        parser = RawConfigParser(strict=False, delimiters=("=", ":"), allow_no_value=True)
        parser.optionxform = str  # type: ignore[method-assign,assignment]  # case counts
        try:
            parser.read_string(text)
        except Error as error:
            raise ValueError(str(error)) from None
        return {name: dict(parser[name]) for name in wanted if parser.has_section(name)}

    return read


def _tables(*wanted: str) -> Callable[[str], Mapping[str, Any]]:
    def read(text: str) -> Mapping[str, Any]:
        import tomllib

        document = tomllib.loads(text)
        return {name: found for name in wanted if (found := _within(document, name)) is not None}

    return read


def _within(document: Any, name: str) -> Any:
    for key in name.split("."):
        if not isinstance(document, dict) or key not in document:
            return None
        document = document[key]
    return document


def _members(*wanted: str) -> Callable[[str], Mapping[str, Any]]:
    def read(text: str) -> Mapping[str, Any]:
        document = json.loads(text)
        if not isinstance(document, dict):
            return {}
        return {name: document[name] for name in wanted if name in document}

    return read


_FORMATS: Mapping[str, Callable[..., _Reader]] = {
    ".toml": _tables,
    ".json": _members,
}

_READERS: Mapping[str, Callable[[str], Mapping[str, Any]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _sections("tool:pytest"),
    "tox.ini": _sections("pytest", "tool:pytest"),
    "entry_points.txt": _sections("pytest11"),
}
READ_IN_PARTS = frozenset(_READERS)
"""Names of files of which not all counts."""
