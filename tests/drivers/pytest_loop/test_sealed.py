"""What an agent must not change while its work is judged: all of the project but the artifacts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.drivers.pytest_loop.child import Session, SessionStart, TreeWatch, configurations
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles
from pytest_reflex.drivers.reflex.project_watch import ProjectChanges, ProjectWatch, WatchScope
from pytest_reflex.errors import PausedError
from pytest_reflex.integrity.patterns import escape_path
from pytest_reflex.integrity.project import unpack

Act = Callable[[Path], object]


def session(root: Path, *outside: str) -> Session:
    """Return a session that imported the tests, the code, and files outside the project."""
    imported = {str(root / name) for name in ("test_it.py", "src/app.py", "helper.py")}
    return Session(
        status=0,
        output="",
        seconds=0.1,
        python_files=("test_*.py",),
        imported=frozenset({*imported, *outside}),
    )


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


def watch(root: Path, *patterns: str, writes: tuple[str, ...] = ()) -> ProjectWatch:
    """Return what looks at the project of a loop whose agent may change what patterns mean."""
    editable = EditableFiles(root=root, patterns=patterns or ("src/**",))
    scope = WatchScope(
        project=root, apart=("state",), editable=editable.covers, writes=writes, of_session=True
    )
    return ProjectWatch.begin(scope, (), map(escape_path, configurations(editable)))


def named(found: ProjectChanges) -> list[str]:
    return [str(change) for change in found.changes]


def appended(name: str, more: str = "# more\n") -> Act:
    return lambda root: (root / name).write_text((root / name).read_text() + more)


def made(name: str) -> Act:
    def act(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")

    return act


def linked(root: Path) -> None:
    os.rename(root / "test_it.py", root / "src/test_it.py")
    os.symlink("src/test_it.py", root / "test_it.py")


def back_in_time(root: Path) -> None:
    (root / "test_it.py").write_text("x = 1\n")
    status = (root / "rules.yaml").stat()
    os.utime(root / "test_it.py", ns=(status.st_atime_ns, status.st_mtime_ns))


def lowered(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-k nothing'\n")


@pytest.mark.parametrize(
    ("act", "change"),
    [
        (appended("test_it.py"), "test_it.py was changed"),
        (back_in_time, "test_it.py was changed"),
        (linked, "test_it.py was changed"),
        (appended("helper.py"), "helper.py was changed"),
        (appended("it.reflex.yaml"), "it.reflex.yaml was changed"),
        (appended("rules.yaml"), "rules.yaml was changed"),
        (appended("data.json"), "data.json was changed"),
        (appended("scratch.py"), "scratch.py was changed"),
        (appended("pytest.ini"), "pytest.ini was changed"),
        (lowered, "pyproject.toml was changed"),
        (
            appended("pyproject.toml", "[project]\nname = 'x'\n"),
            "pyproject.toml was changed",
        ),
        (lambda root: os.remove(root / "helper.py"), "helper.py was removed"),
        (lambda root: os.chmod(root / "helper.py", 0o755), "helper.py was changed"),
        (made("conftest.py"), "conftest.py was added"),
        (made("src/conftest.py"), "src/conftest.py was added"),
        (made("deep/er/conftest.py"), "deep/er/conftest.py was added"),
        (made("tox.ini"), "tox.ini was added"),
        (made("json.py"), "json.py was added"),
        (made("json/__init__.py"), "json/__init__.py was added"),
        (made("debug.py"), "debug.py was added"),
        (made("notes.txt"), "notes.txt was added"),
        (made("debug.pyc"), "debug.pyc was added"),
        (made("sitecustomize.py"), "sitecustomize.py was added"),
        (made("x.pth"), "x.pth was added"),
        (made("other.reflex.yaml"), "other.reflex.yaml was added"),
        (made("deep/test_more.py"), "deep/test_more.py was added"),
        (made(".git/hooks/post-checkout"), ".git/hooks/post-checkout was added"),
        (made(".git/config"), ".git/config was added"),
        (made(".git/info/exclude"), ".git/info/exclude was added"),
    ],
)
def test_a_change_is_named(root: Path, act: Act, change: str) -> None:
    found = watch(root)
    assert named(found.look()) == []
    act(root)
    assert change in named(found.look())
    assert change in found.in_call(found.look(), "REFINE")


@pytest.mark.parametrize(
    "act",
    [
        appended("src/app.py"),
        made("src/new.py"),
        made("src/test_new.py"),
        lambda root: os.utime(root / "test_it.py", (1, 1)),
        lambda root: os.remove(root / "src/app.py"),
        made("__pycache__/test_it.cpython-311-pytest-8.pyc"),
        made("src/__pycache__/x"),
        made(".pytest_cache/v/cache/lastfailed"),
        made(".coverage"),
        made(".git/index"),
        made(".ai-factory/evolution/current.json"),
        made("state/run/history.jsonl"),
        made(".#helper.py"),
    ],
)
def test_what_bears_on_no_verdict_is_free(root: Path, act: Act) -> None:
    found = watch(root)
    act(root)
    assert named(found.look()) == []


def test_a_configuration_that_may_be_changed_is_held_in_what_it_says_to_pytest(root: Path) -> None:
    found = watch(root, "pyproject.toml")
    appended("pyproject.toml", "[project]\nname = 'x'\n")(root)
    assert named(found.look()) == []
    lowered(root)
    assert named(found.look()) == ["pyproject.toml was changed"]


def test_the_option_that_allows_a_change_is_named(root: Path) -> None:
    found = watch(root)
    made("notes [1].txt")(root)
    line = found.in_call(found.look(), "REFINE")
    allow = "(to allow it: --reflex-may-change 'notes [[]1].txt')"
    assert line.endswith(f"(REFINE): notes [1].txt was added {allow}")


def test_data_that_a_session_writes_itself_is_its_own(root: Path) -> None:
    found = watch(root, writes=("data.json",))
    assert found.before_evaluation("run") == ""
    appended("data.json")(root)
    refused, accepted = found.after_evaluation()
    assert refused == ""
    assert list(unpack(accepted["project_changes"]["files"])) == ["data.json"]
    assert named(found.look()) == []


def test_data_that_no_session_wrote_before_is_an_error_of_that_session(root: Path) -> None:
    found = watch(root, writes=("other.json",))
    assert found.before_evaluation("run") == ""
    appended("data.json")(root)
    refused, _ = found.after_evaluation()
    assert refused.startswith("modified during EVALUATE: data.json was changed (to allow it: ")
    assert found.before_evaluation("run") == refused


def test_what_was_changed_between_sessions_waits_for_a_person(root: Path) -> None:
    found = watch(root)
    appended("test_it.py")(root)
    with pytest.raises(
        PausedError, match=r"since the run last looked at it: test_it\.py was changed"
    ):
        found.before_evaluation("run")


def test_an_import_from_outside_is_named_where_the_first_session_had_none(root: Path) -> None:
    editable = EditableFiles(root=root, patterns=("src/**",))
    start = SessionStart.of(session(root, "/known/at/start.py"), editable)
    found = TreeWatch(SessionStart.from_json(start.to_json()), root)
    found.record_session(session(root, "/known/at/start.py"))
    assert found.find_tampering() == ""
    found.record_session(session(root, "/known/at/start.py", "/somewhere/else.py"))
    assert found.find_tampering() == "/somewhere/else.py was imported, and is outside the project"
