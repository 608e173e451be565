"""Fixes on documents that strangers wrote: lines are added, and no other byte changes."""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.fixes import apply
from pytest_reflex.model.rules import Fix

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("PYTEST_REFLEX_TEST_DATA") or BESIDE)
FOUND = sorted(path for path in DATA.rglob("*") if path.suffix in (".yaml", ".yml", ".md"))

pytestmark = pytest.mark.skipif(
    not FOUND, reason=f"no documents in {DATA}; PYTEST_REFLEX_TEST_DATA may name the folder"
)

KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "set": ({"path": "x-added.deep", "value": [1, {"text": "a\nb\n"}]}, ".yaml .yml"),
    "insert_section": ({"heading": "## Added", "text": "text"}, ".md"),
    "append": ({"text": "# end"}, ".yaml .yml .md"),
}
CASES = [
    pytest.param(path, Fix(kind=kind, params=params), id=f"{kind}-{path.name}")
    for kind, (params, endings) in KINDS.items()
    for path in FOUND
    if path.suffix in endings.split()
]


@pytest.mark.parametrize(("path", "fix"), CASES)
def test_fix_adds_lines_and_changes_none(path: Path, fix: Fix) -> None:
    text = path.read_bytes().decode()
    mended = apply(fix, text)
    added = len(mended) - len(text)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(text, mended, strict=False))
    start = sum(1 for _ in same)
    assert added > 0
    assert mended[start + added :] == text[start:]
    assert apply(fix, mended) == mended
