"""What a person has decided about a project, kept in the state folder of that person.

It lies nowhere inside of the project: what is cloned, and what an agent writes there, decides
nothing. Promises: what cannot be read, or what somebody else may have written, is as if it were not
there. Limits: other programs of the same account can write there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError
from pytest_reflex.storage.atomic import replace_file
from pytest_reflex.storage.files import read_if_regular
from pytest_reflex.storage.folders import make_folder
from pytest_reflex.storage.lock import folder_lock
from pytest_reflex.storage.user_folders import is_private, place_of

_LONGEST = 4_000_000
_PROJECT = "project"


class UserFile:
    """One JSON object of a `kind` about one project; `path` is None where there can be none."""

    def __init__(self, kind: str, project: Path) -> None:
        from platformdirs import user_state_path

        self._project = os.path.realpath(project)
        place = place_of(project, user_state_path("pytest-reflex", appauthor=False) / kind)
        self.path = place and place.with_suffix(".json")

    def read(self) -> dict[str, Any]:
        """Return what was written last, empty where there is nothing to rely on."""
        if self.path is None or not is_private(self.path.parent):
            return {}
        try:
            data = read_if_regular(self.path, _LONGEST)
            wire = json.loads(data) if data is not None else {}
        except (OSError, StateError, ValueError, RecursionError):
            return {}
        if not isinstance(wire, dict) or wire.pop(_PROJECT, None) != self._project:
            return {}
        return wire

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """Yield what was written last, and write what has become of it; raises StateError."""
        if self.path is None:
            raise StateError(
                f"the user's state folder lies inside of {self._project}",
                hint="set XDG_STATE_HOME to a folder outside, or work in a folder of its own",
            )
        folder = self.path.parent
        try:
            for one in (folder.parent, folder):  # each for nobody else, whatever the umask is
                make_folder(one)
        except OSError as error:
            raise StateError(f"{folder} could not be made: {error.strerror}") from None
        if not is_private(folder):
            raise StateError(
                f"others can write in {folder}", hint=f"chmod go-w {folder} {folder.parent}"
            )
        with folder_lock(folder):
            wire = self.read()
            yield wire
            replace_file(self.path, _bytes({_PROJECT: self._project, **wire}))


def _bytes(wire: Mapping[str, Any]) -> bytes:
    return (json.dumps(wire, indent=1) + "\n").encode("ascii")
