"""What a run is sealed against at any time: a change of its rules, its plugins, its own record.

At the start one hash is taken over rules, checks, thresholds and plugins, and a manifest of the
files that they come from. Both are in run_started, so that a resume notices what was done while
nobody looked. All else in the project is for `project_watch`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from pytest_reflex.drivers.common.judging_files import (
    loaded_from,
    patterns_of,
    sources_of,
)
from pytest_reflex.model.rules import Criteria
from pytest_reflex.seals.manifest import Manifest, compare, look_again, take
from pytest_reflex.seals.patterns import escaped, is_meant
from pytest_reflex.seals.world import pytest_files, up_to

_TOLD = 3


def seal_of(criteria: Criteria, plugins: Iterable[str] = ()) -> str:
    """Return the SHA-256 that changes where criteria or the source of a plugin change."""
    text = json.dumps(criteria.to_json(), sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in plugins:
        for path in sources_of(name):
            digest.update(f"\0{name}\0{path.name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def manifest_of(
    *, files: Iterable[Path], plugins: Iterable[str], artifact: Path, project: Path
) -> Manifest:
    """Return the manifest of what the rules and the plugins of a run are made of.

    `files` are those that the criteria and prompts were read from; `artifact` is the run's: what
    pytest would read beside it is held too.
    """
    plugins = list(plugins)
    patterns = [escaped(_inside(path, project)) for path in files]
    patterns += [pattern for plugin in plugins for pattern in patterns_of(plugin)]
    patterns += pytest_files([_inside(artifact.parent, project)])
    if plugins:
        patterns += [escaped(_inside(path, project)) for path in loaded_from(project)]
    return take(patterns, root=project)


def rule_files(
    *,
    files: Iterable[Path],
    plugins: Iterable[str],
    artifact: Path,
    project: Path,
    link_base: Path | None = None,
) -> list[str]:
    """Return patterns of what holds the rules: criteria, prompts, plugins, pytest's own files.

    No result may be written there. `link_base` is the folder of the draft; the other parameters are
    those of `manifest_of`.
    """
    folders = [*up_to(project, artifact)]
    if link_base is not None:
        folders += up_to(project, link_base / "draft")
    patterns = [escaped(_inside(path, project)) for path in files]
    patterns += pytest_files(_inside(folder, project) for folder in dict.fromkeys(folders))
    return patterns + [pattern for plugin in plugins for pattern in patterns_of(plugin)]


def holds_rules(path: Path, patterns: Iterable[str], project: Path) -> bool:
    """Return whether a file, or what a link leads to, is one that patterns mean."""
    base = project.resolve()
    wanted = [PurePath(os.path.realpath(base / pattern)).as_posix() for pattern in patterns]
    return is_meant(path.resolve().as_posix(), wanted)


def _inside(path: Path, project: Path) -> Path:
    """Return a path relative to the project where it lies there: a project may be moved."""
    full, base = path.absolute(), project.absolute()
    return full.relative_to(base) if full.is_relative_to(base) else full


class Watch:
    """Looks whether things are as the first event of a run has them.

    A run begun by a version without manifests is held by its seal alone.
    """

    def __init__(self, started: Mapping[str, Any], project: Path) -> None:
        self._seal = started["seal"]
        self._plugins = started["setup"].get("plugins", ())
        self._criteria = started["criteria"]
        wire = started.get("sealed")
        self._manifest = Manifest.from_json(wire, project) if wire else None

    def tampering(self) -> str:
        """Return which files were added, changed or removed since the start; empty for none."""
        if self._manifest is None:
            same = seal_of(Criteria.from_json(self._criteria), self._plugins) == self._seal
            return "" if same else "the rules or the code of a plugin were changed"
        found = look_again(self._manifest)
        changes = compare(self._manifest, found)
        if not changes:
            self._manifest = found
        return told(map(str, changes))


def told(changes: Iterable[str]) -> str:
    """Return some changes in one line."""
    found = list(changes)
    more = f"; and {len(found) - _TOLD} more" if len(found) > _TOLD else ""
    return "; ".join(found[:_TOLD]) + more
