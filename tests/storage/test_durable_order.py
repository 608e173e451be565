"""What the store has written is on the disk before it says so: every fsync has its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_reflex.storage.atomic import keep_copy, remove_file, replace_file
from pytest_reflex.storage.folders import create_run_folder
from pytest_reflex.storage.journal import Journal
from tests.faults.intercepted import Fault, Faulty, Intercepted


def calls_of(folder: Path, act: Callable[[], object]) -> list[str]:
    """Return the write-side calls of an act, random names shortened."""
    with Intercepted(folder, watch := Faulty(Fault())):
        act()
    return [call.partition(" .")[0] + " (temporary)" * (".tmp" in call) for call in watch.seen]


def test_f02_a_file_is_synced_before_it_is_renamed_and_its_folder_after(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    assert calls_of(tmp_path, lambda: replace_file(folder / "run.json", b"{}")) == [
        *("open (temporary)", "fchmod (temporary)", "write (temporary)", "fsync (temporary)"),
        *("replace run.json", "fsync run"),
    ]


def test_f02_a_removed_name_is_synced(tmp_path: Path) -> None:
    (tmp_path / "current.json").touch()
    calls = calls_of(tmp_path, lambda: remove_file(tmp_path / "current.json"))
    assert calls == ["unlink current.json", f"fsync {tmp_path.name}"]


def test_f02_a_new_history_is_named_durably(tmp_path: Path) -> None:
    calls = calls_of(tmp_path, lambda: Journal.create(tmp_path / "history.jsonl").close())
    assert calls == ["open history.jsonl", "fchmod history.jsonl", f"fsync {tmp_path.name}"]


def test_f02_an_event_is_one_write_and_synced(tmp_path: Path) -> None:
    Journal.create(path := tmp_path / "history.jsonl").close()

    def append() -> None:
        with Journal.open(path) as journal:
            journal.append({"event": "x"})

    assert calls_of(tmp_path, append) == ["write history.jsonl", "fsync history.jsonl"]


def test_f02_evidence_is_on_the_disk_before_it_is_told(tmp_path: Path) -> None:
    calls = calls_of(tmp_path, lambda: keep_copy(tmp_path / "run.json", b"{", "corrupt"))
    kept = "run.json.corrupt-1"
    assert calls == [f"open {kept}", f"write {kept}", f"fsync {kept}", f"fsync {tmp_path.name}"]


def test_f02_each_new_folder_is_named_durably_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    root = tmp_path / "project/state/loops"
    made = [
        call
        for call in calls_of(tmp_path, lambda: create_run_folder(root, "a task"))
        if not call.startswith("chmod")
    ]
    assert made == [
        *("mkdir state", "fsync project", "mkdir loops", "fsync state"),
        *("mkdir a-task", "fsync loops"),
    ]
