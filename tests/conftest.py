"""Fixtures that several rooms' tests share."""

from __future__ import annotations

import os
import shutil
import site
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.common.events import DriverEvent
from pytest_reflex.drivers.iterate.driver import IterateDriver, RunIteration
from pytest_reflex.drivers.reflex.driver import ReflexLoop
from tests.slim import make_slim_python

NOBODY = 65534
MOST_STEPS = 1_000
"""More steps than any loop of a test takes: one that has lost its end fails, and does not hang."""

# What whoever runs the tests has configured for themselves is not for the tests.
for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
    os.environ[variable] = os.devnull


@pytest.fixture
def as_user() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs: root ignores permissions."""
    folder = Path(tempfile.mkdtemp(prefix="reflex-user-"))
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def steps_are_bounded() -> Iterator[None]:
    """Let no driver that runs in this process go on for ever."""
    events, iteration = ReflexLoop.events, IterateDriver.perform

    def bounded_events(loop: ReflexLoop) -> Iterator[DriverEvent]:
        with closing(events(loop)) as all_events:
            for number, event in enumerate(all_events):
                assert number < MOST_STEPS, f"a loop of more than {MOST_STEPS} events"
                yield event

    def bounded_iteration(loop: Any, action: RunIteration) -> Iterator[Any]:
        loop.numbers = getattr(loop, "numbers", None) or count()
        assert next(loop.numbers) < MOST_STEPS, f"a loop of more than {MOST_STEPS} iterations"
        yield from iteration(loop, action)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReflexLoop, "events", bounded_events)
        patch.setattr(IterateDriver, "perform", bounded_iteration)
        yield


_site_packages = site.getsitepackages


@pytest.fixture
def installed_packages_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a loop the installed packages that the processes of a test have, too."""
    monkeypatch.setattr(site, "getsitepackages", _site_packages)


@pytest.fixture(scope="session", autouse=True)
def installed_packages_are_few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Show a loop few installed packages: it looks at each file of all of them.

    What a development environment has costs three quarters of the time of a loop in this process.
    """
    in_environment = sys.prefix != sys.base_prefix
    packages = tmp_path_factory.mktemp("installed")
    if in_environment:
        packages = make_slim_python(packages / "slim")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "getsitepackages", lambda: [str(packages)])
        yield
