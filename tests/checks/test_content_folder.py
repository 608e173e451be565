"""Checks of type content on a folder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_reflex.checks.selection import for_each_file
from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Artifact, Reason, SkippedFile
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from tests.checks.building import folder, search

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR

DOCS = folder(a_md="yes one\n", sub__b_md="\nyes two TODO\n", c_txt="no\n", p_png=b"\x89PNG\0")


@pytest.mark.parametrize(
    ("params", "outcome"),
    [
        pytest.param({"search": "yes", "files": "*.md"}, PASS, id="one"),
        pytest.param({"search": "two", "files": ["*.md", "*.txt"]}, PASS, id="one of several"),
        pytest.param({"search": "absent", "files": "*.md"}, FAIL, id="none"),
        pytest.param({"search": "yes", "files": "*.md", "each": True}, PASS, id="each"),
        pytest.param({"search": "two", "files": "*.md", "each": True}, FAIL, id="not each"),
        pytest.param({"search": "yes", "files": "*.rst"}, FAIL, id="no file"),
        pytest.param({"search": "yes", "files": "*.rst", "each": True}, FAIL, id="no file, each"),
        pytest.param({"search": "yes", "files": "*.rst", "negate": True}, ERROR, id="no file, not"),
        pytest.param({"search": "TODO", "files": "*.md", "negate": True}, FAIL, id="not in any"),
        pytest.param({"search": "XXX", "files": "*.md", "negate": True}, PASS, id="in none"),
        pytest.param({"search": "yes"}, ERROR, id="neither files nor each"),
        pytest.param({"search": "yes", "files": "*"}, PASS, id="found beside a binary file"),
        pytest.param({"search": "absent", "files": "*"}, ERROR, id="not found beside a binary"),
        pytest.param({"search": "absent", "negate": True}, ERROR, id="binary could hold it"),
        pytest.param({"search": "TODO", "negate": True}, FAIL, id="there in spite of a binary"),
        pytest.param({"search": "yes", "files": "sub/*"}, PASS, id="sub folder"),
        pytest.param({"search": "yes", "files": "*.md", "max_count": 1}, PASS, id="at most"),
        pytest.param({"search": "TODO", "files": "*.md", "max_count": 0}, FAIL, id="not at most"),
        pytest.param(
            {"search": "[oO]", "files": "*.md", "max_count": 2}, FAIL, id="more in the second file"
        ),
        pytest.param(
            {"search": "[oO]", "files": "*.md", "max_count": 3}, PASS, id="three, not more"
        ),
        pytest.param({"search": "zz", "max_count": 1}, ERROR, id="at most, beside a binary"),
        pytest.param({"search": "x", "files": "*.rst", "max_count": 1}, ERROR, id="at most, none"),
        pytest.param(
            {"search": "two", "files": "*.md", "min_count": 1, "max_count": 1},
            FAIL,
            id="exactly one in each",
        ),
        pytest.param(
            {"search": "TODO", "files": "*.md", "min_count": 1}, PASS, id="at least, in one file"
        ),
    ],
)
def test_folder_passes_by_one_file_or_by_each(params: dict[str, Any], outcome: Outcome) -> None:
    assert search(DOCS, **params).outcome is outcome


TEXTS = folder(a_md="yes one\n", b_md="yes two TODO\n")
ONLY_BY = {
    "each": ({"search": "yes", "each": True}, PASS),
    "each, not there": ({"search": "two", "each": True}, FAIL),
    "negate": ({"search": "XXX", "negate": True}, PASS),
    "negate, there": ({"search": "TODO", "negate": True}, FAIL),
    "max_count": ({"search": "TODO", "max_count": 1}, PASS),
    "max_count, too often": ({"search": "TODO", "max_count": 0}, FAIL),
    "files": ({"search": "two", "files": "*"}, PASS),
    "nothing": ({"search": "yes"}, ERROR),
    "min_count": ({"search": "yes", "min_count": 2}, ERROR),
    "each that is false": ({"search": "yes", "each": False}, ERROR),
}


@pytest.mark.parametrize(("params", "outcome"), ONLY_BY.values(), ids=ONLY_BY)
def test_a_folder_needs_files_or_a_word_on_all_of_them(
    params: dict[str, Any], outcome: Outcome
) -> None:
    assert search(TEXTS, **params).outcome is outcome


BINARY_FIRST = folder(a_png=b"\x89PNG\0", b_md="yes\n", c_md="no\n")


@pytest.mark.parametrize(
    ("params", "outcome", "message"),
    [
        ({"search": "yes", "files": "*"}, PASS, "b.md: pattern found at line 1"),
        ({"search": "yes", "each": True}, FAIL, "c.md: pattern not found"),
        (
            {"search": "no", "negate": True},
            FAIL,
            "c.md: pattern found at line 1; it must not be there",
        ),
        ({"search": "oh", "files": "*"}, ERROR, "a.png: a.png is binary: a NUL"),
    ],
)
def test_a_file_that_cannot_be_judged_hides_none_that_decides(
    params: dict[str, Any], outcome: Outcome, message: str
) -> None:
    result = search(BINARY_FIRST, **params)
    assert result.outcome is outcome
    assert result.message.startswith(message)
    assert result.pattern == ("" if outcome is ERROR else params["search"])


UNREAD = SkippedFile(path="z.md", reason=Reason.UNREADABLE, detail="Permission denied")


@pytest.mark.parametrize(
    ("params", "outcome", "message", "notes"),
    [
        pytest.param(
            {"search": "two", "files": "*"}, PASS, "b.md: pattern found at line ", True, id="one"
        ),
        pytest.param({"search": "yes", "each": True}, ERROR, "not checked: ", False, id="each"),
        pytest.param(
            {"search": "two", "each": True}, FAIL, "a.md: pattern not found", True, id="not each"
        ),
        pytest.param({"search": "X", "negate": True}, ERROR, "not checked: ", False, id="in none"),
        pytest.param(
            {"search": "TODO", "negate": True},
            FAIL,
            "b.md: pattern found at line ",
            True,
            id="in one",
        ),
        pytest.param(
            {"search": "XXX", "files": "*"},
            FAIL,
            "pattern not found in any of 2 files; not checked: ",
            False,
            id="in no file that was read",
        ),
        pytest.param(
            {"search": "X", "files": "z.*"},
            FAIL,
            "no file of docs matches z.*; not checked: ",
            False,
            id="no file that was read",
        ),
        pytest.param(
            {"search": "X", "files": "z.*", "negate": True},
            ERROR,
            "no file of docs matches z.*; not checked: ",
            False,
            id="no file that was read, negated",
        ),
        pytest.param(
            {"search": "X", "files": "z.*", "each": True},
            ERROR,
            "not checked: ",
            False,
            id="no file that was read, each",
        ),
    ],
)
def test_a_file_that_was_not_read_is_told_of_and_may_decide(
    params: dict[str, Any], outcome: Outcome, message: str, notes: bool
) -> None:
    result = search(replace(TEXTS, left_out=(UNREAD,)), **params)
    assert result.outcome is outcome
    assert result.message.startswith(message)
    told = [note for note in result.notes if note.startswith("not checked: ") and "z.md" in note]
    assert len(told) == notes
    assert ("z.md" in result.message) is not notes


def test_place_names_folder_and_file() -> None:
    result = search(DOCS, search="TODO", files="*.md", negate=True)
    assert result.location == Place("docs/sub/b.md", 2, 9)
    assert result.message == (
        "sub/b.md: pattern found at line 2; it must not be there (2 of 2 files checked)"
    )


def test_message_tells_how_many_files_were_searched() -> None:
    assert search(DOCS, search="zz", files="*.md").message == "pattern not found in any of 2 files"
    assert search(DOCS, search="yes", files="*.md", each=True).message == "2 of 2 files checked"


@pytest.mark.parametrize(
    ("each", "negative", "judged"),
    [(False, False, "a.md"), (True, False, "a.md sub/b.md"), (False, True, "a.md sub/b.md")],
)
def test_no_file_is_judged_behind_the_one_that_decides(
    each: bool, negative: bool, judged: str
) -> None:
    names: list[str] = []

    def judge(file: Artifact) -> CheckResult:
        names.append(file.name)
        return CheckResult(outcome=PASS)

    result = for_each_file(DOCS, ("*.md",), judge, each=each, negative=negative)
    assert result.outcome is PASS
    assert " ".join(names) == judged


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"search": "two", "files": "a.md"}, "a.md: pattern not found"),
        ({"search": "one", "files": "a.md", "each": True}, "a.md: pattern found at line 1"),
    ],
)
def test_message_names_the_only_file_that_was_searched(
    params: dict[str, Any], message: str
) -> None:
    result = search(TEXTS, **params)
    assert (result.message, result.pattern) == (message, params["search"])


@pytest.mark.parametrize(
    ("section", "message"),
    [("One", "pattern not found in section 'One'"), ("Two", "there is no section 'Two'")],
)
def test_message_of_no_file_that_passes_is_that_of_the_first(section: str, message: str) -> None:
    files = folder(a_md="# One\n", b_md="# Two\n", c_md="# One\n# Two\n")
    result = search(files, search="x", files="[ab].md", section=section)
    assert result.message == f"{message} in any of 2 files"


def test_message_tells_that_no_file_matched() -> None:
    assert search(DOCS, search="x", files="*.rst").message == "no file of docs matches *.rst"


def test_a_check_of_one_file_says_what_it_needs_for_a_folder() -> None:
    assert search(DOCS, search="yes").message.startswith(
        "docs is a folder, and this check says neither `files` nor `each`"
    )
