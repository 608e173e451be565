"""Where the data of an artifact is, and findings about a place in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.contracts.validate import pointer
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.text.data import LANGUAGES, Data, read_data
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.outline import front_matter

FRONT_MATTER = "front-matter"
"""What `block` says where the data is neither the whole text nor in a fenced block."""

_LIKE_JSON = re.compile(r"\s*(?:\{|\[\s*[\"{\[\d\]])")


@dataclass(frozen=True, slots=True)
class DataSource:
    """The documents that could be read, and the problems of texts that could not.

    `reading` is what the first of these should have been read as.
    """

    documents: tuple[Data, ...] = ()
    faults: tuple[Finding, ...] = ()
    reading: str = ""

    def nothing(self, language: str | None = None) -> Report:
        """Return the report where there is no document: it cannot be read, or there is none."""
        if self.faults:
            return Report(self.faults, reading=self.reading)
        return Report([nothing_found(language)], reading=_language_name(language))


def data_in(artifact: Artifact, language: str | None = None) -> DataSource:
    """Return the data of an artifact.

    With `language` (json, yaml, toml): the fenced blocks of that language; with FRONT_MATTER: what
    stands before the text. Else the whole text in the language of the file's ending; of any other
    file, the whole text if it is JSON or YAML and holds a map or a list, and otherwise the fenced
    blocks of every data language.
    """
    if language == FRONT_MATTER:
        return before_text(artifact.text)
    if language is not None:
        return blocks_in(artifact.text, lambda block: LANGUAGES.get(block.language) == language)
    named = LANGUAGES.get(PurePath(artifact.name).suffix.lower().removeprefix("."))
    if named:
        return _read(artifact.text, named)
    whole = whole_text(artifact.text)
    if whole.documents:
        return whole
    fenced = blocks_in(artifact.text, lambda block: block.language in LANGUAGES)
    if fenced.documents or fenced.faults:
        return fenced
    return whole_text(artifact.text, meant=bool(_LIKE_JSON.match(artifact.text)))


def nothing_found(language: str | None) -> Finding:
    """Return the problem of an artifact without data."""
    if language == FRONT_MATTER:
        return Finding("there is no front matter", 1)
    return Finding(f"there is no {_language_name(language)} in it")


def _language_name(language: str | None) -> str:
    if language == FRONT_MATTER:
        return "front matter"
    return language.upper() if language else "JSON, YAML or TOML"


def before_text(text: str) -> DataSource:
    """Return the front matter of a text: YAML between `---`, TOML between `+++`, JSON in braces."""
    found = front_matter(text)
    if found is None:
        return DataSource()
    if not found.closed and found.language != "json":
        fault = Finding("the front matter that begins here does not end", 1)
        return DataSource(faults=(fault,), reading=_language_name(FRONT_MATTER))
    source = _read(found.text, found.language, found.first + 1)
    if source.faults or any(document.value is not None for document in source.documents):
        return source
    return DataSource(
        (Data({}, found.language, found.text, found.first + 1),)
    )  # empty YAML is a null


def whole_text(text: str, *, meant: bool = False) -> DataSource:
    """Return the whole text as JSON or YAML, where every document in it is a map or a list.

    Where it is none, the problem is reported only if the text is `meant` to be one.
    """
    like_json = text.lstrip()[:1] in ("{", "[")
    json = _read(text, "json") if like_json else DataSource()
    source = json if json.documents else _read(text, "yaml")
    if source.documents and all(isinstance(d.value, dict | list) for d in source.documents):
        return source
    broken = json if json.faults else source
    return DataSource(faults=broken.faults, reading=broken.reading) if meant else DataSource()


def blocks_in(text: str, wanted: Callable[[model.Block], bool]) -> DataSource:
    """Return the data of the fenced blocks that `wanted(block)` chooses."""
    documents: list[Data] = []
    faults: list[Finding] = []
    reading = ""
    for block in model.blocks(text):
        if wanted(block):
            source = _read(block.text, LANGUAGES.get(block.language, "yaml"), block.line)
            documents += source.documents
            faults += source.faults
            reading = reading or source.reading
    return DataSource(tuple(documents), tuple(faults), reading)


def _read(text: str, language: str, first_line: int = 1) -> DataSource:
    try:
        found: Iterable[Data] = read_data(text, language)
    except DataSyntaxError as error:
        line = first_line + max(error.line, 1) - 1
        message = f"not valid {language.upper()}: {error.message(first_line)}"
        reading = language.upper() + (f" from line {first_line}" if first_line > 1 else "")
        return DataSource(faults=(Finding(message, line, error.column),), reading=reading)
    return DataSource(tuple(replace(document, first_line=first_line) for document in found))


def finding_at(
    document: Data, message: str, path: Sequence[Any], *, whole: str = "", given: bool = True
) -> Finding:
    """Return a finding at a path of keys and indexes; of what is not there, where it belongs.

    `whole` is the text of the artifact, of which the document may be a block. Unless the path is
    `given` it has steps that stand for many, and no pointer can be made of it.
    """
    line, column = document.place(path)
    column = column_in(whole, document, line, column)
    return Finding(message, line, column, pointer(path) if given else "")


def column_in(whole: str, document: Data, line: int, column: int) -> int:
    """Return the column in the artifact's line, of which a block's line may be the end only."""
    if not column or document.first_line == 1:
        return column
    lines = whole.split("\n")[line - 1 : line]
    own = document.text.split("\n")[line - document.first_line]
    return column + len(lines[0]) - len(own) if lines and lines[0].endswith(own) else 0
