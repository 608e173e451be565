"""How far `extends` and `criteria` reach: a file takes over what lies in its own project."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_REPOSITORY = (".git", ".hg")
_CONFIGURATION = (
    *("pyproject.toml", "pytest-reflex.toml", "pytest.ini", ".pytest.ini"),
    *("tox.ini", "setup.cfg", "setup.py"),
)


def reaches(file: Path, other: Path) -> bool:
    """Return whether a criteria file may take over `other`, links followed.

    It may below its own folder, below the root of its project (the nearest repository; else the
    nearest folder with a configuration file), and below the working directory, if it lies there
    itself. Nothing reaches the whole file system.
    """
    wanted = other.resolve()
    homes = {file.absolute().parent, file.resolve().parent}
    return any(wanted.is_relative_to(root) for home in homes for root in _roots(home, Path.cwd()))


@lru_cache(maxsize=64)
def _roots(home: Path, working: Path) -> tuple[Path, ...]:
    above = [project] if (project := _project(home)) else []
    if home.is_relative_to(working):
        above.append(working)
    return (home.resolve(), *(root.resolve() for root in above if root != Path(root.anchor)))


def _project(home: Path) -> Path | None:
    return next(_holding(home, _REPOSITORY), None) or next(_holding(home, _CONFIGURATION), None)


def _holding(home: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """Yield the folders from `home` upwards that hold one of the names."""
    for folder in (home, *home.parents):
        if any((folder / name).exists() for name in names):
            yield folder
