"""The files of a run over a session: artifact.md tells the changes, the project's files have them.

Promises: as `RunFiles`; the project's files follow the history like artifact.md does, so that a
crash between an event and its files is rolled forward, and what a person changed is judged next.
What is no text file of the project (a link, a folder, bytes) is nobody's artifact: the recorded one
is put in its place.
Limits: a change of artifact.md itself is nobody's change: it is written anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.pytest_loop.difference import document, rebuilt
from pytest_reflex.drivers.pytest_loop.refusing import clear, clear_way, faults
from pytest_reflex.drivers.pytest_loop.sealed import Start
from pytest_reflex.drivers.pytest_loop.territory import Territory
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.statefile import RUN, read_object
from pytest_reflex.errors import ArtifactError, StateError

TREE = "tree"
REFUSED = "refused"  # the folder of a run to which is moved what lies in an artifact's place


class TreeFiles(RunFiles):
    """A run whose artifact is the difference of the project's files from the start."""

    _follow = True
    _told: tuple[str, ...] = ()

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
    def links(self) -> Mapping[str, str]:
        """Where the links lead that were among the files at the start, by path."""
        links: Mapping[str, str] = self.tree.get("links", {})
        return links

    @property
    def start(self) -> Start:
        return Start.from_json(self.tree["sealed"])

    def document(self) -> str:
        """Return the document of changes as the files have it now; raises ArtifactError."""
        return document(self.beginning, self.territory.read())

    def objection(self) -> str:
        """Return why the files as they are now are no artifacts, an empty string where they are."""
        if found := faults(self.territory, self.recorded(), self.links):
            return "; ".join(found.values())
        try:
            self.territory.read()
        except ArtifactError as error:
            return error.problems[0].message
        return ""

    def recorded(self) -> dict[str, str]:
        """Return the files as the history has them."""
        return rebuilt(self.beginning, self._text) if self._text else dict(self.beginning)

    def settle(self) -> bool:
        """Put what is recorded in the place of what is no artifact; return whether any was.

        `refused` tells of it later.
        """
        recorded = self.recorded()
        found = faults(self.territory, recorded, self.links)
        for place in found:
            clear(self.project, place, self.folder / REFUSED)
        for path, text in recorded.items():
            if any(path == place or path.startswith(f"{place}/") for place in found):
                clear_way(self.project, path, self.folder / REFUSED, self.links)
                self.territory.write_one(path, text)
        for place in found.keys() & self.links.keys():
            with suppress(OSError):  # somebody has put something else there
                (self.project / place).symlink_to(self.links[place])
        self._told += tuple(found.values())
        return bool(found)

    def put_back(self) -> None:
        """Make the files what the history has; raises StateError."""
        self.settle()
        self._told = ()  # who refuses an answer says so
        self._write_tree(self.recorded())

    def refused(self) -> tuple[str, ...]:
        """Return what was put in its place since this was asked last, and why."""
        told, self._told = self._told, ()
        return told

    def _found(self) -> bytes | None:
        self.settle()
        text = self.document()
        if text == self._text and super()._found() != text.encode():
            super()._write_artifact()
        return text.encode()

    def _write_artifact(self) -> None:
        if self._follow:
            self._write_tree(rebuilt(self.beginning, self._text))
        super()._write_artifact()

    def _write_tree(self, texts: Mapping[str, str]) -> None:
        self.settle()
        territory = self.territory
        for path in texts:
            clear_way(self.project, path, self.folder / REFUSED, self.links)
        territory.write(texts)

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
    links: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what run_started keeps of a project whose run lies in `folder`."""
    return {
        "root": os.path.relpath(project.absolute(), folder.absolute()),
        "patterns": list(territory.patterns),
        "files": dict(texts),
        "links": dict(links or {}),
        "sealed": start.to_json(),
    }
