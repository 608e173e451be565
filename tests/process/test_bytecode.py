"""Byte code that is kept from the start: read by whoever has a private folder for it."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from pytest_reflex.process.bytecode import bytecode_of, loaded_sources, remove_stale, write_bytecode


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


def test_byte_code_that_is_younger_than_its_source_stays(module: Path) -> None:
    kept = Path(cache_from_source(str(module)))
    remove_stale([module])
    assert kept.exists()


@pytest.mark.parametrize("name", ["aid.cpython-399.pyc", "aid.cpython-311-pytest-9.pyc"])
def test_byte_code_of_an_earlier_text_is_removed_whoever_made_it(module: Path, name: str) -> None:
    kept = Path(cache_from_source(str(module)))
    others = [kept.with_name(one) for one in (name, "aids.cpython-311.pyc", "aid.txt")]
    for other in others:
        other.write_bytes(b"")
    times = os.stat(module)
    module.write_text("print('compiled_anew')\n")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    remove_stale([module])
    assert sorted(kept.parent.iterdir()) == sorted(others[1:])


def test_what_has_no_byte_code_is_left_alone(tmp_path: Path) -> None:
    remove_stale([tmp_path / "gone.py", tmp_path])
    assert list(tmp_path.iterdir()) == []
