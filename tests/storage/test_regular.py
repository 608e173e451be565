"""State files are regular files: whatever else stands in their place never blocks a reader."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.errors import StateError
from pytest_reflex.storage.files import read_if_regular

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


@pytest.mark.parametrize("place", ["n" * 300, "loop/state.json"])
def test_a_place_that_cannot_be_looked_at_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StateError, match=r"could not be opened: (File name too|Too many)"):
        read_if_regular(tmp_path / place)


def test_a_folder_that_may_not_be_entered_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("os.lstat", refuse)
    with pytest.raises(StateError) as caught:
        read_if_regular(tmp_path / "state.json")
    assert str(caught.value) == f"{tmp_path / 'state.json'} could not be opened: Permission denied"
