"""What an agent must not touch while its work is judged."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.treeloop.child import Session
from pytest_reflex.treeloop.sealed import Start, TreeWatch, inventory
from pytest_reflex.treeloop.territory import Territory

Act = Callable[[Path], object]


def session(root: Path, **more: frozenset[str]) -> Session:
    """Return a session that imported the tests and read a suite, its criteria and some data."""
    imported = {str(root / name) for name in ("test_it.py", "src/app.py", "helper.py")}
    opened = {str(root / name) for name in ("it.reflex.yaml", "rules.yaml", "data.json")}
    given = {
        "names": frozenset({"json", "app"}),
        "search": frozenset({str(root)}),
        "imported": frozenset(imported),
        "opened": frozenset(opened),
        **more,
    }
    return Session(status=0, output="", seconds=0.1, python_files=("test_*.py",), **given)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        *("test_it.py", "src/app.py", "helper.py", "it.reflex.yaml", "rules.yaml", "data.json"),
        *("pytest.ini", "pyproject.toml", "scratch.py"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q'\n")
    return tmp_path


def watch(root: Path, *patterns: str) -> TreeWatch:
    territory = Territory(root=root, patterns=patterns or ("src/**",))
    start = Start.of(session(root), territory)
    found = TreeWatch(Start.from_json(start.to_json()), territory, time.time_ns())
    found.saw(session(root))
    return found


def appended(name: str, more: str = "# more\n") -> Act:
    return lambda root: (root / name).write_text((root / name).read_text() + more)


def made(name: str) -> Act:
    def act(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")

    return act


def lowered(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-k nothing'\n")


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (appended("test_it.py"), "test_it.py was changed"),
        (appended("helper.py"), "helper.py was changed"),
        (appended("it.reflex.yaml"), "it.reflex.yaml was changed"),
        (appended("rules.yaml"), "rules.yaml was changed"),
        (appended("data.json"), "data.json was changed"),
        (appended("pytest.ini"), "pytest.ini was changed"),
        (lowered, "pyproject.toml was changed"),
        (lambda root: os.remove(root / "helper.py"), "helper.py was removed"),
        (made("conftest.py"), "conftest.py was added"),
        (made("src/conftest.py"), "src/conftest.py was added"),
        (made("deep/er/conftest.py"), "deep/er/conftest.py was added"),
        (made("tox.ini"), "tox.ini was added"),
        (made("json.py"), "json.py was added"),
        (made("json/__init__.py"), "json/__init__.py was added"),
        (made("sitecustomize.py"), "sitecustomize.py was added"),
        (made("x.pth"), "x.pth was added"),
        (made("other.reflex.yaml"), "other.reflex.yaml was added"),
        (made("deep/test_more.py"), "deep/test_more.py was added"),
    ],
)
def test_a_change_is_told(root: Path, act: Act, told: str) -> None:
    found = watch(root)
    assert found.tampering() == ""
    act(root)
    assert told in found.tampering()


@pytest.mark.parametrize(
    "act",
    [
        appended("src/app.py"),
        appended("scratch.py"),
        made("src/new.py"),
        made("src/test_new.py"),
        made("notes.txt"),
        made("debug.py"),
        lambda root: os.utime(root / "test_it.py", (1, 1)),
        appended("pyproject.toml", "[project]\nname = 'x'\n"),
    ],
)
def test_what_bears_on_no_verdict_is_free(root: Path, act: Act) -> None:
    found = watch(root)
    act(root)
    assert found.tampering() == ""


def test_a_configuration_that_may_be_changed_is_held_in_what_it_says_to_pytest(root: Path) -> None:
    found = watch(root, "pyproject.toml")
    appended("pyproject.toml", "[project]\nname = 'x'\n")(root)
    assert found.tampering() == ""
    lowered(root)
    assert found.tampering() == "pyproject.toml was changed"


def test_what_a_session_imported_and_was_not_there_is_told(root: Path) -> None:
    found = watch(root)
    time.sleep(0.01)
    made("debug.py")(root)
    later = session(root, imported=frozenset({str(root / "debug.py"), str(root / "scratch.py")}))
    found.saw(later)
    assert found.tampering() == "debug.py was added and imported"


def test_data_that_a_session_writes_itself_is_its_own(root: Path) -> None:
    found = watch(root)
    appended("data.json")(root)
    found.saw(session(root))
    assert found.tampering() == ""


def test_an_inventory_leaves_caches_and_our_own_state_out(root: Path) -> None:
    for name in (".ai-factory/evolution/x", ".git/x", "src/__pycache__/x", "src/x"):
        made(name)(root)
    found = inventory(root, root / ".ai-factory/evolution")
    assert "src/x" in found
    assert not {name for name in found if ".git" in name or ".ai" in name or "cache" in name}
