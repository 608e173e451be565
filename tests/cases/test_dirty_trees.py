"""Cases from the field: what a user has in the tree, and has not committed, stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.project import Project
from tests.process.zoo import shell

GIT = "git -c user.name=n -c user.email=e@x"


@pytest.fixture
def dirty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a staged, a changed and an untracked file."""
    monkeypatch.chdir(tmp_path)
    Project(tmp_path, "ok", more="[iterate.gates.it]\ncommand = 'exit 0'\n")
    (tmp_path / ".gitignore").write_text("/prompt\n/calls.log\n/.rooda\n")
    for name in ("staged", "changed", "gone"):
        (tmp_path / name).write_text("as it was\n")
    words = [f"{GIT} init -q .", "git add -A", f"{GIT} commit -qm start"]
    assert all(shell(one, cwd=str(tmp_path)).returncode == 0 for one in words)
    (tmp_path / "staged").write_text("staged\n")
    assert shell("git add staged", cwd=str(tmp_path)).returncode == 0
    (tmp_path / "changed").write_text("changed\n")
    (tmp_path / "untracked").write_text("untracked\n")
    (tmp_path / "gone").unlink()
    return tmp_path


def everything(root: Path) -> dict[str, bytes]:
    """Return every file but those of the run, the repository's own too."""
    own = (".rooda", "prompt", "calls.log")
    files = (path for path in root.rglob("*") if path.is_file())
    found = {path.relative_to(root): path.read_bytes() for path in files}
    return {str(path): data for path, data in found.items() if path.parts[0] not in own}


def test_b122_rounds_in_a_dirty_tree_touch_neither_files_nor_index(dirty: Path) -> None:
    before = everything(dirty)
    assert ".git/index" in before
    assert main(["iterate", "run", "build", "-n", "2"]) == 0
    assert everything(dirty) == before
