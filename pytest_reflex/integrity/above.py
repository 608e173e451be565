"""What tools read that search upwards from a project: configuration in the folders above it.

pytest, mypy, ruff, git and the tools of other languages do; git also follows a `.git` that leads
elsewhere. Some read the configuration of the user as well. Patterns for `manifest.take`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import glob
from pathlib import Path

from pytest_reflex.integrity.patterns import escaped
from pytest_reflex.integrity.tool_inputs import pytest_files

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
        above = escaped(folder)
        yield from (f"{above}/{name}" for name in (*OF_TOOLS, ".git"))
        yield from (f"{above}/.git/{name}" for name in _OF_GIT)
    for folder in (base, *base.parents):
        for place in _repositories(folder):
            yield from (f"{escaped(place)}/{name}" for name in _OF_GIT)
    yield from _files_of_user()
    yield from _files_of_variables(base)


def files_beside(folder: Path) -> Iterator[str]:
    """Yield patterns of what a tool reads or imports beside a file in a folder."""
    yield from pytest_files([folder])
    yield from (f"{escaped(folder)}/{name}" for name in (*OF_TOOLS, *_IMPORTED))


def _files_of_user() -> Iterator[str]:
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    places = ((home, _OF_USER), (config, _OF_USER_CONFIG))
    for folder, names in places:
        if os.path.isabs(folder):
            yield from (f"{escaped(folder)}/{name}" for name in names)


def _files_of_variables(base: Path) -> Iterator[str]:
    """Yield patterns of what variables have programs read: files, and modules on PYTHONPATH."""
    for name in _FILE_VARIABLES:
        for word in os.environ.get(name, "").replace(os.pathsep, " ").split():
            yield escaped(os.path.abspath(base / word))
    for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        folder = Path(os.path.abspath(base / entry))
        if entry and not folder.is_relative_to(base):
            names = _MODULES[:1] if base.is_relative_to(folder) else _MODULES
            yield from (f"{escaped(folder)}/{one}" for one in names)


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
    found = glob(f"{escaped(repository / 'modules')}/**/HEAD", recursive=True)
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
