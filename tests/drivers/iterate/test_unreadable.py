"""A state that cannot be read now is not replaced, moved aside, or taken for none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.reflex.test_unreadable import ERRORS, Capture, Failing
from tests.faults.iterating import Iterating
from tests.faults.read_side import ReadSide


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterating:
    """A procedure whose run was killed after its first iteration."""
    project = Iterating(tmp_path / "project")
    project.leave()
    monkeypatch.chdir(project.folder)
    return project


@pytest.mark.parametrize("number", ERRORS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize("call", ["lstat", "open", "pread"])
def test_a_state_that_cannot_be_read_now_stays_and_is_resumed_later(
    call: str, number: int, project: Iterating, capsys: Capture
) -> None:
    before = project.state.read_bytes()
    with ReadSide(project.folder, Failing("build.json", number, call=call)):
        assert main(["iterate", "resume", "build"]) == 12
    assert f"build.json could not be read: {os.strerror(number)}" in capsys.readouterr().err
    assert project.state.read_bytes() == before
    assert [path.name for path in project.state.parent.iterdir()] == ["build.json"]
    assert main(["iterate", "resume", "build"]) == 0


@pytest.mark.parametrize("name", ["build.json", "build.lock", "pytest-reflex.toml"])
def test_a_fault_that_passes_changes_nothing(name: str, project: Iterating) -> None:
    failing = Failing(name, errno.EIO, times=1)
    with ReadSide(project.folder, failing):
        assert main(["iterate", "resume", "build"]) == 0
    assert failing.failed == 1
