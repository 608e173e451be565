"""Files replaced whole, whatever lies at their place and whatever fails."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.errors import StateError
from pytest_reflex.storage.atomic import remove_file, remove_strays, replace_file
from pytest_reflex.storage.files import read_file


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_new_file_is_private_and_whole(tmp_path: Path) -> None:
    replace_file(tmp_path / "run.json", b"{}\n")
    assert (tmp_path / "run.json").read_bytes() == b"{}\n"
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) == 0o600
    assert names(tmp_path) == ["run.json"]


def test_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    target.write_bytes(b"old")
    target.chmod(0o644)
    replace_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o644


def test_umask_that_forbids_everything_does_no_harm(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        replace_file(tmp_path / "a", b"x", mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize("kind", ["link", "dangling", "hard link", "fifo"])
def test_b116_victim_at_the_target_is_never_written(tmp_path: Path, kind: str) -> None:
    victim, target = tmp_path / "victim", tmp_path / "run.json"
    victim.write_bytes(b"precious")
    if kind == "link":
        target.symlink_to(victim)
    elif kind == "dangling":
        target.symlink_to(tmp_path / "nowhere")
    elif kind == "hard link":
        target.hardlink_to(victim)
    else:
        os.mkfifo(target)
    replace_file(target, b"new")
    assert victim.read_bytes() == b"precious"
    assert not target.is_symlink()
    assert target.read_bytes() == b"new"
    assert not (tmp_path / "nowhere").exists()


def test_folder_at_the_target_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(StateError, match=r"run\.json could not be written: Is a directory"):
        replace_file(tmp_path / "run.json", b"x")
    assert names(tmp_path) == ["run.json"]


def test_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"gone/a could not be written: folder .*gone: No such"):
        replace_file(tmp_path / "gone" / "a", b"x")


def test_read_only_folder_is_told(as_user: Path) -> None:
    as_user.chmod(0o500)
    with pytest.raises(StateError, match=r"Permission denied .*make the folder writable"):
        replace_file(as_user / "a", b"x")


def test_disk_that_fills_up_leaves_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"old")
    program = (
        "import sys; from pathlib import Path;"
        "from pytest_reflex.errors import StateError;"
        "from pytest_reflex.storage.atomic import replace_file\n"
        "try: replace_file(Path(sys.argv[1]), b'x' * 10000)\n"
        "except StateError as error: print(error); sys.exit(12)"
    )

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(
        [sys.executable, "-c", program, str(target)], preexec_fn=limit, capture_output=True
    )
    assert done.returncode == 12
    assert b"run.json could not be written: File too large" in done.stdout
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["run.json"]


def test_writer_killed_before_the_rename_leaves_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"old")
    program = (
        "import os, signal, sys; from pathlib import Path;"
        "from pytest_reflex.storage.atomic import replace_file\n"
        "os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "replace_file(Path(sys.argv[1]), b'new')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(target)])
    assert done.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"old"
    assert len(remove_strays(tmp_path)) == 1
    assert names(tmp_path) == ["run.json"]


def test_what_a_killed_writer_leaves_lies_in_the_staging_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    program = (
        "import os, signal, sys; from pathlib import Path;"
        "from pytest_reflex.storage.atomic import replace_file\n"
        "os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "root = Path(sys.argv[1])\n"
        "replace_file(root / 'current.json', b'new', staging=root / 'run')"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)])
    assert names(tmp_path) == ["run"]
    assert len(remove_strays(tmp_path / "run")) == 1


def test_a_file_staged_elsewhere_arrives(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    replace_file(tmp_path / "current.json", b"{}", staging=tmp_path / "run")
    assert (names(tmp_path), names(tmp_path / "run")) == (["current.json", "run"], [])
    assert (tmp_path / "current.json").read_bytes() == b"{}"


def test_leftovers_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".run.json.0123456789ab.tmp").write_bytes(b"half")
    (tmp_path / ".keep.tmp").write_bytes(b"mine")
    assert remove_strays(tmp_path) == [".run.json.0123456789ab.tmp"]
    assert names(tmp_path) == [".keep.tmp"]


def test_removal_is_quiet_about_what_is_gone(tmp_path: Path) -> None:
    replace_file(tmp_path / "current.json", b"{}")
    remove_file(tmp_path / "current.json")
    remove_file(tmp_path / "current.json")
    assert names(tmp_path) == []


def test_folder_cannot_be_removed_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(StateError, match="d could not be removed: Is a directory"):
        remove_file(tmp_path / "d")


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "device"])
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.json"
    if kind == "link":
        path.symlink_to("/etc/hostname")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    message = "is a symbolic link" if kind == "link" else "is not a regular file"
    with pytest.raises(StateError, match=f"{path} {message}"):
        read_file(path)
