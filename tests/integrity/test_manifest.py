"""A manifest reports what was added, changed and removed, and nothing else."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.integrity.manifest import Manifest, changes, compare, look_again, take

PATTERNS = ("**/conftest.py", "setup.cfg", "docs/*.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "conftest.py").write_text("# one\n")
    (tmp_path / "docs/a.md").write_text("a\n")
    (tmp_path / "other.py").write_text("nobody looks\n")
    return tmp_path


def _told(manifest: Manifest) -> list[str]:
    return [str(change) for change in changes(manifest)]


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DEEDS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "nothing": (lambda r: None, []),
    "a file that no pattern means": (lambda r: (r / "other.py").write_text("x"), []),
    "touched": (lambda r: os.utime(r / "conftest.py", (1, 1)), []),
    "changed": (lambda r: (r / "conftest.py").write_text("# two\n"), ["conftest.py was changed"]),
    "removed": (lambda r: (r / "docs/a.md").unlink(), ["docs/a.md was removed"]),
    "planted": (lambda r: (r / "docs/conftest.py").touch(), ["docs/conftest.py was added"]),
    "a named file appears": (
        lambda r: (r / "setup.cfg").write_text("[tool:pytest]\naddopts = -k x\n"),
        ["setup.cfg was added"],
    ),
    "a pipe in place of a file": (
        lambda r: _pipe(r / "conftest.py"),
        ["conftest.py was changed"],
    ),
    "a link that leads nowhere": (
        lambda r: (r / "docs/conftest.py").symlink_to("nowhere"),
        ["docs/conftest.py was added"],
    ),
}


@pytest.mark.parametrize(("deed", "told"), DEEDS.values(), ids=DEEDS.keys())
def test_what_was_done_is_told(root: Path, deed: Callable[[Path], object], told: list[str]) -> None:
    manifest = take(PATTERNS, root=root)
    deed(root)
    assert _told(manifest) == told


def test_a_change_that_keeps_size_and_times_is_seen(root: Path) -> None:
    manifest, path = take(PATTERNS, root=root), root / "conftest.py"
    before = path.stat()
    path.write_text("# two\n"[:6])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _told(manifest) == ["conftest.py was changed"]


def test_what_is_apart_may_change(root: Path) -> None:
    manifest = take(PATTERNS, root=root, apart=["docs"])
    (root / "docs/conftest.py").touch()
    (root / "docs/a.md").write_text("b\n")
    assert _told(manifest) == []


def test_a_manifest_survives_json(root: Path) -> None:
    manifest = take(PATTERNS, root=root, apart=["x/**"])
    wire = json.loads(json.dumps(manifest.to_json()))
    assert Manifest.from_json(wire, root) == manifest
    assert changes(Manifest.from_json(wire, root)) == ()


def test_files_below_the_root_are_named_relative_to_it(root: Path, tmp_path: Path) -> None:
    inside = take([root / "docs" / "*.md"], root=root)
    outside = take([root / "conftest.py"], root=root / "docs")
    assert list(inside.files) == ["docs/a.md"]
    assert list(outside.files) == [(root / "conftest.py").as_posix()]


def test_what_stayed_is_not_read_again(root: Path) -> None:
    time.sleep(0.15)  # a file written just before a look is always read again
    manifest = take(PATTERNS, root=root)
    (root / "docs/a.md").write_text("b\n")
    again = look_again(manifest)
    assert again.files["conftest.py"] is manifest.files["conftest.py"]
    assert [str(change) for change in compare(manifest, again)] == ["docs/a.md was changed"]


def test_a_file_nobody_may_read_is_held_by_that(as_user: Path) -> None:
    (as_user / "a.md").write_text("text\n")
    (as_user / "a.md").chmod(0)
    assert take(["*.md"], root=as_user).files["a.md"].digest == "unreadable"


def test_a_name_that_is_no_utf_8_can_be_written_down(root: Path) -> None:
    try:
        (root / "docs/\udcff.md").touch()
    except OSError:
        pytest.skip("this file system has no such names")
    manifest = take(PATTERNS, root=root)
    assert (
        r"docs/\udcff.md" in json.loads(json.dumps(manifest.to_json(), ensure_ascii=False))["files"]
    )
    assert changes(manifest) == ()
