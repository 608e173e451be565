"""A run's folder is on the disk, and what leads to it, before anything is paid."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.store.folders import create_run_folder
from tests.faults.intercepted import Fault, Faulty, Intercepted


def test_f02_each_new_folder_is_named_durably_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with Intercepted(tmp_path, watch := Faulty(Fault())):
        create_run_folder(tmp_path / "project/.state/loops", "a task")
    made = [call for call in watch.seen if not call.startswith("chmod")]
    assert made == [
        *("mkdir .state", "fsync project", "mkdir loops", "fsync .state"),
        *("mkdir a-task", "fsync loops"),
    ]
