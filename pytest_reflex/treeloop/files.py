"""The files of a run over a session: artifact.md tells the changes, the project's files have them.

Promises: as `RunFiles`; the project's files follow the history like artifact.md does, so that a
crash between an event and its files is rolled forward, and what a person changed is judged next.
Limits: a change of artifact.md itself is nobody's change: it is written anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_reflex.errors import StateError
from pytest_reflex.loops.runfiles import RunFiles
from pytest_reflex.loops.statefile import RUN, read_object
from pytest_reflex.treeloop.difference import document, rebuilt
from pytest_reflex.treeloop.sealed import Start
from pytest_reflex.treeloop.territory import Territory

TREE = "tree"


class TreeFiles(RunFiles):
    """A run whose artifact is the difference of the project's files from the start."""

    _follow = True

    @property
    def tree(self) -> Mapping[str, Any]:
        """What run_started keeps of the project; raises StateError where it keeps nothing."""
        found = self.latest_events()[0].payload.get(TREE)
        if not isinstance(found, Mapping):
            raise StateError(f"{self.folder} holds no loop over a pytest session")
        return found

    @property
    def project(self) -> Path:
        """The root folder; a project may be moved with its runs."""
        return Path(os.path.normpath(self.folder.absolute() / self.tree["root"]))

    @property
    def territory(self) -> Territory:
        return Territory(root=self.project, patterns=tuple(self.tree["patterns"]))

    @property
    def beginning(self) -> Mapping[str, str]:
        """The texts of the files at the start of the run."""
        texts: Mapping[str, str] = self.tree["files"]
        return texts

    @property
    def start(self) -> Start:
        return Start.from_json(self.tree["sealed"])

    def document(self) -> str:
        """Return the document of changes as the files have it now; raises ArtifactError."""
        return document(self.beginning, self.territory.read())

    def _found(self) -> bytes | None:
        text = self.document()
        if text == self._text and super()._found() != text.encode():
            super()._write_artifact()
        return text.encode()

    def _write_artifact(self) -> None:
        if self._follow:
            self.territory.write(rebuilt(self.beginning, self._text))
        super()._write_artifact()

    def _roll_forward(self) -> None:
        """Write the files that a crash kept from following the last event, and no others.

        run.json is written after them: where it knows the event, they followed, and what a person
        made of them since is theirs.
        """
        self._follow = read_object(self.folder / RUN).get("last_seq") != self.state.last_seq
        super()._roll_forward()
        self._follow = True


def tree_of(
    project: Path,
    folder: Path,
    *,
    territory: Territory,
    texts: Mapping[str, str],
    start: Start,
) -> dict[str, Any]:
    """Return what run_started keeps of a project whose run lies in `folder`."""
    return {
        "root": os.path.relpath(project.absolute(), folder.absolute()),
        "patterns": list(territory.patterns),
        "files": dict(texts),
        "sealed": start.to_json(),
    }
