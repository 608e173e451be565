"""A small project to judge, and pytest sessions over it that load few other plugins."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import _ruamel_yaml
import pytest
import tabulate
from xdist import dsession, workermanage

from pytest_reflex import plugin
from pytest_reflex.checks import content, executable, not_run
from pytest_reflex.checks.code import check as code
from pytest_reflex.checks.findings import formats
from pytest_reflex.checks.structure import check
from pytest_reflex.session import controller

# A session in this process forgets the modules that it imported. These need not come again, and
# the C parser must not: a second copy does not know the event classes of the first.
KEPT = (
    *(content, executable, not_run, check, not_run, code, formats, controller),
    *(_ruamel_yaml, tabulate, dsession, workermanage),
)

WITH_WORKERS = ("-p", "xdist", "-p", "pytest_reflex.plugin", "-n", "2")
NO_PYC = "PYTHONDONTWRITEBYTECODE"  # set, it makes each worker compile everything anew

SUITE = """\
criteria: {name: mini, version: 3}
artifacts: [api.md]
rules:
  - id: a.x.usage
    description: It shows how to use it
    severity: fail
    check: {type: content, search: "^## Usage", expected: a usage section}
  - id: a.x.install
    description: It shows how to install it
    severity: fail
    hint: add a section "## Install"
    check: {type: content, search: "^## Install", expected: an install section}
  - id: b.x.world
    description: It greets the world
    severity: warn
    check:
      - {type: content, search: "hello"}
      - {type: content, search: "world"}
"""
GOOD = "# Title\n## Usage\nhello world\n## Install\n"
BAD = "# Title\n## Usage\nhello world\n"
MILD = "# Title\n## Usage\nhello\n## Install\n"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a suite of three rules that its artifact passes; no CI, no foreign plugins."""
    for name in ("CI", "PYTEST_ADDOPTS", "NO_COLOR", "FORCE_COLOR", "COLUMNS", NO_PYC):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PY_COLORS", "0")
    write(pytester, "mini.reflex.yaml", SUITE)
    write(pytester, "api.md", GOOD)
    return pytester


def write(pytester: pytest.Pytester, name: str, text: str) -> Path:
    path = pytester.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def edit(pytester: pytest.Pytester, old: str, new: str) -> None:
    """Replace a text in the suite."""
    suite = pytester.path / "mini.reflex.yaml"
    before = suite.read_text(encoding="utf-8")
    assert old in before
    suite.write_text(before.replace(old, new), encoding="utf-8")


def append_rule(pytester: pytest.Pytester, text: str) -> None:
    """Add a rule to the suite."""
    suite = pytester.path / "mini.reflex.yaml"
    suite.write_text(suite.read_text(encoding="utf-8") + text.lstrip("\n"), encoding="utf-8")


@pytest.fixture
def run(project: pytest.Pytester) -> Run:
    """Run pytest in this process; the session's plugins are pytest's own and this one."""

    def session(*arguments: str) -> pytest.RunResult:
        return project.runpytest_inprocess(*arguments, plugins=[plugin])

    return session


@pytest.fixture
def run_workers(project: pytest.Pytester) -> Run:
    """Run pytest with two xdist workers: processes of their own, which this process controls."""

    def session(*arguments: str) -> pytest.RunResult:
        with at_most(120):
            return project.runpytest_inprocess(*WITH_WORKERS, *arguments, plugins=[plugin])

    return session


@pytest.fixture
def run_workers_apart(project: pytest.Pytester) -> Run:
    """Run pytest with two xdist workers and a controller that is a process of its own, too."""

    def session(*arguments: str) -> pytest.RunResult:
        return project.runpytest_subprocess(*WITH_WORKERS, *arguments, timeout=120)

    return session


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fail a session that has not ended after so many seconds."""

    def fail(*_: object) -> None:
        raise TimeoutError(f"the session has not ended after {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def document(project: pytest.Pytester) -> Callable[[str], dict[str, Any]]:
    """Read a JSON report without what differs from run to run."""

    def read(name: str = "out.json") -> dict[str, Any]:
        found: dict[str, Any] = without_durations(json.loads((project.path / name).read_text()))
        return found

    return read


def without_durations(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_durations(v) for k, v in value.items() if k != "duration"}
    return [without_durations(item) for item in value] if isinstance(value, list) else value
