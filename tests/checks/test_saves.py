"""Saves are noticed when they are over, and not in the middle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reflex.cli.on_save import DOUBTFUL_LOOKS, Stamps, look, next_save

FILE, OTHER = Path("a.md"), Path("b.md")
OLD, NEW, LONGER = (1, 1, 10, 1), (2, 2, 20, 1), (3, 3, 30, 1)
EMPTY, GONE = (2, 2, 0, 1), (0, 0, -1, 0)

# what is seen one look after the other; the last one stays
SEEN: dict[str, tuple[list[Stamps], Stamps]] = {
    "a save": ([{FILE: OLD}, {FILE: NEW}], {FILE: NEW}),
    "a save in two steps": ([{FILE: OLD}, {FILE: NEW}, {FILE: LONGER}], {FILE: LONGER}),
    "a file that is emptied first": (
        [{FILE: OLD}, *[{FILE: EMPTY}] * (DOUBTFUL_LOOKS - 1), {FILE: NEW}],
        {FILE: NEW},
    ),
    "a file that is away for a moment": (
        [{FILE: OLD}, *[{FILE: GONE}] * (DOUBTFUL_LOOKS - 1), {FILE: NEW}],
        {FILE: NEW},
    ),
    "a file that is away": ([{FILE: OLD}, {FILE: GONE}], {FILE: GONE}),
    "a file that comes back as it was": (
        [{FILE: OLD}, {FILE: GONE}, {FILE: OLD}, {FILE: OLD}, {FILE: OLD}, {FILE: NEW}],
        {FILE: NEW},
    ),
    "a new file of a folder": ([{FILE: OLD}, {FILE: OLD, OTHER: NEW}], {FILE: OLD, OTHER: NEW}),
    "a file of a folder that is removed": ([{FILE: OLD, OTHER: NEW}, {FILE: OLD}], {FILE: OLD}),
}


@pytest.mark.parametrize(("seen", "found"), SEEN.values(), ids=SEEN)
def test_a_save_is_told_when_it_stands_still(seen: list[Stamps], found: Stamps) -> None:
    def looks() -> Iterator[Stamps]:
        yield from seen
        while True:
            yield seen[-1]

    following = looks()
    assert next_save(seen[0], lambda: next(following), pause=lambda seconds: None) == found


def test_nothing_saved_is_waited_for_without_haste() -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next_save({FILE: OLD}, lambda: {FILE: OLD}, pause)
    assert min(pauses) >= 0.25


def test_a_folder_is_looked_at_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.md", "sub/b.md"):
        (tmp_path / name).write_text("x")
    gone = tmp_path / "gone.md"
    seen = look([tmp_path, gone])
    assert sorted(path.relative_to(tmp_path).as_posix() for path in seen) == [
        "a.md", "gone.md", "sub/b.md",
    ]  # fmt: skip
    assert seen[gone] == GONE


def test_a_file_that_is_replaced_is_another(tmp_path: Path) -> None:
    path, beside = tmp_path / "a.md", tmp_path / "a.md~"
    path.write_text("x")
    before = look([path])
    beside.write_text("y")
    os.utime(beside, ns=(before[path][1], before[path][1]))
    os.replace(beside, path)
    assert look([path]) != before
