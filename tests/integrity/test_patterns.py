"""What patterns of paths find and mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.integrity.patterns import Finder, escape_path, is_meant

TREE = ("conftest.py", "a/conftest.py", "a/b/conftest.py", "a/x.md", "venv/conftest.py", "[1]/x.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def _found(root: Path, pattern: str) -> list[str]:
    return sorted(Path(path).relative_to(root).as_posix() for path in Finder(root).find(pattern))


FOUND = {
    "conftest.py": ["conftest.py"],
    "missing.py": [],
    "a": [],
    "*/x.md": ["[1]/x.md", "a/x.md"],
    "**/conftest.py": ["a/b/conftest.py", "a/conftest.py", "conftest.py"],
    "a/**": ["a/b/conftest.py", "a/conftest.py", "a/x.md"],
    "a/**/conftest.py": ["a/b/conftest.py", "a/conftest.py"],
}


@pytest.mark.parametrize(("pattern", "names"), FOUND.items(), ids=FOUND.keys())
def test_a_pattern_finds(root: Path, pattern: str, names: list[str]) -> None:
    assert _found(root, pattern) == names


def test_an_escaped_path_means_itself(root: Path) -> None:
    assert _found(root, escape_path("[1]/x.md")) == ["[1]/x.md"]
    assert _found(root, escape_path(root / "[1]") + "/*.md") == ["[1]/x.md"]


def test_links_are_followed_and_circles_end(root: Path) -> None:
    (root / "a/b/up").symlink_to(root / "a")
    (root / "link").symlink_to(root / "a/b")
    assert "link/conftest.py" in _found(root, "**/conftest.py")


MEANT = {
    ("docs/a.md", "docs/*.md"): True,
    ("docs/a/b.md", "docs/*.md"): False,
    ("docs/a/b.md", "docs/**/*.md"): True,
    ("docs/b.md", "docs/**/*.md"): True,
    ("docs/a/b.md", "docs"): True,
    ("docs2/b.md", "docs"): False,
    ("b.md", "**/b.md"): True,
}


@pytest.mark.parametrize(("case", "meant"), MEANT.items(), ids=map(str, MEANT))
def test_a_pattern_means(case: tuple[str, str], meant: bool) -> None:
    assert is_meant(case[0], [case[1]]) is meant
