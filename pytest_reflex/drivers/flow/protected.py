"""What judges a flow's work, held as it was when the run began: put back where an act changed it.

The bytes lie in the folder of the run's state, so that a resumed run can put them back too. What
lies outside the project, or is too large, cannot be put back: a change of it is told all the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_reflex.errors import StateError
from pytest_reflex.store.atomic import remove_file, replace_file
from pytest_reflex.store.folders import make_folder
from pytest_reflex.store.regular import read_if_regular

_MOST_BYTES = 16_000_000


class KeptFiles:
    """Files by their path in the project, and copies of them in `folder`."""

    def __init__(self, project: Path, folder: Path, hashes: Mapping[str, str]) -> None:
        self._project, self._folder, self.hashes = project, folder, dict(hashes)

    @classmethod
    def keep(cls, project: Path, folder: Path, names: Iterable[str]) -> KeptFiles:
        """Return the files as they are now, with copies of them; raises StateError."""
        make_folder(folder)
        hashes = {}
        for name in names:
            data = read_if_regular(project / name, _MOST_BYTES)
            hashes[name] = "" if data is None else hashlib.sha256(data).hexdigest()
            if data is not None and not (folder / hashes[name]).exists():
                replace_file(folder / hashes[name], data)
        return cls(project, folder, hashes)

    def names(self) -> tuple[str, ...]:
        """Return the names of the files that were there."""
        return tuple(name for name, sha in self.hashes.items() if sha)

    def changed(self) -> list[str]:
        """Return the names of those that are not as they were."""
        return [name for name, sha in self.hashes.items() if self._hash_now(name) != sha]

    def restore(self) -> list[str]:
        """Put back what was changed, and return its names; raises StateError where that fails."""
        changed = self.changed()
        for name in changed:
            path, sha = self._project / name, self.hashes[name]
            if not sha:
                remove_file(path)
                continue
            data = read_if_regular(self._folder / sha, _MOST_BYTES)
            if data is None or hashlib.sha256(data).hexdigest() != sha:
                raise StateError(f"{name} was changed, and there is no copy of it any more")
            if os.path.lexists(path) and not path.is_dir():
                remove_file(path)  # a link in its place is not followed
            make_folder(path.parent)
            replace_file(path, data)
        return changed

    def _hash_now(self, name: str) -> str:
        path = self._project / name
        if not os.path.lexists(path):
            return ""
        try:
            data = read_if_regular(path, _MOST_BYTES)
        except StateError:
            return "no regular file"
        return "no regular file" if data is None else hashlib.sha256(data).hexdigest()
