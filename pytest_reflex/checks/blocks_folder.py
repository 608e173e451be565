"""The fenced blocks of an artifact as files for commands, in one read-only folder."""

from __future__ import annotations

import os
import re
import weakref
from pathlib import Path
from threading import Lock

from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.process.guard import make_folder, remove_folder

_FENCE = re.compile(rb"^[ \t>*+-]*(?:```|~~~)", re.MULTILINE)
_WORD = re.compile(r"[a-z0-9]{1,16}")
_SUFFIXES = {
    "bash": "sh",
    "console": "txt",
    "javascript": "js",
    "markdown": "md",
    "python": "py",
    "python3": "py",
    "rust": "rs",
    "shell": "sh",
    "text": "txt",
    "typescript": "ts",
    "yml": "yaml",
}


class BlocksFolder:
    """A private folder with one file for each block, shared by the commands of one evaluation.

    Files are named after number and line of the block (`001-line-12.yaml`). The blocks of a folder
    lie in one folder for each of its files. What is not UTF-8 text has no blocks. Folder and files
    are write-protected, so that no command can mislead the next. It is removed by `close`, at the
    latest when this object or the process ends.
    """

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._lock = Lock()
        self._path: Path | None = None
        self._remove: weakref.finalize[[Path, int], BlocksFolder] | None = None

    def __call__(self) -> Path:
        """Return the folder; it is made by the first call."""
        with self._lock:
            if self._path is None:
                self._path = make_folder("reflex-blocks-")
                self._remove = weakref.finalize(self, _remove, self._path, os.getpid())
                _fill(self._path, self._artifact)
            return self._path

    def close(self) -> None:
        """Remove the folder, if it was made."""
        with self._lock:
            if self._remove is not None:
                self._remove()
            self._path = self._remove = None


def _fill(folder: Path, artifact: Artifact) -> None:
    for file in artifact.files or (artifact,):
        if _FENCE.search(file.data):
            _write(file, folder / file.name if artifact.is_folder else folder)
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            os.chmod(Path(parent, name), 0o400)
        os.chmod(parent, 0o500)


def _write(artifact: Artifact, folder: Path) -> None:
    from pytest_reflex.checks.structure.markdown.model import blocks

    try:
        found = blocks(artifact.text)
    except ArtifactError:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for number, block in enumerate(found, start=1):
        name = f"{number:03}-line-{block.line}.{_suffix(block.language)}"
        (folder / name).write_bytes(block.text.encode())


def _suffix(language: str) -> str:
    known = _SUFFIXES.get(language, language)
    return known if _WORD.fullmatch(known) else "txt"


def _remove(folder: Path, owner: int) -> None:
    # A fork of the owner has this to remove as well, and must not.
    if os.getpid() != owner:
        return
    remove_folder(folder)
