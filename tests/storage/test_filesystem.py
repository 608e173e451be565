"""L4: who drives a loop where other machines may see its files is reported."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.storage.files import lock_warning


def mounts(folder: Path, kind: str) -> str:
    return (
        "22 1 999:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        f"36 22 0:45 / {folder.resolve()} rw shared:2 master:1 - {kind} host:/export rw\n"
    )


def test_l4_whoever_drives_a_loop_on_a_shared_file_system_is_warned(tmp_path: Path) -> None:
    warning = lock_warning(tmp_path, mounts(tmp_path, "nfs4"))
    assert "of kind nfs4: its lock may not reach other machines" in warning


def test_l4_on_a_local_one_nothing_is_said(tmp_path: Path) -> None:
    assert lock_warning(tmp_path, mounts(tmp_path, "ext4")) == ""
    assert lock_warning(tmp_path) == ""
