"""The pages keep the rules that this project sells, and their links lead somewhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reflex.checks.structure.markdown.links import slugs
from pytest_reflex.checks.structure.markdown.model import parse
from tests.docs.pages import ROOT, page_paths

PAGES = page_paths()
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]


@pytest.mark.long
def test_the_pages_pass_the_criteria_for_documents() -> None:
    quick = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "pytest_cov")]
    suites = ["readme.reflex.yaml", "docs/pages.reflex.yaml"]
    command = [sys.executable, "-m", "pytest", *quick, "--tb=no", *suites]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_to_headings_of_other_pages_meet_one(page: Path) -> None:
    document = parse(page.read_text(encoding="utf-8"))
    for link in document.links:
        target, _, anchor = link.target.partition("#")
        if anchor and target and "://" not in target:
            there = parse((page.parent / target).read_text(encoding="utf-8"))
            assert anchor in slugs(there), f"{page.name}, line {link.line}: {link.target}"


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "README.md" or f"({name})" in index, f"{name} is missing in docs/README.md"
