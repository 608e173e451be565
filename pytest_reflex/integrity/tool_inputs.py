"""Where code and options enter a run from outside: interpreter, environment, configuration in
parent folders.

The files are patterns for `manifest.take`: pytest's and the interpreter's. A pyproject.toml changes
for many reasons; only its tables for pytest and for its plugins bear on a verdict. The same goes
for setup.cfg and tox.ini, and for the entry points of a distribution. Limits: the files are those
of the interpreter that runs this program; a command may start another one.

pytest, mypy, ruff, git and the tools of other languages do; git also follows a `.git` that leads
elsewhere. Some read the configuration of the user as well. Patterns for `manifest.take`.
"""

from __future__ import annotations

import json
import os
import site
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from glob import glob
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.integrity.patterns import escape_path, escape_paths

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
    bases = escape_paths(folders)
    return [f"{base}/{name}" for base in bases for name in ("conftest.py", *CONFIGURATIONS)]


def read_pytest_options(project: Path) -> Iterator[str]:
    """Yield the texts in which a project configures pytest, as far as they can be read."""
    for name in CONFIGURATIONS:
        with suppress(OSError, ValueError):
            yield (project / name).read_text(encoding="utf-8")


def interpreter_files() -> list[str]:
    """Return patterns of what every start of this interpreter runs, and of its pytest plugins."""
    user = site.getusersitepackages()
    sites = [*site.getsitepackages(), *([user] if user else [])]
    entries = [os.path.abspath(one) for one in dict.fromkeys(filter(os.path.isdir, sys.path))]
    *bases, prefix = escape_paths([*sites, *entries, sys.prefix])
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


def extract_relevant(path: str, data: bytes) -> bytes | None:
    """Return the bytes of a file that count, None where it says nothing that does.

    Where the file cannot be read as what it should be, all of it counts.
    """
    reader = _READERS.get(PurePath(path).name)
    return data if reader is None else _part(reader, data)


def extract_all(files: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Return `extract_relevant` of each file, by its path."""
    return {path: extract_relevant(path, data) for path, data in files.items()}


def extract_sections(path: str, data: bytes, sections: Iterable[str]) -> bytes | None:
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


OF_TOOLS = (
    *("mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml", ".coveragerc", ".flake8", ".isort.cfg"),
    *("pylintrc*", ".pylintrc*", "pyrightconfig.json", "uv.toml", ".python-version", ".yamllint*"),
    *(".editorconfig", ".env", ".envrc", ".tool-versions", "mise.toml", ".mise.toml"),
    *("package.json", "tsconfig*.json", "jsconfig.json", ".npmrc", ".yarnrc*", ".nvmrc"),
    *(".node-version", ".eslintrc*", "eslint.config.*", ".eslintignore", ".prettierrc*"),
    *("prettier.config.*", ".prettierignore", ".babelrc*", "babel.config.*", ".stylelintrc*"),
    *("stylelint.config.*", "jest.config.*", "vitest.config.*", "biome.json*", "deno.json*"),
    *(".markdownlint*", ".vale.ini", ".codespellrc", "Cargo.toml", ".cargo/config*"),
    *("rustfmt.toml", ".rustfmt.toml", "clippy.toml", ".clippy.toml", "rust-toolchain*"),
    *("go.mod", "go.work", ".golangci.*", ".clang-format", ".clang-tidy", ".rubocop.yml"),
    *(".gitignore", ".gitattributes"),
)
"""Files in which a tool looks for its options in the folder of what it reads and in those above."""

_OF_USER = (".gitconfig", ".mypy.ini", ".pylintrc", ".npmrc", ".markdownlint*")
_OF_USER_CONFIG = ("git/*", "mypy/config", "ruff/*.toml", "pylintrc", "uv/*.toml", "pip/pip.conf")
_OF_INFO = ("attributes", "exclude", "grafts", "sparse-checkout")
_OF_GIT = ("config", "config.worktree", "hooks/*", *(f"info/{n}" for n in _OF_INFO))
_IMPORTED = ("*.py", "*/__init__.py")
_FILE_VARIABLES = (
    *("BASH_ENV", "ENV", "MAKEFILES", "LD_PRELOAD", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"),
    *("COVERAGE_RCFILE", "PYLINTRC", "RUFF_CONFIG", "UV_CONFIG_FILE", "PIP_CONFIG_FILE"),
    *("NPM_CONFIG_USERCONFIG", "npm_config_userconfig"),
)
_MODULES = ("*.py", "*/*.py", "*/*/*.py")
_LONGEST = 4096


def files_above(project: Path) -> Iterator[str]:
    """Yield patterns of configuration that lies outside a project and is read for it."""
    base = Path(os.path.abspath(project))
    yield from pytest_files(base.parents)
    for folder in base.parents:
        above = escape_path(folder)
        yield from (f"{above}/{name}" for name in (*OF_TOOLS, ".git"))
        yield from (f"{above}/.git/{name}" for name in _OF_GIT)
    for folder in (base, *base.parents):
        for place in _repositories(folder):
            yield from (f"{escape_path(place)}/{name}" for name in _OF_GIT)
    yield from _files_of_user()
    yield from _files_of_variables(base)


def files_beside(folder: Path) -> Iterator[str]:
    """Yield patterns of what a tool reads or imports beside a file in a folder."""
    yield from pytest_files([folder])
    yield from (f"{escape_path(folder)}/{name}" for name in (*OF_TOOLS, *_IMPORTED))


def _files_of_user() -> Iterator[str]:
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    places = ((home, _OF_USER), (config, _OF_USER_CONFIG))
    for folder, names in places:
        if os.path.isabs(folder):
            yield from (f"{escape_path(folder)}/{name}" for name in names)


def _files_of_variables(base: Path) -> Iterator[str]:
    """Yield patterns of what variables have programs read: files, and modules on PYTHONPATH."""
    for name in _FILE_VARIABLES:
        for word in os.environ.get(name, "").replace(os.pathsep, " ").split():
            yield escape_path(os.path.abspath(base / word))
    for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        folder = Path(os.path.abspath(base / entry))
        if entry and not folder.is_relative_to(base):
            names = _MODULES[:1] if base.is_relative_to(folder) else _MODULES
            yield from (f"{escape_path(folder)}/{one}" for one in names)


def _repositories(folder: Path) -> Iterator[Path]:
    """Yield where the `.git` of a folder leads: of a working tree, of a submodule, by a link."""
    git = folder / ".git"
    if git.is_symlink() and git.is_dir():
        yield from _with_modules(git.resolve())
    elif target := _text(git).removeprefix("gitdir:").strip():
        place = Path(os.path.abspath(folder / target))
        yield from _with_modules(place)
        if common := _text(place / "commondir").strip():
            yield from _with_modules(Path(os.path.abspath(place / common)))
    elif git.is_dir():
        yield from list(_with_modules(git))[1:]


def _with_modules(repository: Path) -> Iterator[Path]:
    """Yield a repository and those of its submodules, which keep their own hooks."""
    yield repository
    found = glob(f"{escape_path(repository / 'modules')}/**/HEAD", recursive=True)
    for head in found if (repository / "modules").is_dir() else ():
        if os.path.isdir(os.path.join(os.path.dirname(head), "refs")):
            yield Path(head).parent


def _text(path: Path) -> str:
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_LONGEST))
    except OSError:
        return ""
