"""Names of runs: made from tasks, refused where they are dangerous, created by one process only."""

from __future__ import annotations

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.storage.folders import check_alias, create_run_folder, run_folder, slug

SLUGS = {
    "Courses API": "courses-api",
    "  Ünïcode: näme!  ": "unicode-name",
    "OpenAPI 3.1 + DDD notes + JSON examples and code": "openapi-3-1-ddd-notes-json-examples-and",
    "x" * 200: "x" * 40,
    "1e10": "1e10",
    "007": "007",
}


@pytest.mark.parametrize(("task", "alias"), SLUGS.items(), ids=range(len(SLUGS)))
def test_alias_is_made_of_the_first_words(task: str, alias: str) -> None:
    assert slug(task) == alias


@pytest.mark.parametrize("task", ["", "!!", "ab", "CON", "com1", "курс", "\ud800"])
def test_task_without_usable_words_gets_a_hash(task: str) -> None:
    assert re.fullmatch("loop-[0-9a-f]{8}", slug(task))


@settings(deadline=None)
@given(st.text())
def test_every_task_gives_an_alias(task: str) -> None:
    assert check_alias(slug(task)) == slug(task)


HOSTILE = [
    "..", "../../x", "/etc", "a/b", "a\\b", "C:", "a\0b", "a%2eb", "abc.", "abc ", "-abc", "abc-",
    "con", "nul", "lpt9", "ABC", "é" * 4, "ab", "x" * 65, "", "a\nb", "abc\n", "~root", "$HOME",
]  # fmt: skip


@pytest.mark.parametrize("alias", HOSTILE, ids=range(len(HOSTILE)))
def test_b118_hostile_alias_is_refused(tmp_path: Path, alias: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"{alias!r} is not an alias")):
        create_run_folder(tmp_path / "root", "task", alias)
    with pytest.raises(UsageError, match="is not an alias"):
        run_folder(tmp_path / "root", alias)
    assert list(tmp_path.iterdir()) == []


def test_folder_is_private_and_numbered_where_taken(tmp_path: Path) -> None:
    root = tmp_path / ".ai-factory" / "evolution"
    made = [create_run_folder(root, "Courses API") for _ in range(3)]
    assert [folder.name for folder in made] == ["courses-api", "courses-api-2", "courses-api-3"]
    assert stat.S_IMODE(made[0].stat().st_mode) == 0o700


def test_given_alias_is_numbered_too_and_stays_short(tmp_path: Path) -> None:
    long = "a" * 64
    create_run_folder(tmp_path, "t", long)
    assert create_run_folder(tmp_path, "t", long).name == "a" * 62 + "-2"


def test_many_makers_get_a_folder_each(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: create_run_folder(tmp_path, "race").name, range(24)))
    assert len(set(made)) == 24


def test_link_at_the_place_of_a_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "task").symlink_to(tmp_path)
    assert create_run_folder(tmp_path / "root", "task").name == "task-2"
    with pytest.raises(StateError, match="task is a symbolic link"):
        run_folder(tmp_path / "root", "task")


def test_root_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"no folder for the run could be made in .*file/x"):
        create_run_folder(tmp_path / "file" / "x", "task")
