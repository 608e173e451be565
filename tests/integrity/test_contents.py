"""Which part of a file bears on a verdict."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_reflex.integrity.manifest import changes, take
from pytest_reflex.integrity.tool_inputs import (
    extract_relevant,
    interpreter_files,
    pytest_files,
    up_to,
)

PYPROJECT = "[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\n"
NEUTRAL = {
    "pyproject.toml": (PYPROJECT, PYPROJECT.replace("'x'", "'y'")),
    "setup.cfg": ("[metadata]\nname = x\n", "[metadata]\nname = y\n"),
    "tox.ini": ("[pytest]\na = b\n[tox]\n", "[tox]\nenvlist = py\n[pytest]\na = b\n"),
    "entry_points.txt": ("[console_scripts]\nx = y:z\n", ""),
}
TELLING = {
    "pyproject.toml": (PYPROJECT, PYPROJECT.replace("-q", "-k x")),
    "setup.cfg": ("", "[tool:pytest]\naddopts = -k x\n"),
    "tox.ini": ("[pytest]\na = b\n", "[pytest]\na = c\n"),
    "entry_points.txt": ("", "[pytest11]\nevil = evil\n"),
    "pytest.ini": ("", "[pytest]\n"),
    "conftest.py": ("a = 1\n", "a = 2\n"),
    "no TOML at all/pyproject.toml": ("a", "b"),
}


@pytest.mark.parametrize(("name", "texts"), NEUTRAL.items(), ids=NEUTRAL.keys())
def test_what_pytest_does_not_read_is_left_out(name: str, texts: tuple[str, str]) -> None:
    before, after = (extract_relevant(name, text.encode()) for text in texts)
    assert before == after


@pytest.mark.parametrize(("name", "texts"), TELLING.items(), ids=TELLING.keys())
def test_what_pytest_reads_counts(name: str, texts: tuple[str, str]) -> None:
    before, after = (extract_relevant(name, text.encode()) for text in texts)
    assert before != after


def test_a_pyproject_without_pytest_may_appear(tmp_path: Path) -> None:
    manifest = take(pytest_files([Path()]), root=tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    assert changes(manifest) == ()


def test_the_folders_from_a_file_up_to_the_project(tmp_path: Path) -> None:
    found = list(up_to(tmp_path, tmp_path / "a/b/artifact.md"))
    assert found == [tmp_path / "a/b", tmp_path / "a", tmp_path]
    assert list(up_to(tmp_path / "a", tmp_path / "c/d.md")) == [tmp_path / "c"]


def test_the_interpreter_is_held_with_its_site_folders() -> None:
    patterns = list(interpreter_files())
    assert any(p.endswith("site-packages/*.pth") for p in patterns)
    assert any(p.endswith("/sitecustomize.py") for p in patterns)
    assert f"{Path(sys.prefix).as_posix()}/pyvenv.cfg" in patterns
