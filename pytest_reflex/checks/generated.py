"""Whether a page is built by a generator of sites, which knows more of it than its text says.

MkDocs with autorefs or snippets defines references elsewhere, and makes other anchors than a forge;
Sphinx with MyST finds targets in other pages. What a page says itself counts most: it may lie in
another folder than where it belongs.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from pathlib import Path

MAX_ABOVE = 6  # folders


class Generator(Enum):
    """What builds a page, as far as it matters for links."""

    NONE = ""
    MKDOCS = "MkDocs"
    APPENDING = "MkDocs that puts a text below each page"
    SPHINX = "Sphinx"


_SIGNS = (
    (
        Generator.SPHINX,
        re.compile(
            r"^[`:]{3,}\{[a-z][\w:-]*\}|^\([\w:.-]+\)=\s*$|\{(?:ref|doc|term|numref)\}`", re.M
        ),
    ),
    (
        Generator.MKDOCS,
        re.compile(
            r"^[ \t]*(?:!!!|\?\?\?\+?) +\w|^::: +[\w.]+[ \t]*$|^/// +[\w-]+|\{![^{}\n]*!\}|--8<--"
            r"|^=== +[\"']|\{: *[.#][\w -]*\}",
            re.M,
        ),
    ),
)
_FILES_ABOVE = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "zensical.toml")
_FILE_OF_SPHINX = "conf.py"


def generator_of(text: str, folder: Path) -> Generator:
    """Return what builds the page: by its own marks, else by a file in a folder above it."""
    marked = next((kind for kind, sign in _SIGNS if sign.search(text)), None)
    placed = _by_folder(folder) if marked is not Generator.SPHINX else Generator.NONE
    return placed if marked is None or placed is Generator.APPENDING else marked


@lru_cache(maxsize=64)
def _by_folder(folder: Path) -> Generator:
    """Look for the file of a generator; a README beside that of MkDocs is none of its pages."""
    try:
        above = [folder, *folder.absolute().parents][:MAX_ABOVE]
        for number, place in enumerate(above):
            for file in (place / name for name in _FILES_ABOVE if number):
                if file.is_file():
                    appends = "auto_append" in file.read_text("utf-8", errors="replace")
                    return Generator.APPENDING if appends else Generator.MKDOCS
            if (place / _FILE_OF_SPHINX).is_file():
                return Generator.SPHINX
            if (place / ".git").exists():
                break
    except OSError:
        pass
    return Generator.NONE
