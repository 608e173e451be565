"""Installed packages: what changed in them, and what only looks as if it had."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.errors import UnreadableError
from pytest_reflex.integrity import packages
from pytest_reflex.integrity.packages import Packages

RECORD = "pack-1.0.dist-info/RECORD"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with one distribution, and a file that is of none."""
    folder = tmp_path / "site-packages"
    (folder / "pack").mkdir(parents=True)
    (folder / "pack-1.0.dist-info").mkdir()
    (folder / "pack/core.py").write_text("x = 1\n")
    (folder / "pack/data, raw.txt").write_text("one\n")
    (folder / "own.pth").write_text("import sys\n")
    write_record(folder)
    return folder


def write_record(folder: Path) -> None:
    """Write what an installer writes of the files of `pack`."""
    lines = ["../../../bin/pack,sha256=abc,3", f"{RECORD},,", "pack/core.pyc,,", ""]
    for path in (folder / "pack").iterdir():
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
        lines.append(
            f'"pack/{path.name}",sha256={digest.decode().rstrip("=")},{path.stat().st_size}'
        )
    (folder / RECORD).write_text("\n".join(lines) + "\n")


def reported(known: Packages) -> list[str]:
    return sorted(str(one).replace(f"{known.folder}/", "") for one in known.changes())


def linked(folder: Path) -> None:
    """Link to each file from another environment, as uv and conda do."""
    for number, path in enumerate(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pth":
            os.link(path, folder.parent / f"other-{number}")


def installed_again(folder: Path) -> None:
    """Put equal files in the place of all."""
    again = folder.with_name("again")
    shutil.copytree(folder / "pack", again)
    for path in again.iterdir():
        path.replace(folder / "pack" / path.name)
    (folder / "copy").write_bytes((folder / RECORD).read_bytes())
    (folder / "copy").replace(folder / RECORD)


UNCHANGED = [linked, installed_again]


@pytest.mark.parametrize("act", UNCHANGED)
def test_a_file_with_the_content_of_its_record_is_no_change(
    site: Path, act: Callable[[Path], object]
) -> None:
    known = Packages(str(site))
    before = os.lstat(site / "pack/core.py").st_ctime_ns, os.lstat(site / "pack/core.py").st_ino
    act(site)
    after = os.lstat(site / "pack/core.py")
    assert before != (after.st_ctime_ns, after.st_ino)
    assert reported(known) == []


@pytest.mark.parametrize("act", UNCHANGED)
def test_so_it_is_in_a_later_process(site: Path, act: Callable[[Path], object]) -> None:
    fingerprint = Packages(str(site)).fingerprint()
    act(site)
    assert Packages(str(site)).agrees(fingerprint)


@pytest.mark.parametrize("act", UNCHANGED)
def test_an_equal_file_is_read_once(
    site: Path, act: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Packages(str(site))
    act(site)
    monkeypatch.setattr(packages, "is_settled", lambda status: True)
    assert reported(known) == []
    monkeypatch.setattr(packages, "_read_hash", lambda path: pytest.fail(f"{path} was read"))
    assert reported(known) == []


def test_a_stamp_of_this_moment_is_not_relied_on(site: Path) -> None:
    known = Packages(str(site))
    linked(site)
    before = os.lstat(site / "pack/core.py").st_ctime_ns
    assert reported(known) == []
    assert before not in {stamp[0] for stamp in known._files.values()}


def secretly(path: Path, text: str) -> None:
    """Write another text of the same length, and set the time back."""
    status = path.stat()
    assert len(text) == status.st_size
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def with_its_record(folder: Path) -> None:
    secretly(folder / "pack/core.py", "x = 2\n")
    write_record(folder)


def with_a_link(folder: Path) -> None:
    path = folder / "pack/core.py"
    path.rename(folder.parent / "moved.py")
    path.symlink_to(folder.parent / "moved.py")


def added_in_an_old_folder(folder: Path) -> None:
    status = folder.stat()
    (folder / "sitecustomize.py").write_text("evil\n")
    os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))


def sparse(folder: Path) -> None:
    os.truncate(folder / "pack/core.py", 1 << 50)


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a module": (
        lambda folder: secretly(folder / "pack/core.py", "x = 2\n"),
        ["pack/core.py was changed"],
    ),
    "a module and what is told of it": (
        with_its_record,
        [f"{RECORD} was changed", "pack/core.py was changed"],
    ),
    "a link for a module": (with_a_link, ["pack/core.py was changed"]),
    "a pipe for a module": (
        lambda folder: ((folder / "pack/core.py").unlink(), os.mkfifo(folder / "pack/core.py")),  # type: ignore[func-returns-value]
        ["pack/core.py was changed"],
    ),
    "a file of no distribution": (
        lambda folder: secretly(folder / "own.pth", "import os \n"),
        ["own.pth was changed"],
    ),
    "a module more, and the time set back": (
        added_in_an_old_folder,
        ["sitecustomize.py was added"],
    ),
    "a file that takes hours to read": (sparse, ["pack/core.py was changed"]),
    "a record that takes hours to read": (
        lambda folder: os.truncate(folder / RECORD, 1 << 50),
        [f"{RECORD} was changed"],
    ),
    "a module less": (
        lambda folder: (folder / "pack/core.py").unlink(),
        ["pack/core.py was removed"],
    ),
    "a module more": (lambda folder: (folder / "more.py").touch(), ["more.py was added"]),
}


@pytest.mark.parametrize(("act", "changes"), CHANGES.values(), ids=CHANGES)
def test_what_changed_is_reported(
    site: Path, act: Callable[[Path], object], changes: list[str]
) -> None:
    known = Packages(str(site))
    fingerprint = known.fingerprint()
    act(site)
    assert reported(known) == changes
    assert reported(known) == changes
    assert not Packages(str(site)).agrees(fingerprint)


def test_a_fingerprint_of_stamps_alone_is_compared_by_them(site: Path) -> None:
    stamps = Packages(str(site)).fingerprint().partition("-")[0]
    assert Packages(str(site)).agrees(stamps)
    linked(site)
    assert not Packages(str(site)).agrees(stamps)


@pytest.mark.parametrize("data", [b"\xff\0,\n", b"", b'"', b"," * 9, b"a" * 200_000])
def test_a_record_may_hold_anything(site: Path, data: bytes) -> None:
    (site / RECORD).write_bytes(data)
    known = Packages(str(site))
    assert known.agrees(known.fingerprint())
    os.link(site / "pack/core.py", site.parent / "other.py")
    assert reported(known) == ["pack/core.py was changed"]


@pytest.mark.parametrize("name", ["lstat", "stat", "scandir", "open"])
def test_what_cannot_be_read_now_was_not_changed(
    site: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Packages(str(site))
    linked(site)
    (site / "more.py").touch()
    monkeypatch.setattr(os, name, failing(getattr(os, name), times=2))
    with pytest.raises(UnreadableError, match="Input/output error"):
        reported(known)
    monkeypatch.undo()
    monkeypatch.setattr(os, name, failing(getattr(os, name), times=1))
    assert reported(known) == ["more.py was added"]


def failing(call: Callable[..., object], times: int) -> Callable[..., object]:
    """Return a function whose first calls meet an error that may pass."""

    def failing_call(*arguments: object, **more: object) -> object:
        nonlocal times
        if times:
            times -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return call(*arguments, **more)

    return failing_call


def test_a_record_that_is_no_file_is_not_read(site: Path) -> None:
    (site / RECORD).unlink()
    os.mkfifo(site / RECORD)
    known = Packages(str(site))
    assert reported(known) == []
    (site / RECORD).chmod(0o600)
    assert reported(known) == [f"{RECORD} was changed"]


ROWS = {
    "another size": "pack/core.py,{told},7\n",
    "two hashes": "pack/core.py,sha256=nia_NpkRxFwkPGhBR7I_yeHc_PJX0pmhxjIBam_NM_Q,6\n"
    "pack/core.py,{told},6\n",
    "no size": "pack/core.py,{told}\n",
    "a hash in capitals": "pack/core.py,SHA256={told},6\n",
    "outside": "../pack/core.py,{told},6\n",
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_a_record_that_does_not_tell_of_the_file_that_is_there_counts_for_nothing(
    site: Path, rows: str
) -> None:
    (site / "pack/core.py").write_text("x = 1\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"x = 2\n").digest()).decode().rstrip("=")
    (site / RECORD).write_text(rows.format(told=f"sha256={digest}"))
    known = Packages(str(site))
    secretly(site / "pack/core.py", "x = 2\n")
    assert reported(known) == ["pack/core.py was changed"]


def test_a_folder_that_may_not_be_listed_any_more_was_changed(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Packages(str(site))
    (site / "pack").chmod(0o300)
    see = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("pack"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return see(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert reported(known) == ["pack was changed"]
