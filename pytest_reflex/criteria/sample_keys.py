"""The samples of a rule: texts, files with names, and folders, as a criteria file writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from pytest_reflex.checks.folder import EXCLUDED_NAMES
from pytest_reflex.criteria.diagnostics import CONTROL, Diagnostics, Spot, Table, quote
from pytest_reflex.criteria.fields import (
    kind_of,
    list_at,
    refuse_text,
    refuse_unknown_keys,
    table_at,
    text_at,
)
from pytest_reflex.model.artifact import Sample

KINDS = ("good", "bad")
KEYS = ("file", "text", "files")
MOST_FILES = 100

_NEVER = "|".join((r"\.\.?", *map(re.escape, sorted(EXCLUDED_NAMES))))
_PART = r"[^/\\:\x00-\x1f\x7f]{1,60}"
PATH = rf"^(?!(?:.*/)?(?:{_NEVER})(?:/|$)){_PART}(?:/{_PART}){{0,9}}(?!\n)$"
"""A relative path with slashes that stays where it is put, as a pattern for us and for schemas.

A part of 60 characters fits what file systems allow in bytes. What is left out where a folder is
read as an artifact, such as .git, is in no sample of one.
"""
_PATH = re.compile(PATH)


def samples_at(table: Table, diagnostics: Diagnostics, rule_id: str) -> dict[str, list[Sample]]:
    """Return the samples of a rule by their kind; what cannot be used is noted and left out."""
    samples = table_at(table, "samples", diagnostics, rule_id)
    refuse_unknown_keys(samples, KINDS, diagnostics, what="samples", rule_id=rule_id)
    return {key: _of_kind(samples, key, diagnostics, rule_id) for key in samples if key in KINDS}


def _of_kind(samples: Table, key: str, diagnostics: Diagnostics, rule_id: str) -> list[Sample]:
    value = samples[key]
    if isinstance(value, str):
        return [Sample.of_text(value)]
    if isinstance(value, Table):
        return _mapping(value, diagnostics, rule_id)
    items = list_at(samples, key, diagnostics, rule_id)
    found: list[Sample] = []
    for index, item in enumerate(items):
        spot = items.at(index)
        if isinstance(item, Table):
            found += _mapping(item, diagnostics, rule_id)
        elif not isinstance(item, str):
            message = f"an item of {key} must be a text or a mapping, not {kind_of(item)}"
            diagnostics.add(message, spot, rule_id=rule_id)
        elif CONTROL.search(item):
            refuse_text(f"an item of {key}", item, spot, diagnostics, rule_id)
        else:
            found.append(Sample.of_text(item))
    return found


def _mapping(entry: Table, diagnostics: Diagnostics, rule_id: str) -> list[Sample]:
    """Return the sample that a mapping stands for, in a list; an empty one where it is none."""
    before = len(diagnostics.found)
    refuse_unknown_keys(entry, KEYS, diagnostics, what="a sample", rule_id=rule_id)
    if len(diagnostics.found) == before and set(entry) not in ({"file", "text"}, {"files"}):
        message = "a sample is a text, or a mapping of file and text, or of files"
        hint = '{file: compose.yaml, text: "..."} or {files: {a/b.md: "..."}}'
        diagnostics.add(message, entry.spot, hint=hint, rule_id=rule_id)
    if len(diagnostics.found) > before:
        return []
    if "files" in entry:
        sample = Sample(_files(entry, diagnostics, rule_id), is_folder=True)
    else:
        name = text_at(entry, "file", diagnostics, rule_id)
        if isinstance(entry["file"], str):
            _refuse_path(name, entry.at("file"), diagnostics, rule_id)
        sample = Sample.of_text(text_at(entry, "text", diagnostics, rule_id), name)
    return [sample] if len(diagnostics.found) == before else []


def _files(entry: Table, diagnostics: Diagnostics, rule_id: str) -> dict[str, str]:
    if entry["files"] is None:
        diagnostics.add("files must be a mapping, not nothing", entry.at("files"), rule_id=rule_id)
    files = table_at(entry, "files", diagnostics, rule_id)
    if len(files) > MOST_FILES:
        message = f"a sample has {MOST_FILES} files at most, not {len(files)}"
        diagnostics.add(message, entry.at("files"), rule_id=rule_id)
    for path in files:
        _refuse_path(path, files.at_key(path), diagnostics, rule_id)
    for path, other in _clashes(files):
        message = f"{quote(path)} and {quote(other)} cannot both be files of a folder"
        diagnostics.add(message, files.at_key(path), rule_id=rule_id)
    return {path: text_at(files, path, diagnostics, rule_id) for path in files}


def _refuse_path(path: str, spot: Spot, diagnostics: Diagnostics, rule_id: str) -> None:
    if not _PATH.match(path):
        message = f"{quote(path)} is not a path of a file inside a sample"
        hint = "write it relative and with slashes: docs/a.md"
        diagnostics.add(message, spot, hint=hint, rule_id=rule_id)


def _clashes(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return the paths that another one stands in the way of, where case does not count too."""
    named: dict[str, str] = {}
    found = []
    for path in paths:
        folded = path.casefold()
        if folded in named:
            found.append((path, named[folded]))
        named[folded] = path
    for folded, path in named.items():
        above = (str(parent) for parent in PurePosixPath(folded).parents)
        found += [(path, named[parent]) for parent in above if parent in named]
    return found
