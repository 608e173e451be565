"""Variables that keep caches of what was judged before out of a judgement: an agent can write them.

Bytecode, the caches of mypy, ruff and pytest, and the data of coverage lie in one private folder,
which is removed afterwards. Limits: a tool with a cache of its own reads that one still.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pytest_reflex.process.temporary import temporary_folder

_PREFIX = "pytest-reflex-"
_NO_PYTEST_CACHE = "-p no:cacheprovider"


@contextmanager
def private_caches(inherited: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield the variables to set over `inherited` for commands that have to judge without a past.

    Options in an inherited PYTEST_ADDOPTS are kept.
    """
    with temporary_folder(_PREFIX) as folder:
        options = (inherited.get("PYTEST_ADDOPTS", "").strip(), _NO_PYTEST_CACHE)
        yield {
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "MYPY_CACHE_DIR": str(folder / "mypy"),
            "RUFF_NO_CACHE": "true",
            "PYTEST_ADDOPTS": " ".join(filter(None, options)),
            "COVERAGE_FILE": str(folder / "coverage"),
        }
