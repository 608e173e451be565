"""What the tests of earlier code share: projects in which it has run, and commands in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.earlier.projects import DATA, GIT, NOTHING, USER, bring_back

BringBack = Callable[[str], Path]
Told = Callable[..., str]


@pytest.fixture
def earlier(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> BringBack:
    """Return a function that enters the project in which a run of earlier code was made.

    The parameter is the commit of that code; the run may be brought back more than once.
    """
    for name, value in {**NOTHING, **GIT}.items():
        monkeypatch.setenv(name, value)
    for name in ("CI", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    runs = DATA / request.param

    def bring(name: str) -> Path:
        folder = tmp_path / name
        monkeypatch.setenv("CALLS", str(folder / "calls"))
        for variable, user in USER.items():
            monkeypatch.setenv(variable, str(folder / user))
        kind = "judged" if name.startswith("judged") else name.partition("-")[0]
        project = bring_back(kind, runs / name, folder / "project")
        monkeypatch.chdir(project)
        return project

    return bring


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Return a function that runs a command and returns what it printed."""

    def run(*argv: str, status: int = 0) -> str:
        capsys.readouterr()
        ended = main(list(argv))
        printed = capsys.readouterr()
        assert ended == status, printed.out + printed.err
        return printed.out

    return run
