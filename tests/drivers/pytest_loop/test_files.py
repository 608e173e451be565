"""The project's files follow the history: after a crash, and never over what a person made."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.drivers.pytest_loop.child import SessionStart
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles
from pytest_reflex.drivers.pytest_loop.files import (
    TREE,
    create_run,
    document,
    open_run,
    project_of,
    tree_of,
)
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.statefile import KIND, SESSION
from pytest_reflex.drivers.reflex.steps import StepOutcome
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Step
from pytest_reflex.model.events import EventKind

OLD, NEW = {"a.py": "old\n"}, {"a.py": "new\n", "b.py": "more\n"}
CRITERIA = {
    "name": "n",
    "version": 1,
    "phase": {"A": {"threshold": 1}, "B": {"threshold": 1}},
    "rules": [],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run that has just taken the files as they are."""
    (tmp_path / "a.py").write_text("old\n")
    files = create_run(tmp_path / "state", "task", "run")
    editable = EditableFiles(root=tmp_path, patterns=("*.py",))
    start = SessionStart(read=())
    tree = tree_of(tmp_path, files.folder, editable=editable, texts=OLD, start=start)
    payload = {
        "task_alias": "run",
        "task": {"prompt": "task", "ideal_result": ""},
        "criteria": CRITERIA,
        "limits": {},
        "level": "B",
        "seal": "",
        "setup": {KIND: SESSION},
        TREE: tree,
    }
    files.commit(StepOutcome(kind=EventKind.RUN_STARTED, step=Step.PLAN, payload=payload))
    commit(files, OLD)
    files.close()
    return files.folder


def commit(files: RunFiles, texts: dict[str, str]) -> None:
    made = {"by": "agent"}
    files.commit(
        StepOutcome(
            kind=EventKind.ARTIFACT_CREATED,
            step=Step.PRODUCE,
            payload=made,
            artifact=document(OLD, texts),
        )
    )


def found(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.parent.parent.glob("*.py"))}


def test_files_follow_an_event(folder: Path) -> None:
    files = open_run(folder)
    commit(files, NEW)
    assert found(folder) == NEW
    commit(files, OLD)
    assert found(folder) == OLD


def test_files_that_a_crash_left_behind_follow_at_the_next_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = open_run(folder)
    with monkeypatch.context() as patched:
        patched.setattr(project_of(files), "write", killed)
        with pytest.raises(KeyboardInterrupt):
            commit(files, NEW)
    files.close()
    assert found(folder) == OLD
    open_run(folder).close()
    assert found(folder) == NEW


def killed(text: str) -> None:
    raise KeyboardInterrupt


def test_files_that_a_person_put_back_stay(folder: Path) -> None:
    files = open_run(folder)
    commit(files, NEW)
    files.close()
    (folder.parent.parent / "a.py").write_text("old\n")
    (folder.parent.parent / "b.py").unlink()
    again = open_run(folder)
    assert found(folder) == OLD
    assert [event.payload["by"] for event in again.adopt_changes_by_hand()] == ["hand"]


def test_an_edited_artifact_document_is_written_anew(folder: Path) -> None:
    (folder / "artifact.md").write_text("scribble")
    files = open_run(folder)
    assert files.adopt_changes_by_hand() == []
    assert (folder / "artifact.md").read_text() == document(OLD, OLD)


def test_a_project_may_be_moved_with_its_runs(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    files = open_run(moved / "state" / "run")
    assert project_of(files).project == moved
    assert project_of(files).editable_files.read() == OLD


def test_a_run_of_one_text_is_none_of_a_session(folder: Path) -> None:
    history = folder / "history.jsonl"
    files = open_run(folder)
    del files.latest_events()[0].payload[TREE]  # type: ignore[attr-defined]
    with pytest.raises(StateError, match=f"{history.parent.name} holds no loop over a pytest"):
        _ = project_of(files).tree
