"""Which files an agent may change, and that they are read and written whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reflex.drivers.pytest_loop import editable_files
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles, as_patterns
from pytest_reflex.errors import ArtifactError, UsageError


def made(root: Path, *patterns: str) -> EditableFiles:
    return EditableFiles(root=root, patterns=as_patterns(patterns, root))


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        ("a.py", "a.py", True),
        ("a.py", "a.py/b", False),
        ("*.md", "a.md", True),
        ("*.md", "docs/a.md", False),
        ("*.md", ".a.md", False),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/x/y/a.md", True),
        ("docs/**/*.md", "docs/.x/a.md", False),
        ("src/", "src/new/module.py", True),
        ("src/", "src/test_module.py", True),
        ("src/", "src/conftest.py", False),
        ("src/", "src/__pycache__/a.pyc", False),
        ("src/", "src/x.reflex.yaml", False),
        ("src/", "src/../tests/a.py", False),
        ("src/", "src//a.py", False),
        ("src/", "srcs/a.py", False),
        ("**/*", "pyproject.toml", False),
        ("pyproject.toml", "pyproject.toml", True),
        ("**/*", "pytest.ini", False),
        ("**/*", "a\nb.py", False),
        ("**/*", "/etc/passwd", False),
    ],
)
def test_patterns_mean(tmp_path: Path, pattern: str, path: str, meant: bool) -> None:
    assert made(tmp_path, pattern).covers(path) is meant


@pytest.mark.parametrize("pattern", ["..", "../x", "/etc/passwd", "."])
def test_patterns_stay_below_the_root(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="is not below"):
        as_patterns([pattern], tmp_path)


def test_files_are_read_byte_for_byte_and_links_are_not(tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "secret.py").write_text("secret")
    root = tmp_path / "src"
    root.mkdir()
    (root / "a.py").write_bytes(b"\xef\xbb\xbfx\r\ny")
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    assert made(tmp_path, "src").read() == {"src/a.py": "\ufeffx\r\ny"}


@pytest.mark.parametrize(("data", "told"), [(b"\xff", "byte 0"), (b"a\0", "NUL")])
def test_what_is_no_text_is_named(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "a.py").write_bytes(data)
    with pytest.raises(ArtifactError, match=rf"a\.py .*{told}"):
        made(tmp_path, "a.py").read()


def test_there_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editable_files, "MOST_BYTES", 10)
    (tmp_path / "a.py").write_text("x" * 11)
    with pytest.raises(ArtifactError, match=r"more than 10 bytes \(with a.py\)"):
        made(tmp_path, "*.py").read()
    monkeypatch.setattr(editable_files, "MOST_FILES", 0)
    with pytest.raises(ArtifactError, match="1 files may be changed; 0 are allowed"):
        made(tmp_path, "*.py").read()


def test_files_become_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("old")
    (tmp_path / "gone.py").write_text("x")
    os.chmod(tmp_path / "a.py", 0o755)
    ours = made(tmp_path, "*.py", "new/")
    assert ours.write({"a.py": "new", "new/b.py": ""}) == ["a.py", "new/b.py", "gone.py"]
    assert ours.read() == {"a.py": "new", "new/b.py": ""}
    assert (tmp_path / "a.py").stat().st_mode & 0o777 == 0o755
    assert ours.write(ours.read()) == []


def test_nothing_else_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"b\.py may not be changed"):
        made(tmp_path, "a.py").write({"b.py": ""})
