"""Fenced blocks as files."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_reflex.checks.blocks_folder import BlocksFolder
from pytest_reflex.checks.run import evaluate
from tests.checks.building import document, executable, folder, registry, rule, target


def names(path: Path) -> list[str]:
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())


def test_files_are_named_after_number_line_and_language() -> None:
    text = "```Python\n1\n```\n- item\n\n  ```yml\n  a: 1\n  ```\n\n```../x\n2\n```\n"
    blocks = BlocksFolder(document(text))
    assert names(blocks()) == ["001-line-2.py", "002-line-7.yaml", "003-line-11.txt"]
    assert (blocks() / "002-line-7.yaml").read_text() == "a: 1\n"
    blocks.close()


def test_blocks_of_a_folder_lie_under_the_names_of_its_files() -> None:
    blocks = BlocksFolder(folder(a_md="```sh\nls\n```\n", sub__b_md="~~~\nx\n~~~\n", c_md="none"))
    assert names(blocks()) == ["a.md/001-line-2.sh", "sub/b.md/001-line-2.txt"]
    blocks.close()


def test_folder_is_made_once_and_removed_at_close() -> None:
    blocks = BlocksFolder(document("```\nx\n```\n"))
    path = blocks()
    assert blocks() == path
    assert path.stat().st_mode & 0o777 == 0o500
    blocks.close()
    assert not path.exists()


def test_folder_goes_with_its_owner() -> None:
    blocks = BlocksFolder(document("```\nx\n```\n"))
    path = blocks()
    del blocks
    assert not path.exists()


def test_fork_does_not_remove_the_folder_of_its_parent() -> None:
    blocks = BlocksFolder(document("```\nx\n```\n"))
    path = blocks()
    child = os.fork()
    if child == 0:
        blocks.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert path.exists()
    blocks.close()


def test_all_commands_of_an_evaluation_see_the_same_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("```\nx\n```\n")
    command = 'echo "$PYTEST_REFLEX_BLOCKS" >> paths'
    rules = [rule(f"a.x.r{number}", executable(command)) for number in range(3)]
    assert evaluate(target(path, *rules), registry()).passed
    (shared,) = set((tmp_path / "paths").read_text().split())
    assert not Path(shared).exists()
