"""The fix that adds a section to a Markdown document."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.fixes import FixError, apply
from pytest_reflex.model.rules import Fix

DOC = "# T\n\n## Install\n\npip\n\n### Extras\n\nmore\n\n## Licence\n\nMIT\n"


def mend(document: str, **params: Any) -> str:
    return apply(Fix(kind="insert_section", params=params), document)


def test_section_goes_behind_the_subsections_of_its_anchor() -> None:
    mended = mend(DOC, heading="## Usage", after="## Install", text="run it\n")
    assert mended == DOC.replace("## Licence", "## Usage\n\nrun it\n\n## Licence")


def test_section_goes_before_its_anchor() -> None:
    mended = mend(DOC, heading="## Usage", before="Licence", text="run it")
    assert mended == DOC.replace("## Licence", "## Usage\n\nrun it\n\n## Licence")


@pytest.mark.parametrize("place", [{}, {"after": "## Missing"}, {"before": "Missing"}])
def test_section_without_an_anchor_goes_to_the_end(place: dict[str, str]) -> None:
    assert mend(DOC, heading="## Usage", text="x", **place) == DOC + "\n## Usage\n\nx\n"


@pytest.mark.long
@pytest.mark.parametrize("heading", ["## Install", "## install", "##  Install ##"])
def test_section_that_exists_is_left_alone(heading: str) -> None:
    assert mend(DOC, heading=heading, text="x") == DOC


def test_heading_of_another_level_does_not_count() -> None:
    assert mend(DOC, heading="## Extras").endswith("MIT\n\n## Extras\n")


def test_heading_inside_a_code_block_does_not_count() -> None:
    text = "# T\n\n```\n## Usage\n```\n"
    assert mend(text, heading="## Usage") == text + "\n## Usage\n"


def test_underlined_heading_is_an_anchor() -> None:
    text = "Title\n=====\n\nOne\n---\n\na\n\nTwo\n---\n\nb\n"
    mended = mend(text, heading="## New", after="One")
    assert mended == text.replace("Two\n", "## New\n\nTwo\n")


def test_text_without_a_final_line_end_gets_one_and_a_gap() -> None:
    assert mend("# T\n\nlast", heading="## Usage") == "# T\n\nlast\n\n## Usage\n"


def test_windows_line_ends_are_kept() -> None:
    mended = mend("# T\r\n\r\nlast\r\n", heading="## Usage", text="a\nb")
    assert mended == "# T\r\n\r\nlast\r\n\r\n## Usage\r\n\r\na\r\nb\r\n"


def test_byte_order_mark_stays_first() -> None:
    assert mend("\ufeff# Usage\n", heading="## More") == "\ufeff# Usage\n\n## More\n"


def test_front_matter_is_no_heading() -> None:
    text = "---\ntitle: x\n---\n\n# T\n"
    assert mend(text, heading="## Usage", after="title: x") == text + "\n## Usage\n"


def test_open_code_fence_refuses_the_section() -> None:
    with pytest.raises(FixError, match="'## Usage' would not be a heading at line 5"):
        mend("# T\n\n```\ncode\n", heading="## Usage")


def test_empty_text_becomes_the_section() -> None:
    assert mend("", heading="# Usage", text="x") == "# Usage\n\nx\n"


def test_a_document_that_is_data_gets_no_section() -> None:
    with pytest.raises(FixError, match="is data"):
        mend("openapi: 3.1.0\n# Paths\npaths:\n  /a: {}\n", heading="## Notes", text="x")


def test_a_paragraph_with_a_colon_is_no_data() -> None:
    assert "## Notes" in mend("# Title\nNote: this is prose\n", heading="## Notes", text="x")


@pytest.mark.parametrize(
    ("before", "mended"),
    [
        ("# T\n\na\r", "# T\n\na\r\r\n## New\n"),
        ("# T\n\n## A\r", "# T\n\n## A\r\r\n## New\n"),
        ("# T\r\rb\r## A\n", "# T\r\rb\r## A\n\r## New\r"),
    ],
)
def test_empty_line_stays_where_a_cr_meets_an_lf(before: str, mended: str) -> None:
    assert mend(before, heading="## New") == mended
