"""State files are regular files: whatever else stands in their place never blocks a reader."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.errors import StateError
from pytest_reflex.store.regular import read_if_regular

OTHERS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a folder": Path.mkdir,
    "a named pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a file": lambda path: path.symlink_to(__file__),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
def test_what_is_no_regular_file_holds_nothing(
    make: Callable[[Path], object], tmp_path: Path
) -> None:
    make(tmp_path / "state")
    assert read_if_regular(tmp_path / "state") is None


def test_a_file_below_a_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    assert read_if_regular(tmp_path / "state" / "run.json") is None


def test_a_file_over_the_limit_is_refused_with_both_sizes(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"x" * 1001)
    with pytest.raises(StateError, match="too large: 1,001 bytes, the limit is 1,000"):
        read_if_regular(tmp_path / "state", 1000)
