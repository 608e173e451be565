"""Files that have rules and were not collected: skipped as a whole, or never reached.

Nobody knows what their rules would have said, so a gate that left them out would pass unmeasured.
A file has rules if it is a suite, or a test module whose source mentions the mark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_reflex.session.options import MARK

_SUITE = ".reflex.yaml"
_CUT_SHORT = "not collected: pytest.exit() ended the session first"


def skipped_files(report: pytest.CollectReport, config: pytest.Config) -> dict[str, str]:
    """Return the files with rules that a skipped collector stands for, each with the reason."""
    path = config.rootpath / report.nodeid.partition("::")[0]
    found = [_id(one, config) for one in _files_with_rules(path, config)]
    if not found:
        return {}
    from pytest_reflex.session.items import skip_reason

    return dict.fromkeys(found, skip_reason(report))


def unreached_files(config: pytest.Config) -> dict[str, str]:
    """Return the files with rules below the arguments of a session that never ran an item."""
    start = config.invocation_params.dir
    paths = [start / argument.partition("::")[0] for argument in config.args]
    roots = [path for path in paths if path.exists()] or [config.rootpath]
    ids = (_id(one, config) for root in roots for one in _files_with_rules(root, config))
    return dict.fromkeys(ids, _CUT_SHORT)


def _files_with_rules(path: Path, config: pytest.Config) -> Iterator[Path]:
    modules, closed = config.getini("python_files"), config.getini("norecursedirs")
    start = config.invocation_params.dir
    ignored = {os.path.abspath(start / one) for one in config.getoption("ignore", None) or ()}
    if str(path) in ignored:
        return
    if not path.is_dir():
        if _has_rules(path):
            yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(
            one
            for one in folders
            if one != "__pycache__"
            and not any(fnmatch(one, pattern) for pattern in closed)
            and os.path.join(folder, one) not in ignored
        )
        for one in sorted(Path(folder, name) for name in names):
            is_module = one.suffix == ".py" and any(_matches(one, each) for each in modules)
            collected = is_module or one.name.endswith(_SUITE)
            if collected and str(one) not in ignored and _has_rules(one):
                yield one


def _matches(path: Path, pattern: str) -> bool:
    return path.match(pattern) if "/" in pattern else fnmatch(path.name, pattern)


def _has_rules(path: Path) -> bool:
    if path.name.endswith(_SUITE):
        return True
    try:
        return path.suffix == ".py" and MARK.encode() in path.read_bytes()
    except OSError:
        return False


def _id(path: Path, config: pytest.Config) -> str:
    return Path(os.path.relpath(path, config.rootpath)).as_posix()
