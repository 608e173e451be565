"""The files of a run over a session: artifact.md tells the changes, the project's files have them.

Promises: the project's files follow the history like artifact.md does, so that a crash between an
event and its files is rolled forward, and what a person changed is judged next.
What is not a text file of the project (a link, a folder, bytes) is nobody's artifact: the recorded
one is put in its place.
Limits: a change of artifact.md itself is nobody's change: it is written anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.workspace import TextFile
from pytest_reflex.drivers.pytest_loop.difference import document, rebuilt
from pytest_reflex.drivers.pytest_loop.refusing import clear, clear_way, faults
from pytest_reflex.drivers.pytest_loop.sealed import Start
from pytest_reflex.drivers.pytest_loop.territory import Territory
from pytest_reflex.drivers.reflex.history import RecordedRun
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.errors import ArtifactError, StateError

TREE = "tree"
REFUSED = "refused"  # the folder of a run to which is moved what lies in an artifact's place


class ProjectFiles:
    """The files of a project as what a run works on: its artifact is their difference."""

    def __init__(self, run: RecordedRun) -> None:
        self._run, self._copy = run, TextFile(run.artifact_path)
        self._told: tuple[str, ...] = ()

    @property
    def tree(self) -> Mapping[str, Any]:
        """What run_started keeps of the project; raises StateError where it keeps nothing."""
        found = self._run.latest_events()[0].payload.get(TREE)
        if not isinstance(found, Mapping):
            raise StateError(f"{self._run.folder} holds no loop over a pytest session")
        return found

    @property
    def project(self) -> Path:
        """The root folder; a project may be moved with its runs."""
        return Path(os.path.normpath(self._run.folder.absolute() / self.tree["root"]))

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
        """Return why the files as they are now are not artifacts, an empty string where they
        are.
        """
        if found := faults(self.territory, self.recorded(), self.links):
            return "; ".join(found.values())
        try:
            self.territory.read()
        except ArtifactError as error:
            return error.problems[0].message
        return ""

    def recorded(self) -> dict[str, str]:
        """Return the files as the history has them."""
        return self._files_of(self._run.artifact_text())

    def _files_of(self, text: str) -> dict[str, str]:
        return rebuilt(self.beginning, text) if text else dict(self.beginning)

    def settle(self) -> bool:
        """Put what is recorded in place of what is not an artifact; return whether any was.

        `refused` tells of it later.
        """
        recorded = self.recorded()
        found = faults(self.territory, recorded, self.links)
        for place in found:
            clear(self.project, place, self._run.folder / REFUSED)
        for path, text in recorded.items():
            if any(path == place or path.startswith(f"{place}/") for place in found):
                clear_way(self.project, path, self._run.folder / REFUSED, self.links)
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

    def read(self) -> bytes | None:
        """Return the document of changes as the files have it now; our own copy follows it."""
        self.settle()
        text = self.document()
        if text == self._run.artifact_text() and self._copy.read() != text.encode():
            self._copy.write(text)
        return text.encode()

    def write(self, text: str, *, follow: bool = True) -> None:
        """Make the files what a document of changes says, and our own copy with them."""
        if follow:
            self._write_tree(self._files_of(text))
        self._copy.write(text)

    def _write_tree(self, texts: Mapping[str, str]) -> None:
        self.settle()
        territory = self.territory
        for path in texts:
            clear_way(self.project, path, self._run.folder / REFUSED, self.links)
        territory.write(texts)


def create_run(root: Path, task: str, alias: str | None) -> RunFiles:
    """Make the folder of a new run over a project, exclusively, and take its lock."""
    return RunFiles.create(root, task, alias, ProjectFiles)


def open_run(folder: Path) -> RunFiles:
    """Take the lock of a run over a project, and bring its files to what its history says."""
    return RunFiles.open(folder, ProjectFiles)


def project_of(files: RunFiles) -> ProjectFiles:
    """Return what a run over a project works on."""
    assert isinstance(files.workspace, ProjectFiles)
    return files.workspace


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
