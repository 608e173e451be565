"""The fixes that add lines: `insert_text` and `append`."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.fixes import FixError, apply
from pytest_reflex.model.rules import Fix

DOC = "alpha one\nbeta\nalpha\ngamma\n"

PLACED: dict[str, tuple[dict[str, str], str]] = {
    "after-the-line-that-is-the-anchor": (
        {"after": "alpha"},
        "alpha one\nbeta\nalpha\nNEW\ngamma\n",
    ),
    "after-a-part-of-a-line": ({"after": "one"}, "alpha one\nNEW\nbeta\nalpha\ngamma\n"),
    "after-the-last-line": ({"after": "gamma"}, DOC + "NEW\n"),
    "after-an-anchor-of-two-lines": ({"after": "one\nbe"}, "alpha one\nbeta\nNEW\nalpha\ngamma\n"),
    "before-a-line": ({"before": "beta"}, "alpha one\nNEW\nbeta\nalpha\ngamma\n"),
    "at-start": ({"at": "start"}, "NEW\n" + DOC),
    "at-end": ({"at": "end"}, DOC + "NEW\n"),
}


def mend(document: str, kind: str = "insert_text", **params: Any) -> str:
    return apply(Fix(kind=kind, params=params), document)


@pytest.mark.parametrize(("place", "mended"), PLACED.values(), ids=PLACED.keys())
def test_lines_are_put_once(place: dict[str, str], mended: str) -> None:
    assert mend(DOC, text="NEW", **place) == mended
    assert mend(mended, text="NEW", **place) == mended


def test_text_that_holds_its_own_anchor_is_put_once() -> None:
    once = mend("x\n", text="see x", before="x")
    assert once == "see x\nx\n"
    assert mend(once, text="see x", before="x") == once


def test_missing_anchor_is_named() -> None:
    with pytest.raises(FixError, match="no line holds 'delta'"):
        mend(DOC, text="NEW", after="delta")


def test_last_line_without_an_end_gets_one() -> None:
    assert mend("a\nb", text="NEW", after="b") == "a\nb\nNEW\n"
    assert mend("a\nNEW", text="NEW", after="a") == "a\nNEW"


def test_windows_line_ends_are_used() -> None:
    assert mend("a\r\nb\r\n", text="x\ny", after="a") == "a\r\nx\r\ny\r\nb\r\n"
    assert mend("a\r\nb\r\nc\r\n", text="x", after="a\nb") == "a\r\nb\r\nx\r\nc\r\n"


SEAMS: dict[str, tuple[str, dict[str, str], str]] = {
    "an empty line behind a CR": (
        "# T\na: 1\r",
        {"text": "\nz", "after": "a"},
        "# T\na: 1\r\r\nz\n",
    ),
    "an empty line in front, behind a CR": (
        "x\n\ra\n",
        {"text": "\nz", "before": "a"},
        "x\n\r\r\nz\na\n",
    ),
    "a CR before an empty line": (
        "a\n\nb\rc\rd\re\r",
        {"text": "z", "after": "a"},
        "a\nz\r\n\nb\rc\rd\re\r",
    ),
    "an empty line at the end": ("b\na\r", {"text": "\nz", "at": "end"}, "b\na\r\r\nz\n"),
    "a CR at the start, before an empty line": (
        "\nb\rc\r",
        {"text": "z", "at": "start"},
        "z\r\n\nb\rc\r",
    ),
}


@pytest.mark.parametrize(("before", "params", "mended"), SEAMS.values(), ids=SEAMS.keys())
def test_lines_stay_lines_where_a_cr_meets_an_lf(
    before: str, params: dict[str, str], mended: str
) -> None:
    assert mend(before, **params) == mended
    assert mend(mended, **params) == mended


def test_lines_that_are_there_are_found_whatever_ends_them() -> None:
    for document in ("a\rx\ny\r\nb\n", "a\n\n\ra\r\nx\ry\r\n", "a\rx\ry"):
        assert mend(document, text="x\ny", after="a") == document
    assert mend("x\ry\r\na\n", text="x\ny", before="a") == "x\ry\r\na\n"
    assert mend("a\nb\rc\n", text="z", after="a\nb\nc") == "a\nb\rc\nz\n"


def test_append_adds_lines_once() -> None:
    once = mend("a", kind="append", text="\nend\n")
    assert once == "a\n\nend\n"
    assert mend(once, kind="append", text="\nend\n") == once


def test_append_does_not_take_a_part_of_a_line_for_its_text() -> None:
    assert mend("the end\n", kind="append", text="end") == "the end\nend\n"


def test_line_start_comes_after_a_byte_order_mark() -> None:
    assert mend("\ufeffa\n", text="x", at="start") == "\ufeffx\na\n"


MATTER = "---\ntitle: x\n---\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_start_is_behind_front_matter(end: str) -> None:
    document = (MATTER + "# T\n").replace("\n", end)
    once = mend(document, text="NEW", at="start")
    assert once == (MATTER + "NEW\n# T\n").replace("\n", end)
    assert mend(once, text="NEW", at="start") == once


@pytest.mark.parametrize("document", ["---\n\ntext\n", "---\na:\n  b: 1\n---\nc: {d: 2}\n"])
def test_start_is_the_first_line_without_front_matter(document: str) -> None:
    assert mend(document, text="# NEW", at="start") == "# NEW\n" + document


def test_front_matter_without_a_line_end_gets_one() -> None:
    assert mend(MATTER.rstrip("\n"), text="NEW", at="start") == MATTER + "NEW\n"


@pytest.mark.parametrize("kind", ["append", "insert_text"])
@pytest.mark.parametrize("opening", ["```\nx", "~~~~ text\n~~~\n", "<!-- a\n", "<script>\n"])
def test_nothing_is_put_into_what_is_not_closed(kind: str, opening: str) -> None:
    place = {"at": "end"} if kind == "insert_text" else {}
    with pytest.raises(FixError, match="lies in a code fence or HTML that is not closed"):
        mend(f"# T\n\n{opening}", kind=kind, text="NEW", **place)


@pytest.mark.parametrize("document", ["```\nx\n```\n", "a:\n  b: |\n    ```\n", "a <b\n"])
def test_what_is_closed_or_no_markdown_gets_its_lines(document: str) -> None:
    assert mend(document, kind="append", text="NEW") == document + "NEW\n"


def test_append_may_close_what_is_open() -> None:
    assert mend("```\nx\n", kind="append", text="```") == "```\nx\n```\n"
