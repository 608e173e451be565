"""What a spec has changed: files that may change although a command that verifies names them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_reflex.drivers.common.protection import within
from pytest_reflex.drivers.goal.claims import Part, parts_of
from pytest_reflex.drivers.goal.cues import is_ruled_out, places_of
from pytest_reflex.integrity.patterns import escaped

_OTHERS = ("constraints", "success", "done")
_SCOPE_END = re.compile(
    r"\b(?:until|so that|such that|done when|except|but not|other than)\b", re.I
)
_JUDGES = re.compile(r"(?:\A|[/_.-])(?:tests?|checks?|specs?|conftest)(?:[/_.-]|\Z)", re.I)

_ALL_TESTS = re.compile(r"(?<![\w./-])tests?(?:/(?![\w*])|(?![\w/.-]))", re.I)


def may_change(spec: str, commands: Iterable[str], project: Path) -> list[str]:
    """Return patterns of the files that the work on a spec may change.

    They are those of its scope. Without a scope they are those that it names elsewhere, but for
    tests. What a command names and is not there yet has to be made.
    """
    parts = _about_work(spec)
    stated = [one.text for one in parts if one.section == "scope"]
    found = [place for text in stated for place in _places(text)]
    if not found:
        named = [place for one in parts for place in _places(one.text)]
        found = [place for place in named if not _JUDGES.search(place)]
    found += [name for command in commands for name in _missing(command, project)]
    patterns = [_pattern(one, project) for one in dict.fromkeys(found)]
    return [pattern for one in patterns for pattern in within(one)]


def tests_may_change(spec: str) -> bool:
    """Return whether the scope of a spec names its tests as such, and no file of them."""
    return any(_ALL_TESTS.search(one.text) for one in _about_work(spec) if one.section == "scope")


def _about_work(spec: str) -> list[Part]:
    parts = [one for one in parts_of(spec) if one.section not in _OTHERS]
    return [one for one in parts if not is_ruled_out(one.text)]


def _places(text: str) -> Iterator[str]:
    """Yield the places in a statement that can be paths of a project."""
    for place in places_of(_SCOPE_END.split(text, maxsplit=1)[0]):
        if not re.search(r"[\s()<>|;&$:]", place) and not place.startswith(("/", "~", "-", "..")):
            yield place.removeprefix("./").rstrip("/")


def _pattern(place: str, project: Path) -> str:
    return escaped(place) if (project / place).exists() else place


def _missing(command: str, project: Path) -> Iterator[str]:
    """Yield what a command names as a file of the project that is not there."""
    try:
        words = shlex.split(command)
    except ValueError:
        return
    for word in words[1:]:
        is_path = re.fullmatch(r"[\w./-]+\.[A-Za-z0-9]+", word) and not word.startswith(("/", "-"))
        if is_path and ".." not in word.split("/") and not (project / word).exists():
            yield word.removeprefix("./")
