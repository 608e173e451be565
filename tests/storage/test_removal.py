"""A run's folder is removed whole, under its lock, and nothing else is."""

from __future__ import annotations

import errno
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.errors import LockedError, StateError, UnreadableError, UsageError
from pytest_reflex.storage.folders import remove_leftovers, remove_run
from pytest_reflex.storage.journal import Journal

HISTORY = "history.jsonl"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    (folder / "words/inner").mkdir(parents=True)
    for name in (HISTORY, "run.json", "inner/note"):
        (folder / "words" / name).write_text("x")
    (folder / "other").mkdir()
    return folder


def test_the_folder_goes_and_the_others_stay(root: Path) -> None:
    remove_run(root, "words", HISTORY)
    assert os.listdir(root) == ["other"]


def test_t04_a_link_in_it_is_removed_and_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/kept").touch()
    (root / "words/to-folder").symlink_to(tmp_path / "mine")
    (root / "words/to-file").symlink_to(tmp_path / "mine/kept")
    remove_run(root, "words", HISTORY)
    assert (tmp_path / "mine/kept").exists()
    assert not (root / "words").exists()


def test_t04_a_link_in_its_place_is_refused(root: Path) -> None:
    (root / "words").rename(root / "real")
    (root / "words").symlink_to(root / "real")
    with pytest.raises(StateError, match="words is a symbolic link"):
        remove_run(root, "words", HISTORY)
    assert (root / "real/run.json").exists()


@pytest.mark.parametrize("alias", ["..", "../state/words", "/etc", "A", ".words"])
def test_t03_what_is_no_alias_is_refused(alias: str, root: Path) -> None:
    with pytest.raises(UsageError, match="is not an alias"):
        remove_run(root, alias, HISTORY)


def test_one_that_a_process_holds_stays(root: Path) -> None:
    (root / "words" / HISTORY).unlink()
    held = Journal.create(root / "words" / HISTORY)
    with held, pytest.raises(LockedError, match="another process is running words"):
        remove_run(root, "words", HISTORY)
    assert (root / "words/run.json").exists()


def test_f15_who_waited_for_its_lock_is_told_that_it_is_gone(root: Path) -> None:
    path = root / "words" / HISTORY
    path.unlink()
    with Journal.create(path) as held, ThreadPoolExecutor() as pool:
        late = pool.submit(Journal.open, path)
        time.sleep(0.1)  # it has the file open and waits for the lock
        path.unlink()
        held.close()
        with pytest.raises(FileNotFoundError, match=r"history\.jsonl"):
            late.result()


def test_one_of_which_nobody_can_see_whether_it_is_held_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def broken(path: str | Path, *rest: Any, **named: Any) -> int:
        if Path(path).name == HISTORY:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(path, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", broken)
        with pytest.raises(UnreadableError, match="Too many open files"):
            remove_run(root, "words", HISTORY)
    assert (root / "words/run.json").exists()


def test_one_without_a_journal_is_removed_too(root: Path) -> None:
    remove_run(root, "other", HISTORY)
    assert os.listdir(root) == ["words"]


def test_what_a_killed_removal_left_is_removed(root: Path) -> None:
    (root / "words").rename(root / ".words.0123456789ab.gone")
    (root / ".words.mine").mkdir()
    remove_leftovers(root)
    assert sorted(os.listdir(root)) == [".words.mine", "other"]


def test_no_state_root_is_nothing_to_remove(tmp_path: Path) -> None:
    remove_leftovers(tmp_path / "none")


def test_a_run_that_is_gone_is_told(root: Path) -> None:
    shutil.rmtree(root / "words")
    with pytest.raises(StateError, match="words was removed by another process"):
        remove_run(root, "words", HISTORY)


def test_what_may_not_be_removed_is_told(as_user: Path) -> None:
    folder = as_user / "state/words"
    folder.mkdir(parents=True)
    (as_user / "state").chmod(0o500)
    with pytest.raises(StateError, match="words could not be removed: Permission denied"):
        remove_run(as_user / "state", "words", HISTORY)
    (as_user / "state").chmod(0o700)
