"""The stage of the flow's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drivers.flow.stage import Stage, staged


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A repository with two open points, in which the test stands."""
    monkeypatch.chdir(tmp_path)
    with staged(tmp_path) as found:
        yield found
