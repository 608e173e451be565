"""Byte code that is kept from the start: read by whoever has a private folder for it."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from pytest_reflex.process.bytecode import bytecode_of, loaded_sources, write_bytecode


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A module that was imported once, so that its byte code lies beside it."""
    path = tmp_path / "installed/aid.py"
    path.parent.mkdir()
    path.write_text("print('compiled anew')\n")
    imported(path, PYTHONDONTWRITEBYTECODE="")
    assert Path(cache_from_source(str(path))).exists()
    return path


def imported(module: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-v", "-c", "import aid"],
        cwd=module.parent,
        env={**os.environ, "PYTHONPYCACHEPREFIX": "", **more},
        capture_output=True,
        text=True,
        check=True,
    )


def test_what_is_kept_is_not_compiled_again(module: Path, tmp_path: Path) -> None:
    kept = bytecode_of([str(module)], tmp_path / "project")
    Path(cache_from_source(str(module))).write_bytes(b"somebody else's")
    write_bytecode(tmp_path / "private", kept)
    ran = imported(module, PYTHONPYCACHEPREFIX=str(tmp_path / "private"))
    assert ran.stdout == "compiled anew\n"
    assert f"# code object from '{tmp_path / 'private'}" in ran.stderr
    assert f"# code object from {module}" not in ran.stderr


def test_what_pytest_made_of_a_module_is_kept_too(module: Path, tmp_path: Path) -> None:
    rewritten = Path(cache_from_source(str(module)).replace(".pyc", "-pytest-1.2.pyc"))
    rewritten.write_bytes(b"rewritten")
    kept = bytecode_of([str(module)], tmp_path / "project")
    assert kept[str(module.with_name(rewritten.name))] == b"rewritten"
    assert len(kept) == 2


def test_modules_of_the_project_are_compiled_anew(module: Path, tmp_path: Path) -> None:
    assert bytecode_of([str(module)], tmp_path) == {}


def test_packages_that_are_installed_below_the_project_are_none_of_its_modules(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(module.parent)])
    assert len(bytecode_of([str(module)], tmp_path)) == 1


def test_a_module_without_byte_code_is_left_out(tmp_path: Path) -> None:
    assert bytecode_of([str(tmp_path / "gone.py")], tmp_path / "project") == {}


def test_what_this_process_has_loaded_is_known() -> None:
    assert {__file__, subprocess.__file__} <= loaded_sources()
