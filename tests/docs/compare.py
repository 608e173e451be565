"""Expected against real output: what differs from run to run is made equal, dots stand for more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PROJECT = "/home/you/project"
INSTALLED = "/opt/pytest-reflex"
ANY_LINES, ANY_TEXT = "...", ("…", "[...]")

_MACHINE = (
    (r"\bin \d+\.\d\ds\b", "in 0.12s"),
    (r"^platform .*$", "platform linux -- Python 3.12.3, pytest-9.2.0, pluggy-1.7.0"),
    (r"^plugins: .*$", "plugins: xdist-3.8.0, reflex-0.1.0"),
    (r'"duration": [\d.e-]+', '"duration": 0.001'),
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2026-01-31T12:00:00Z"),
    (r"-20\d{6}-\d{6}\b", "-20260131-120000"),
    (r"^\[\d\d:\d\d:\d\d\] ", "[10:00:00] "),
    # The second run that begins in one second has its number behind the time.
    (r"\b20\d{6}T\d{6}Z(?:-\d+(?=\.jsonl))?\b", "20260131T120000Z"),
    (r"\brun_20\d{6}_", "run_20260131_"),
)
_VARYING = (
    *_MACHINE,
    (r"\b\d+\.\d s\b", "0.1 s"),
    (r"\b\d+\.\ds\b|\b\d+m\d+s\b", "0.1s"),
    (r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2026-01-31T12:00:00.000Z"),
    (r'"seconds": [\d.]+', '"seconds": 0.1'),
    (r"={4,}", "===="),
    (r"[ \t]+$", ""),
)
# The pages show what pytest 9 prints; these are the places where older releases say less or more.
_OLDER = (
    (r"^(FAILED \S+) - .*$", r"\1"),
    (r"DID NOT RAISE <class '(\w+)'>", r"DID NOT RAISE \1"),
    (r"^-+ generated xml file: .*\n", ""),
)
_EQUAL = _VARYING if pytest.version_tuple >= (9,) else (*_VARYING, *_OLDER)


def readable(output: str, folder: Path) -> str:
    """Return output as a page shows it: places, versions and times made into those of a reader."""
    for path, name in ((folder, PROJECT), (folder.resolve(), PROJECT), (ROOT, INSTALLED)):
        output = output.replace(str(path), name)
    for pattern, replacement in _MACHINE:
        output = re.sub(pattern, replacement, output, flags=re.MULTILINE)
    return output.strip("\n")


def matches(expected: str, output: str) -> bool:
    """Return whether the output of a command is what the page says."""
    wanted = [_line(line) for line in normal(expected).splitlines()]
    return bool(re.fullmatch("".join(wanted), normal(output) + "\n" if output else ""))


def normal(text: str) -> str:
    for pattern, replacement in _EQUAL:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text.strip("\n")


def _line(line: str) -> str:
    if line == ANY_LINES:
        return r"(?:.*\n)*?"
    parts = re.split("|".join(map(re.escape, ANY_TEXT)), line)
    return ".*?".join(map(re.escape, parts)) + r"\n"
