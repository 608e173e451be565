"""Whether a working tree changed: by content, with git and without, and by nothing else."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.tree import TreeChangeDetector, WorkingTree, fingerprint

EXCLUDE = (".rooda",)
Deed = Callable[[Path], object]


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always")
    run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "m")


def _fill(folder: Path) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.py").write_text("a = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "link").symlink_to("run.sh")
    (folder / ".rooda/state").mkdir(parents=True)
    return folder


def _repository(folder: Path) -> Path:
    (folder / ".gitignore").write_text("*.log\n/.rooda/\nbuild/\n")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


@pytest.fixture(params=["git", "no git"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = _fill(tmp_path / "project")
    return _repository(folder) if request.param == "git" else folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return _repository(_fill(tmp_path / "project"))


def changed(project: Path, deed: Deed) -> bool | None:
    """Return what a watch says of an iteration in which `deed` was done."""
    watch = TreeChangeDetector(WorkingTree(project, EXCLUDE).fingerprint)
    watch.begin()
    deed(project)
    return watch.has_changed()


def _later(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def _rewritten(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def _written(name: str, text: str = "x") -> Deed:
    def deed(project: Path) -> None:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)

    return deed


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param(lambda p: None, id="nothing"),
        pytest.param(lambda p: _later(p / "src/a.py"), id="a file is touched"),
        pytest.param(lambda p: _rewritten(p / "src/a.py"), id="the same bytes are written"),
        pytest.param(_written(".rooda/state/build.json"), id="our own state"),
        pytest.param(_written("src/__pycache__/a.pyc"), id="a cache"),
        pytest.param(_written(".pytest_cache/v/x"), id="a cache of pytest"),
        pytest.param(lambda p: (p / "empty").mkdir(), id="an empty folder"),
        pytest.param(lambda p: (p / "src/a.py").chmod(0o640), id="who may read"),
    ],
)
def test_no_change(project: Path, deed: Deed) -> None:
    assert changed(project, deed) is False


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param(_written("src/a.py", "a = 2\n"), id="as many bytes"),
        pytest.param(_written("new.txt"), id="a new file"),
        pytest.param(_written("deep/er/new.txt", ""), id="a new empty file"),
        pytest.param(lambda p: (p / "src/a.py").unlink(), id="a file is removed"),
        pytest.param(lambda p: (p / "src/a.py").rename(p / "src/b.py"), id="a file is renamed"),
        pytest.param(lambda p: (p / "run.sh").chmod(0o755), id="a program is made"),
        pytest.param(
            lambda p: ((p / "link").unlink(), (p / "link").symlink_to("src/a.py")), id="a link"
        ),
        pytest.param(
            lambda p: ((p / "run.sh").unlink(), (p / "run.sh").symlink_to("src/a.py")),
            id="a link in place of a file",
        ),
    ],
)
def test_a_change(project: Path, deed: Deed) -> None:
    assert changed(project, deed) is True


def test_bytes_of_the_same_number_under_old_times_are_a_change(project: Path) -> None:
    def deed(project: Path) -> None:
        status = (project / "src/a.py").stat()
        (project / "src/a.py").write_text("a = 9\n")
        os.utime(project / "src/a.py", ns=(status.st_atime_ns, status.st_mtime_ns))

    assert changed(project, deed) is True


def test_a_tree_that_comes_back_is_nothing_new(project: Path) -> None:
    watch = TreeChangeDetector(WorkingTree(project, EXCLUDE).fingerprint)
    told = []
    for text in ("a = 2\n", "a = 1\n", "a = 2\n", "a = 3\n"):
        watch.begin()
        (project / "src/a.py").write_text(text)
        told.append(watch.has_changed())
    assert told == [True, False, False, True]


def test_what_gates_write_between_rounds_is_nobodys_work(project: Path) -> None:
    watch = TreeChangeDetector(WorkingTree(project, EXCLUDE).fingerprint)
    for number in range(3):
        watch.begin()
        assert watch.has_changed() is False
        (project / "report.txt").write_text(f"tried {number} times")


def test_b080_an_agent_that_commits_its_work_is_at_work(repository: Path) -> None:
    def deed(project: Path) -> None:
        (project / "src/a.py").write_text("a = 2\n")
        commit(project)

    assert changed(repository, deed) is True


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param(commit, id="a commit without a change"),
        pytest.param(lambda p: git(p, "rm", "--cached", "--quiet", "run.sh"), id="untracked"),
        pytest.param(lambda p: git(p, "checkout", "--quiet", "-b", "other"), id="a branch"),
        pytest.param(_written("noise.log"), id="an ignored file"),
        pytest.param(_written("build/deep/out"), id="an ignored folder"),
    ],
)
def test_no_change_in_a_repository(repository: Path, deed: Deed) -> None:
    assert changed(repository, deed) is False


def test_a_removal_that_is_committed_later_changed_the_tree_once(repository: Path) -> None:
    watch = TreeChangeDetector(WorkingTree(repository, EXCLUDE).fingerprint)
    watch.begin()
    (repository / "src/a.py").unlink()
    first = watch.has_changed()
    watch.begin()
    commit(repository)
    assert (first, watch.has_changed()) == (True, False)


@pytest.mark.long
def test_a_submodule_is_looked_into(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "x.txt").write_text("x")
    git(library, "init", "--quiet")
    commit(library)
    assert changed(repository, lambda p: git(p, "submodule", "add", str(library), "lib")) is True
    commit(repository)
    assert changed(repository, lambda p: commit(p / "lib")) is False
    assert changed(repository, _written("lib/x.txt", "y")) is True
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository), str(clone))
    assert changed(clone, _written("lib/x.txt", "y")) is True


def test_a_linked_worktree_and_a_repository_within_are_looked_into(repository: Path) -> None:
    git(repository, "worktree", "add", "--quiet", "beside")
    assert changed(repository, _written("beside/run.sh", "else")) is True
    assert changed(repository / "beside", _written("beside/run.sh", "other")) is True


def test_a_project_that_git_ignores_is_looked_at_all_the_same(repository: Path) -> None:
    inner = repository / "build/project"
    inner.mkdir(parents=True)
    assert changed(inner, _written("new.txt")) is True


def test_a_project_in_a_folder_of_a_repository_has_its_own_tree(repository: Path) -> None:
    assert changed(repository / "src", lambda p: (p.parent / "run.sh").write_text("x")) is False
    assert changed(repository / "src", _written("a.py", "a = 3\n")) is True


def test_a_hook_of_git_does_not_lead_elsewhere(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nothing"))
    assert changed(repository, _written("noise.log")) is False


def test_t21_a_repository_runs_nothing_of_its_own(repository: Path, tmp_path: Path) -> None:
    monitor = tmp_path / "monitor.sh"
    monitor.write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    monitor.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(monitor))
    before = (repository / ".git/index").read_bytes()
    assert fingerprint(repository) is not None
    assert not (tmp_path / "canary").exists()
    assert (repository / ".git/index").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read_like_ones_own(repository: Path) -> None:
    for path in (repository, repository / ".git"):
        os.chown(path, 65534, 65534)
    assert changed(repository, _written("noise.log")) is False
    assert changed(repository, _written("new.txt")) is True


def test_without_git_on_the_path_all_files_count(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert changed(repository, _written("noise.log")) is True


def test_a_link_that_leads_out_of_the_project_is_not_followed(
    repository: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    shutil.move(repository / "src", outside)
    (repository / "src").symlink_to(outside)
    assert changed(repository, lambda p: (outside / "a.py").write_text("else")) is False


def test_what_is_no_file_is_there_and_not_opened(project: Path) -> None:
    def deed(project: Path) -> None:
        os.mkfifo(project / "fifo")
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(os.path.relpath(project / "door"))

    assert changed(project, deed) is not None
    assert changed(project, lambda p: None) is False


def test_a_file_that_nobody_may_read_can_be_told_by_nobody(as_user: Path) -> None:
    (as_user / "a.md").write_text("text\n")
    (as_user / "a.md").chmod(0)
    assert changed(as_user, lambda p: None) is None


def test_a_folder_that_nobody_may_read_can_be_told_by_nobody(as_user: Path) -> None:
    (as_user / "closed").mkdir(mode=0)
    assert changed(as_user, lambda p: None) is None


@pytest.mark.parametrize("bounds", [{"most_paths": 2}, {"most_bytes": 10}], ids=str)
def test_a_tree_beyond_the_bounds_can_be_told_by_nobody(
    project: Path, bounds: Mapping[str, int]
) -> None:
    assert WorkingTree(project, EXCLUDE, **bounds).fingerprint() is None


def test_names_that_are_no_text_are_told_apart(project: Path) -> None:
    def deed(project: Path) -> None:
        (Path(os.fsdecode(os.fsencode(project) + b"/\xff\n"))).write_text("x")

    assert changed(project, deed) is True


PATHS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3).map("/".join)
ENTRIES = st.tuples(st.sampled_from(["file", "program", "link"]), st.sampled_from(["", "a", "b\n"]))


def _made(folder: Path, tree: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Make a tree, without the paths for which there is no room, and return what was made."""
    made = {}
    for name, (kind, text) in tree.items():
        path = folder / name
        if any(above.is_symlink() for above in path.parents):
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "link":
                path.symlink_to(text or "c")
            else:
                with path.open("x") as file:
                    file.write(text)
                path.chmod(0o755 if kind == "program" else 0o644)
        except OSError:  # something else is in the way, perhaps a link to itself
            continue
        made[name] = kind, (text or "c") if kind == "link" else text
    return made


@pytest.mark.long
@given(
    st.dictionaries(PATHS, ENTRIES, max_size=4),
    st.dictionaries(PATHS, ENTRIES, max_size=4),
    st.booleans(),
)
@settings(deadline=None, max_examples=25)
def test_fingerprints_are_equal_where_trees_are_and_only_there(
    one: Mapping[str, tuple[str, str]], other: Mapping[str, tuple[str, str]], same: bool
) -> None:
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        trees = _made(Path(first), one), _made(Path(second), one if same else other)
        prints = fingerprint(Path(first)), fingerprint(Path(second))
    assert None not in prints
    assert (prints[0] == prints[1]) == (trees[0] == trees[1])
