"""An artifact as it lies on disk."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pytest_reflex.checks import reading
from pytest_reflex.checks.reading import read_artifact
from pytest_reflex.errors import ArtifactError


def test_file_is_read_whole_and_named_as_given(tmp_path: Path) -> None:
    path = tmp_path / "My Proj $(x) 'q'.md"
    path.write_bytes(b"\xef\xbb\xbfx\r\n")
    artifact = read_artifact(path, name="shown")
    assert (artifact.data, artifact.name, artifact.path) == (path.read_bytes(), "shown", path)


def test_relative_path_is_kept_as_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text("x")
    artifact = read_artifact("a.md")
    assert (artifact.name, artifact.path) == ("a.md", tmp_path / "a.md")


def test_f17_large_file_is_refused_with_size_and_limit(tmp_path: Path) -> None:
    path = tmp_path / "big.md"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(ArtifactError, match=r"too large: 100\.0 MB, the limit is 50\.0 MB .*split"):
        read_artifact(path)


def test_file_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_artifact(path, limit=5).data == b"12345"
    with pytest.raises(ArtifactError, match="a is too large: 5 bytes, the limit is 4 bytes"):
        read_artifact(path, limit=4)


def test_file_without_a_size_is_bounded_too() -> None:
    if not Path("/proc/kallsyms").exists():
        pytest.skip("needs /proc")
    with pytest.raises(ArtifactError, match="too large"):
        read_artifact("/proc/kallsyms", limit=100)


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"gone\.md does not exist \(check the path\)"):
        read_artifact(tmp_path / "gone.md")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("/dev/zero", "/dev/zero is a device, not a file", id="device"),
        pytest.param("/dev/null", "/dev/null is a device, not a file", id="null"),
        pytest.param("a\0b", "cannot be read: .*embedded null", id="nul"),
        pytest.param("x" * 300, "cannot be read: File name too long", id="long"),
    ],
)
def test_what_is_no_file_is_refused(path: str, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        read_artifact(path)


def test_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArtifactError, match="pipe is a named pipe, not a file"):
        read_artifact(tmp_path / "pipe")


def test_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
        with pytest.raises(ArtifactError, match="sock is a socket, not a file"):
            read_artifact("sock")


def test_unreadable_file_is_told(as_user: Path) -> None:
    path = as_user / "a.md"
    path.touch(mode=0)
    with pytest.raises(ArtifactError, match=r"a\.md cannot be read: Permission denied"):
        read_artifact(path)


def test_folder_is_its_files_by_relative_name(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a.md", ".git/config", "a/__pycache__/x.pyc", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(name)
    files = read_artifact(tmp_path).files
    assert files is not None
    assert [file.name for file in files] == [".hidden", "a/z.md", "a.md", "b.md"]
    assert files[1].data == b"a/z.md"


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for path in (inside, outside):
        path.mkdir()
        (path / "real.md").write_text("x")
    (inside / "secret.md").symlink_to(outside / "real.md")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "gone").symlink_to("nowhere")
    (inside / "same.md").symlink_to("real.md")
    os.mkfifo(inside / "pipe")
    files = read_artifact(inside).files
    assert [file.name for file in files or ()] == ["real.md", "same.md"]


def test_limit_counts_all_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"123")
    with pytest.raises(ArtifactError, match="too large: 6 bytes, the limit is 5 bytes"):
        read_artifact(tmp_path, limit=5)


def test_folder_of_endless_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FILES_LIMIT", 3)
    for number in range(4):
        (tmp_path / str(number)).touch()
    with pytest.raises(ArtifactError, match=r"holds more than 3 files \(name a smaller folder\)"):
        read_artifact(tmp_path)
