"""Variables that keep caches of what was judged before out of a judgement: an agent can write them.

Bytecode, the caches of mypy, ruff and pytest, the data of coverage and the examples of hypothesis
lie in one private folder, which is removed afterwards. Limits: a tool with a cache of its own reads
that one still.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from pytest_reflex.process.temporary import temporary_folder

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
