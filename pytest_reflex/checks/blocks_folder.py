"""The fenced blocks of an artifact as files in a private folder, for the length of one command."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_reflex.errors import ArtifactError
from pytest_reflex.model.artifact import Artifact

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


@contextmanager
def blocks_folder(artifact: Artifact) -> Iterator[Path]:
    """Yield a folder that only we may enter, with one file for each block; remove it afterwards.

    Files are named after number and line of the block (`001-line-12.yaml`). The blocks of a folder
    lie in one folder for each of its files. What is not UTF-8 text has no blocks.
    """
    folder = Path(tempfile.mkdtemp(prefix="reflex-blocks-"))
    try:
        for file in artifact.files or (artifact,):
            if _FENCE.search(file.data):
                _write(file, folder / file.name if artifact.is_folder else folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(artifact: Artifact, folder: Path) -> None:
    from pytest_reflex.checks.markdown import blocks

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
