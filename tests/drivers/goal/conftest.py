"""The stage of the goal's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drivers.goal.stage import Stage, staged


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A project with some notes, in which the test stands."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with staged(folder) as found:
        yield found
