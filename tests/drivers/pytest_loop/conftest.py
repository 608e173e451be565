"""What every loop over a session needs: a project, and nobody else's plugins and options."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drivers.pytest_loop.stage import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A folder with two rules that fail, and an agent that fixes both."""
    for name in ("CI", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "80")
    return Project(tmp_path)
