"""Every example in the documentation does what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DATA_LANGUAGES, ROOT, blocks_of, exchanges, page_paths
from tests.docs.running import run_page

PAGES = page_paths()
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]
RUN = ("console", "python")
MOST_EXCUSES = 8


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_do_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.syspath_prepend(tmp_path / "project")
    text = page.read_text(encoding="utf-8")
    found = [f"{page.name}, {deviation}" for deviation in run_page(text, tmp_path)]
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_blocks_are_of_a_kind_that_is_run(page: Path) -> None:
    known = (*RUN, *DATA_LANGUAGES, "text", "mermaid")
    for block in blocks_of(page.read_text(encoding="utf-8")):
        assert block.title or block.excuse or block.language in known, (
            f"line {block.line}: a {block.language!r} block is not run: make it console or python"
        )


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
