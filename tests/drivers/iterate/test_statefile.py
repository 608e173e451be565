"""Who owns the state of an iteration loop, and what becomes of a damaged or missing file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.drivers.common.snapshot import SnapshotFile
from pytest_reflex.drivers.iterate.model import State, Status
from pytest_reflex.drivers.iterate.state import (
    dump,
    is_driven,
    load,
    read_state,
    state_file,
    state_path,
)
from pytest_reflex.errors import LockedError, StateError
from pytest_reflex.storage.atomic import MOST_KEPT
from tests.faults.driven import wait_until

STATE = State(
    procedure_name="build", max_iterations=5, failure_threshold=3, started_at="2026-02-06T10:00:00Z"
)
HOLDER = """
import sys, time
from pathlib import Path
from pytest_reflex.drivers.iterate.state import dump, load
from pytest_reflex.drivers.iterate.state import state_file
with state_file(Path(sys.argv[1]), "build", print):
    Path(sys.argv[1], "held").touch()
    time.sleep(600)
"""


def opened(root: Path, told: list[str] | None = None) -> SnapshotFile[State]:
    return state_file(root, "build", (told if told is not None else []).append)


def test_the_file_lies_where_the_seed_has_it(tmp_path: Path) -> None:
    with opened(tmp_path / ".rooda") as file:
        assert file.save(STATE)
    assert (tmp_path / ".rooda/state/build.json").stat().st_mode & 0o777 == 0o600


def test_a_state_is_read_back_and_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        assert file.read() is None
        file.save(STATE)
        assert file.read() == STATE == read_state(tmp_path, "build")
        assert file.remove()
        assert file.read() is None


def test_b113_a_running_state_whose_owner_was_killed_is_free(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.save(STATE)
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)])
    try:
        wait_until((tmp_path / "held").exists)
        assert is_driven(tmp_path, "build")
        with (
            pytest.raises(LockedError, match=rf"is running build .*pid {process.pid}"),
            opened(tmp_path),
        ):
            raise AssertionError("two owners")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not is_driven(tmp_path, "build")
    with opened(tmp_path) as file:
        assert file.read() == STATE
        assert STATE.status is Status.RUNNING


def test_b113_a_pid_that_was_given_out_again_keeps_nobody_out(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        file.save(STATE)
    (tmp_path / "state/build.lock").write_text(str(os.getppid()))  # alive, and not the owner
    with opened(tmp_path) as file:
        assert file.read() == STATE


def test_two_procedures_are_driven_at_once(tmp_path: Path) -> None:
    with opened(tmp_path), state_file(tmp_path, "plan", print) as plan:
        assert plan.read() is None


def test_a_fork_does_not_keep_the_lock(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with opened(tmp_path):
        child = os.fork()
        if not child:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
    try:
        with opened(tmp_path) as again:
            assert again.read() is None
    finally:
        os.close(reader)
        os.close(writer)
        os.waitpid(child, 0)


@pytest.mark.parametrize("name", ["state/build.lock", "state", ""])
def test_b116_a_link_in_the_place_of_lock_or_folder_is_refused(tmp_path: Path, name: str) -> None:
    root, victim = tmp_path / "root", tmp_path / "victim"
    victim.mkdir()
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(victim)
    with pytest.raises(StateError, match=r"is a symbolic link .*never links: remove it"):
        opened(root).__enter__()
    assert not list(victim.iterdir())


def test_b116_a_lock_with_a_second_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "state").mkdir()
    (tmp_path / "state/build.lock").hardlink_to(tmp_path / "mine")
    with pytest.raises(StateError, match="second name"):
        opened(tmp_path).__enter__()
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", ["state/build.lock", "state", ""])
def test_b116_a_link_that_a_tool_puts_there_is_not_written_through(
    tmp_path: Path, name: str
) -> None:
    root, victim = tmp_path / "root", tmp_path / "victim"
    victim.mkdir()
    told: list[str] = []
    with opened(root, told) as file:
        (root / name).rename(tmp_path / "moved")
        (root / name).symlink_to(victim)
        file.keep()
        assert not file.save(STATE)
        assert not file.remove()
    assert not list(victim.iterdir())
    assert "the lock could not be kept (" in told[0]
    assert all(f"{root / name} is a symbolic link" in line for line in told)


@pytest.mark.parametrize("data", [b"", b"{", b'{"iteration": 1}', b"\xff"])
def test_b107_a_state_file_corrupted_is_kept_aside(tmp_path: Path, data: bytes) -> None:
    path = state_path(tmp_path, "build")
    path.parent.mkdir()
    path.write_bytes(data)
    told: list[str] = []
    with opened(tmp_path, told) as file:
        assert file.read() is None
        file.save(STATE)
    assert (path.parent / "build.json.corrupt-1").read_bytes() == data
    assert "build.json.corrupt-1" in told[0]
    assert "starting fresh" in told[0]


def test_who_only_looks_is_told_of_a_corrupt_file(tmp_path: Path) -> None:
    path = state_path(tmp_path, "build")
    path.parent.mkdir()
    path.write_bytes(b"{")
    with pytest.raises(StateError, match=r"build\.json holds no state"):
        read_state(tmp_path, "build")
    assert [found.name for found in path.parent.iterdir()] == ["build.json"]


def test_who_only_looks_finds_nothing_and_makes_nothing(tmp_path: Path) -> None:
    assert read_state(tmp_path / ".rooda", "build") is None
    assert not is_driven(tmp_path / ".rooda", "build")
    assert not (tmp_path / ".rooda").exists()


def test_git_does_not_see_a_folder_that_was_made(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with opened(tmp_path / ".rooda") as file:
        assert file.save(STATE)
    argv = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(argv, check=True, capture_output=True).stdout == b""


def test_a_folder_that_is_there_is_left_to_its_owner(tmp_path: Path) -> None:
    (tmp_path / ".rooda").mkdir()
    with opened(tmp_path / ".rooda"):
        assert not (tmp_path / ".rooda/.gitignore").exists()


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / ".build.json.0123456789ab.tmp").touch()
    (folder / ".plan.json.0123456789ab.tmp").touch()
    with opened(tmp_path):
        names = {path.name for path in folder.iterdir()}
    assert names == {"build.lock", ".plan.json.0123456789ab.tmp"}


def test_a_state_that_cannot_be_saved_is_told_and_stops_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    with opened(tmp_path, told) as file:
        (tmp_path / "state/build.json").mkdir()
        assert not file.save(STATE)
        assert not file.saved
        (tmp_path / "state/build.json").rmdir()
        assert file.save(STATE)
        assert file.saved
    assert "build.json could not be written" in told[0]


def test_a_root_that_is_a_file_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("")
    told: list[str] = []
    with opened(tmp_path / "root", told) as file:
        assert file.read() is None
        assert not file.save(STATE)
    assert "no lock could be taken" in told[0]


def test_what_was_never_saved_is_not_mended_where_there_is_nothing_to_remove(
    tmp_path: Path,
) -> None:
    (tmp_path / "root").write_text("")
    with opened(tmp_path / "root") as file:
        assert not file.save(STATE)
        assert not file.remove()
        assert not file.saved


def test_what_an_agent_cleared_away_is_made_and_locked_again(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        shutil.rmtree(tmp_path / "state")
        assert file.save(STATE)
        assert is_driven(tmp_path, "build")
    assert read_state(tmp_path, "build") == STATE
    assert not is_driven(tmp_path, "build")


def test_who_lost_everything_to_another_process_writes_nothing_more(tmp_path: Path) -> None:
    with opened(tmp_path) as file:
        shutil.rmtree(tmp_path / "state")
        with opened(tmp_path) as other:
            other.save(replace(STATE, iteration=7))
            with pytest.raises(LockedError, match="another process is running build"):
                file.save(STATE)
            assert not file.save(STATE)
            assert not file.saved
            assert other.read() == replace(STATE, iteration=7)


def test_b116_a_link_in_the_place_of_the_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state/build.json").symlink_to("/etc/passwd")
    with opened(tmp_path) as file, pytest.raises(StateError, match=r"symbolic link .*remove it"):
        file.read()
    with pytest.raises(StateError, match=r"symbolic link .*remove it"):
        read_state(tmp_path, "build")


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1_000_000_000)


@pytest.mark.parametrize(
    ("plant", "word"),
    [
        (_huge, "is too large"),
        (os.mkfifo, "is not a regular file"),
        (Path.mkdir, "is not a regular file"),
    ],
)
def test_b107_what_cannot_even_be_read_is_moved_aside(
    tmp_path: Path, plant: Callable[[Path], object], word: str
) -> None:
    path = state_path(tmp_path, "build")
    path.parent.mkdir()
    plant(path)
    planted = path.lstat()
    with pytest.raises(StateError, match=rf"{word}.*keeps a copy of it: .* iterate run build"):
        read_state(tmp_path, "build")
    told: list[str] = []
    with opened(tmp_path, told) as file:
        assert file.read() is None
        assert file.save(STATE)
    assert os.path.samestat(planted, (path.parent / "build.json.corrupt-1").lstat())
    assert f"build.json cannot be used ({word}" in told[0]
    assert "starting fresh; a copy is kept as build.json.corrupt-1" in told[0]


def test_what_can_be_neither_read_nor_moved_is_told_with_what_to_do(tmp_path: Path) -> None:
    path = state_path(tmp_path, "build")
    path.mkdir(parents=True)
    for number in range(1, MOST_KEPT + 1):
        path.with_name(f"build.json.corrupt-{number}").touch()
    told: list[str] = []
    with opened(tmp_path, told) as file:
        assert file.read() is None
        assert not file.save(STATE)
    assert "too many copies" in told[0]
    assert told[0].endswith("so nothing is saved: move it away")


def test_b078_iteration_moves_only_where_a_state_is_ours(tmp_path: Path) -> None:
    theirs = replace(STATE, procedure_name="plan", others={"hook": 4})
    state_path(tmp_path, "build").parent.mkdir()
    state_path(tmp_path, "build").write_bytes(dump(theirs))
    with opened(tmp_path) as file:
        assert file.read() is None
        file.save(replace(STATE, iteration=1))
    kept = state_path(tmp_path, "build").with_name("build.json.corrupt-1")
    assert load(kept.read_bytes(), "plan") == theirs
