"""What holds of the examples on every page; `test_examples_of_*.py` run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.examples import group_of
from tests.docs.pages import DATA_LANGUAGES, ROOT, blocks_of, exchanges, page_paths

PAGES = page_paths()
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
RUN = ("console", "python")
MOST_EXCUSES = 12


def test_each_page_is_run_by_one_file_of_tests() -> None:
    groups = {module.removeprefix("test_examples_of_") for module in modules_of_groups()}
    assert groups == {group_of(page) for page in PAGES}


def modules_of_groups() -> set[str]:
    return {path.stem for path in Path(__file__).parent.glob("test_examples_of_*.py")}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_blocks_are_of_a_kind_that_is_run(page: Path) -> None:
    known = (*RUN, *DATA_LANGUAGES, "text", "mermaid")
    for block in blocks_of(page.read_text(encoding="utf-8")):
        assert block.title or block.excuse or block.language in known, (
            f"line {block.line}: a {block.language!r} block is not run: make it console or python"
        )


@pytest.mark.long
def test_few_examples_are_excused_and_each_says_why() -> None:
    excuses = [
        block.excuse
        for page in PAGES
        for block in blocks_of(page.read_text(encoding="utf-8"))
        if block.excuse
    ]
    assert len(excuses) <= MOST_EXCUSES
    assert all(len(excuse) > 10 for excuse in excuses)


def test_the_first_command_of_the_readme_comes_within_twelve_lines() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = next(block for block in blocks_of(text) if block.language == "console")
    assert exchanges(first)[0].line <= 12
