"""What children inherit."""

from __future__ import annotations

import pytest

from pytest_reflex.process.environment import copy_environment


def test_what_belongs_to_this_session_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_ARGS", raising=False)  # of `make test`
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "KEPT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PYTEST_REFLEX_ARTIFACT", "of an outer check")
    environment = copy_environment()
    assert environment["KEPT"] == "1"
    # What says where the tests' own folders lie may go along.
    kept = {name for name in environment if name.startswith("PYTEST_")}
    assert kept <= {"PYTEST_VERSION", "PYTEST_DEBUG_TEMPROOT"}


def test_git_asks_nothing() -> None:
    assert copy_environment()["GIT_TERMINAL_PROMPT"] == "0"


def test_snapshot_does_not_follow_later_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = copy_environment()
    monkeypatch.setenv("LATER", "1")
    assert "LATER" not in before
