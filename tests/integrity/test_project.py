"""What changed in a project between two looks."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import StateError, UnreadableError
from pytest_reflex.integrity import project
from pytest_reflex.integrity.project import ProjectTree

Act = Callable[[Path], object]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("README.md", "tests/test_a.py", "src/pack/mod.py", ".git/config", "data.bin"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\n")
    (tmp_path / "link").symlink_to("README.md")
    return tmp_path


def written(name: str, text: str = "two\n") -> Act:
    def act(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    return act


def replaced(name: str) -> Act:
    """Put another file of the same size and times in place of one."""

    def act(root: Path) -> None:
        status = (root / name).stat()
        (root / "new").write_text("two\n")
        os.utime(root / "new", ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(root / "new", root / name)

    return act


def back_dated(root: Path) -> None:
    status = (root / "README.md").stat()
    (root / "README.md").write_text("two\n")
    os.utime(root / "README.md", ns=(status.st_atime_ns, status.st_mtime_ns))


def linked(root: Path) -> None:
    (root / "tests/test_a.py").unlink()
    (root / "tests/test_a.py").symlink_to("../README.md")


def relinked(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("data.bin")


CHANGES: dict[str, tuple[Act, str]] = {
    "bytes": (written("README.md"), "README.md was changed"),
    "bytes of the same size, times set back": (back_dated, "README.md was changed"),
    "another file of the same size and times": (
        replaced("tests/test_a.py"), "tests/test_a.py was changed",
    ),
    "a file more": (written("src/pack/json.py"), "src/pack/json.py was added"),
    "a folder with a file": (written("new/conftest.py"), "new/conftest.py was added"),
    "a file less": (lambda root: os.remove(root / "data.bin"), "data.bin was removed"),
    "a link for a file": (linked, "tests/test_a.py was changed"),
    "another target of a link": (
        relinked,
        "link was changed",
    ),
    "a program": (lambda root: os.chmod(root / "data.bin", 0o755), "data.bin was changed"),
    "a pipe": (lambda root: os.mkfifo(root / "pipe"), "pipe was added"),
    "a hook of git": (written(".git/hooks/pre-commit"), ".git/hooks/pre-commit was added"),
    "the configuration of git": (written(".git/config"), ".git/config was changed"),
    "what git leaves out": (written(".git/info/exclude"), ".git/info/exclude was added"),
    "a hook of a nested repository": (
        written("src/.git/hooks/post-checkout"), "src/.git/hooks/post-checkout was added",
    ),
    "byte code without a source": (written("src/pack/evil.pyc"), "src/pack/evil.pyc was added"),
    "an empty file": (written("tests/__init__.py", ""), "tests/__init__.py was added"),
    "an installed program": (written(".venv/bin/lint"), ".venv/bin/lint was added"),
    "a module of node": (written("node_modules/x/index.js"), "node_modules/x/index.js was added"),
}  # fmt: skip


@pytest.mark.parametrize(("act", "told"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen_and_named(root: Path, act: Act, told: str) -> None:
    tree = ProjectTree(root).take()
    act(root)
    found = tree.changes()
    assert [str(change) for change in tree.describe(found)] == [told]


@pytest.mark.parametrize(("act", "told"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen_by_a_later_process(root: Path, act: Act, told: str) -> None:
    record = ProjectTree(root).take().encode()
    act(root)
    tree = ProjectTree(root).decode(record)
    assert [str(change) for change in tree.describe(tree.changes())] == [told]


def came_and_went(root: Path) -> None:
    written("x")(root)
    os.remove(root / "x")


NO_CHANGES: dict[str, Act] = {
    "nothing": lambda root: None,
    "times": lambda root: os.utime(root / "README.md", (1, 1)),
    "the same bytes": written("README.md", "one\n"),
    "a file that came and went": came_and_went,
    "an empty folder": lambda root: os.mkdir(root / "empty"),
    "byte code": written("src/pack/__pycache__/mod.cpython-311.pyc"),
    "caches of tools": lambda root: [
        written(f"{name}/x")(root)
        for name in (".pytest_cache", ".mypy_cache", "src/.ruff_cache", ".hypothesis")
    ],
    "coverage": lambda root: (written(".coverage")(root), written(".coverage.host.1.x")(root)),
    "commits": lambda root: (
        written(".git/HEAD")(root), written(".git/objects/ab/cd")(root), written(".git/index")(root)
    ),
    "another version control": written(".hg/store/data"),
    "leavings of editors": lambda root: (
        written(".README.md.swp")(root), written(".idea/workspace.xml")(root)
    ),
    "the state of our drivers": lambda root: (
        written(".ai-factory/evolution/x/run.json")(root), written(".rooda/log/x")(root)
    ),
    "what is apart": lambda root: (written("out/result.md")(root), written("calls.jsonl")(root)),
}  # fmt: skip


@pytest.mark.parametrize("act", NO_CHANGES.values(), ids=NO_CHANGES.keys())
def test_what_bears_on_nothing_is_no_change(root: Path, act: Act) -> None:
    apart = ("out/result.md", "calls.jsonl", ".ai-factory/evolution", ".rooda")
    tree = ProjectTree(root, apart).take()
    act(root)
    assert tree.changes() == {}


def test_what_is_accepted_is_no_change_any_more(root: Path) -> None:
    tree = ProjectTree(root).take()
    written("README.md")(root)
    os.remove(root / "data.bin")
    found = tree.changes()
    tree.accept(found)
    assert tree.changes() == {}
    written("README.md", "one\n")(root)
    assert list(tree.changes()) == ["README.md"]


def test_what_is_free_may_change(root: Path) -> None:
    tree = ProjectTree(root).take()
    for name in ("src/new.py", "src/pack/mod.py", "tests/test_a.py"):
        written(name)(root)
    os.remove(root / "README.md")
    found = tree.changes(lambda path: path.startswith("src/") or path == "README.md")
    assert list(found) == ["tests/test_a.py"]


def test_a_change_stays_one_until_it_is_taken_back(root: Path) -> None:
    tree = ProjectTree(root).take()
    written("src/more.py")(root)
    time.sleep(0.15)  # from now on its stamp would be believed
    assert list(tree.changes()) == list(tree.changes()) == ["src/more.py"]
    os.remove(root / "src/more.py")
    assert tree.changes() == {}


def test_a_large_file_is_known_by_its_stamp(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "MOST_OF_ONE", 3)
    tree = ProjectTree(root).take()
    assert "README.md" in tree.unread
    os.utime(root / "README.md")
    assert list(tree.changes()) == ["README.md"]


def test_in_all_only_so_much_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "MOST_OF_ALL", 12)
    assert len(ProjectTree(root).take().unread) == 2  # five files of four bytes


def test_what_stayed_is_not_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(0.15)
    tree = ProjectTree(root).take()
    monkeypatch.setattr(ProjectTree, "_hash", None)
    assert tree.changes() == {}


def test_a_name_that_is_no_utf_8_is_named(root: Path) -> None:
    tree = ProjectTree(root).take()
    (root / os.fsdecode(b"caf\xe9.py")).write_text("x")
    found = tree.changes()
    assert [change.path for change in tree.describe(found)] == ["caf\\udce9.py"]
    tree.accept(found)
    assert ProjectTree(root).decode(tree.encode()).changes() == {}


def test_a_folder_that_cannot_be_read_is_known_as_that(as_user: Path) -> None:
    (as_user / "closed").mkdir()
    (as_user / "closed/x").write_text("x")
    tree = ProjectTree(as_user).take()
    (as_user / "closed").chmod(0)
    try:
        found = tree.changes()
        tree.accept(found)
        assert "closed/" in found
        assert tree.changes() == {}
    finally:
        (as_user / "closed").chmod(0o700)
    assert "closed/" in tree.changes()


@pytest.mark.parametrize("times", [1, 2])
def test_a_run_that_cannot_be_seen_now_is_no_part_of_the_project(
    root: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A look that fails for a cause that may pass finds nothing: it is made again, or ends."""
    run = root / "state" / "run"
    run.mkdir(parents=True)
    for name in project.RUN_FILES:
        (run / name).write_text("{}")
    tree = ProjectTree(root, ["state"]).take()
    failures = [OSError(errno.EIO, "Input/output error")] * times
    see = os.lstat

    def broken(path: Any, **named: Any) -> os.stat_result:
        if str(path).startswith(str(run)) and failures:
            raise failures.pop()
        return see(path, **named)

    monkeypatch.setattr(os, "lstat", broken)
    if times == 1:
        assert not tree.changes()
    else:
        with pytest.raises(UnreadableError, match=r"history\.jsonl"):
            tree.changes()
    assert not failures


def test_a_socket_is_not_opened(root: Path) -> None:
    tree = ProjectTree(root).take()
    with socket.socket(socket.AF_UNIX) as listening:
        where = os.getcwd()
        os.chdir(root)
        try:
            listening.bind("s")
        finally:
            os.chdir(where)
        assert list(tree.changes()) == ["s"]


@pytest.mark.parametrize("record", ["", "%%%", "eJw=", "bm8="])
def test_a_damaged_record_is_refused(root: Path, record: str) -> None:
    with pytest.raises(StateError, match="record of the project's files is damaged"):
        ProjectTree(root).decode(record)


NAMES = st.sampled_from(["a", "b/c", "b/d", "e/f/g", "e/h", "i"])
EDITS = st.lists(st.tuples(NAMES, st.sampled_from(["", "x", "y"])), max_size=8)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(before=EDITS, after=EDITS, resumed=st.booleans())
def test_the_changes_are_those_of_the_contents(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    resumed: bool,
) -> None:
    root = tmp_path_factory.mktemp("tree")
    old = _edited(root, {}, before)
    tree = ProjectTree(root).take()
    if resumed:
        tree = ProjectTree(root).decode(tree.encode())
    new = _edited(root, old, after)
    expected = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    found = tree.changes()
    assert set(found) == expected
    assert {name for name, digest in found.items() if not digest} == expected - new.keys()


def _edited(root: Path, files: dict[str, str], edits: list[tuple[str, str]]) -> dict[str, str]:
    """Write each text, remove a file for an empty one; return what is there then."""
    there = dict(files)
    for name, text in edits:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text:
            path.write_text(text)
            there[name] = text
        elif name in there:
            path.unlink()
            del there[name]
    return there
