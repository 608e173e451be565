"""Temporary folders that are removed in any case, also where we are killed, and caches in one.

What was judged before is kept out of a judgement by variables for its commands: an agent can write
caches. Bytecode, the caches of mypy, ruff and pytest, the data of coverage and the examples of
hypothesis lie in one private folder. Limits: a tool with a cache of its own reads that one still.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pytest_reflex.process.guard import GUARD


def make_folder(prefix: str) -> Path:
    """Make a private folder, to be removed with `remove_folder`."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    GUARD.keep(folder)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, write-protected or not.

    Of a link that somebody put in its place, the link alone.
    """
    if folder.is_symlink():
        folder.unlink()
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
    GUARD.drop(folder)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a private folder and remove it afterwards."""
    folder = make_folder(prefix)
    try:
        yield folder
    finally:
        remove_folder(folder)


_PREFIX = "reflex-caches-"


_WITHOUT_CACHE = "no:cacheprovider"


@contextmanager
def private_caches(
    inherited: Mapping[str, str], options: Iterable[str] = ()
) -> Iterator[Mapping[str, str]]:
    """Yield the variables to set over `inherited` for commands that have to judge without a past.

    Options in an inherited PYTEST_ADDOPTS are kept. `options` are texts with further options of
    pytest: where its cache is switched off, a strict configuration knows no folder for it.
    """
    with temporary_folder(_PREFIX) as folder:
        kept = inherited.get("PYTEST_ADDOPTS", "").strip()
        is_off = any(_WITHOUT_CACHE in text for text in (kept, *options))
        cache = shlex.quote(f"cache_dir={folder / 'pytest'}")
        own = f"-p {_WITHOUT_CACHE}" if is_off else f"-o {cache}"
        yield {
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "MYPY_CACHE_DIR": str(folder / "mypy"),
            "RUFF_NO_CACHE": "true",
            "PYTEST_ADDOPTS": f"{kept} {own}".strip(),
            "COVERAGE_FILE": str(folder / "coverage"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }
