"""A plugin for pytest: notes under which test a line was run, and how long each test took."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

NOTES = "MUTANTS_NOTES"
"""The variable of the environment that says where the durations go."""

_seconds: dict[str, float] = defaultdict(float)
_unsteady: set[str] = set()


def pytest_configure(config: pytest.Config) -> None:
    """Measure this process alone: what its tests start would cost much and tell of no test."""
    if hasattr(config, "workerinput"):
        for name in [name for name in os.environ if name.startswith("COVERAGE_PROCESS")]:
            del os.environ[name]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    measured = coverage.Coverage.current()
    if measured is None:
        return (yield)
    measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] += report.duration
    if not report.passed:
        _unsteady.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        steady = {test: took for test, took in _seconds.items() if test not in _unsteady}
        Path(os.environ[NOTES]).write_text(json.dumps(steady), "utf-8")
