"""The pages by groups, each for one file of tests: files are what workers share among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, page_paths
from tests.docs.running import run_page

_LONG = "make-my-tests-pass"


def group_of(page: Path) -> str:
    """Return the group of a page; each takes about as long as any other."""
    folder = page.parent.name
    if folder != "how-to":
        return folder if folder in ("reference", "tutorials") else "other_pages"
    if page.stem == _LONG:
        return "a_long_guide"
    return "guides" if page.stem < _LONG else "more_guides"


def pages_of(group: str) -> pytest.MarkDecorator:
    """Give a test each page of a group in turn, as `page`."""
    pages = [path for path in page_paths() if group_of(path) == group]
    names = [path.relative_to(ROOT).as_posix() for path in pages]
    return pytest.mark.parametrize("page", pages, ids=names)


def run_examples(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where an example of a page does not do what the page says."""
    (folder / "project").mkdir()
    monkeypatch.chdir(folder / "project")
    monkeypatch.syspath_prepend(folder / "project")
    text = page.read_text(encoding="utf-8")
    found = [f"{page.name}, {deviation}" for deviation in run_page(text, folder)]
    assert not found, "\n\n".join(found)
