"""The entries of a changelog: found, each once, the newest first, with a date and a text."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from tests.structure.judging import judge, problems


def releases(text: str, **params: Any) -> CheckResult:
    return judge(text, {"releases": {"min_count": 0, **params}})


ENTRIES = {
    "keep a changelog": ("# Changelog\n\n## [Unreleased]\n\n## [1.0.0] - 2026-03-01\n\n- a\n", 2),
    "titles of two levels": ("# 2.0.0 (2026-03-01)\n\n## 1.9.1 (2026-02-01)\n\n# 1.9.0\n", 3),
    "underlined": ("1.0\n===\n\nb\n\n0.9 / 2026-01-01\n===\n\na\n", 2),
    "named": ("## Version 2.1\n\n## Tool v2.0\n\n## tool/cli 1.9\n\n## @tool/cli@1.8.0\n", 4),
    "a number alone": ("## v3\n\n## 2\n", 2),
    "days": ("# What is new\n\n## 2026-03-01\n\n## March 1st, 2025\n\n## 1 Feb. 2025\n", 3),
    "notes below": ("# Changelog\n\n## 1.2\n\n### Python 3.12 support\n\n### For 1.1 users\n", 1),
    "what is next": ("## Next\n\n## TBD\n\n## master (unreleased)\n", 3),
    "lines in bold": ("Notes\n\n**1.1 / 2026-01-01**\n- b\n\n__v1.0__:\n\na\n\n**Thanks**\n", 2),
    "bold days": ("# Changes\n\n**2026-03-01**\n\n- a\n\n**2026-02-01**\n\n- b\n", 2),
    "bold below headings": ("## 1.1\n\n**1.0.5**\n\na\n", 1),
    "bold words": ("Since **1.0** it is fast.\n\n**1.0** is old\n\n- **0.9**: a\n", 0),
    "none": ("# Changelog\n\n## Features\n\n## Since 2020\n\n- 1.0 was released\n", 0),
    "no version": ("# Notes\n\n## Support for Python 3.12 was added to it\n\n## 1.x\n", 0),
}


@pytest.mark.parametrize(("text", "count"), ENTRIES.values(), ids=ENTRIES)
def test_headings_with_a_version_or_a_day_are_entries(text: str, count: int) -> None:
    assert releases(text, unique=True).message == f"{count} releases"
    too_few = releases(text, min_count=count + 1)
    assert too_few.outcome is Outcome.FAIL
    assert str(count) in too_few.message or "no heading names a version" in too_few.message


OLD = "\n- text\n\n## 1.0.0 - 2026-01-01\n\n- text\n"
FAULTS: list[tuple[str, str, str, int]] = [
    ("unique", "## v1.0\n\n- a\n\n## [1.0]\n\n- b\n", "1.0 is there twice, first in line 1", 5),
    ("unique", "## 1.0-rc.1\n\n## 1.0\n\n## 1.0-rc.1\n", "1.0-rc.1 is there twice", 5),
    ("unique", "## tool 1.0\n\n## cli 1.0\n\n## Tool 1.0\n", "1.0 is there twice", 5),
    ("unique", "## 2026.10.20\n\n- a\n\n## v2026.10.20\n", "2026.10.20 is there twice", 5),
    ("newest_first", f"## 0.9 - 2025-01-01\n{OLD}", "1.0.0 of 2026-01-01 comes below 0.9", 5),
    ("newest_first", "## 1.9\n\n## 1.10\n\n## 2.0\n", "the oldest comes first: 1.9", 1),
    ("newest_first", "## 2025-01-01\n\n## 2026-01-01\n", "of 2026-01-01 comes below", 3),
    ("dated", f"## 1.1 - 2026-02-29\n{OLD}", "2026-02-29 is not a day of the calendar", 1),
    ("dated", f"## 1.1\n\n31 April 2026\n{OLD}", "31 April 2026 is not a day", 1),
    ("dated", f"## 1.1\n{OLD}", "1.1 has no date, and others have", 1),
    ("dated", f"## Unreleased\n\n## 1.1\n{OLD}", "1.1 has no date, and others have", 3),
    ("filled", f"## 1.1\n\n## 1.0.5{OLD}", "1.1 does not say what changed", 1),
    ("filled", f"## 1.1\n\n### Fixed\n\n## 1.0.5{OLD}", "1.1 does not say what changed", 1),
    ("filled", f"## 1.1{OLD}\n## 0.9\n\n[0.9]: https://x.y\n", "0.9 does not say", 8),
    ("unique", "**1.0**\n\na\n\n**1.0**\n", "1.0 is there twice, first in line 1", 5),
    ("filled", "**1.1**\n\n**1.0**\n\na\n", "1.1 does not say what changed", 1),
    ("dated", "**1.1**\n\na\n\n**1.0 / 2026-01-01**\n\na\n", "1.1 has no date, and others", 1),
    ("unique_headings", "## 2\n\n### A\n\na\n\n### A\n\nb\n", "2 has a second heading 'A'", 7),
    (
        "unique_headings",
        "### 1.1\n\n### Fix\n\na\n\n### Fix\n",
        "1.1 has a second heading 'Fix'",
        7,
    ),
]


@pytest.mark.parametrize(("option", "text", "message", "line"), FAULTS)
def test_fault_of_an_entry_is_found_in_its_line(
    option: str, text: str, message: str, line: int
) -> None:
    result = releases(text, **{option: True})
    assert result.outcome is Outcome.FAIL
    assert message in result.message
    assert result.location is not None
    assert result.location.line == line


GOOD: list[tuple[str, str]] = [
    ("unique", "## tool 1.0\n\n## cli 1.0\n\n## 1.0.1\n\n## 1.0.10\n"),
    ("unique", "## 2026-10-20\n\n- a\n\n## 2026-10-20\n\n## 2026.10.2\n\n## 2026.10.20\n"),
    ("newest_first", f"## 1.1 - 2025-06-01\n{OLD}"),
    ("newest_first", f"## 0.9.9 - 2026-05-01\n{OLD}"),
    ("newest_first", "## 1.0\n\n## 1.1\n\n## 0.9\n"),
    ("newest_first", "## 1.1 - 2026-01-01\n\n## 1.0\n\n## 0.9 - 2025-01-01\n"),
    ("dated", "## 1.1\n\n## 1.0\n"),
    ("dated", f"## 1.1\n\n_Released Sep 14, 2026_\n{OLD}"),
    ("dated", f"## 1.1 - 1.2.2026\n\nof 2026-02-01\n{OLD}"),
    ("dated", f"## 1.1 - 2026/2/1\n\n## 1.0.9\n{OLD}"),
    ("filled", "## Unreleased\n\n## 1.0\n\nText.\n"),
    ("filled", "### 1.0\n\n### Fixed\n\n- a\n\n# 0.9\n\n- b\n"),
    ("unique_headings", "## 1.1\n\n### A\n\n## 1.0\n\n### A\n"),
    ("unique_headings", "## 1.1\n\n### A\n\n#### X\n\n### B\n\n#### X\n"),
]


@pytest.mark.parametrize(("option", "text"), GOOD)
def test_well_kept_entries_pass(option: str, text: str) -> None:
    assert releases(text, **{option: True}).outcome is Outcome.PASS


def test_check_that_asks_for_nothing_is_refused() -> None:
    assert [p.message for p in problems({"releases": {"min_count": 0}})] == [
        "releases: it asks for nothing, so that it cannot fail"
    ]


HEADINGS: list[tuple[dict[str, Any], str, str, int]] = [
    ({"unique": True}, "# T\n\n## A\n\n## B\n\n## A\n", "a second heading 'A', the first is in", 7),
    ({"unique": True}, "# T\n\n## A\n\n### X\n\n### X\n", "a second heading 'X'", 7),
    ({"unique": True}, "<h1>T</h1>\n<h1>U</h1>\n\n# A\n\n# A\n", "a second heading 'A'", 6),
    ({"empty": False}, "# T\n\n## A\n\n## B\n\ntext\n", "nothing under the heading 'A'", 3),
    ({"empty": False}, "# T\n\ntext\n\n## A\n", "nothing under the heading 'A'", 5),
    ({"empty": False}, "# T\n\ntext\n\nA\n---\n\n\n# B\n\nb\n", "nothing under the heading 'A'", 5),
]


@pytest.mark.parametrize(("params", "text", "message", "line"), HEADINGS)
def test_heading_that_is_there_twice_or_empty_is_found(
    params: dict[str, Any], text: str, message: str, line: int
) -> None:
    result = judge(text, {"headings": params})
    assert result.outcome is Outcome.FAIL
    assert message in result.message
    assert result.location is not None
    assert result.location.line == line


@pytest.mark.parametrize(
    "text",
    [
        "# T\n\n## A\n\n### X\n\na\n\n## B\n\n### X\n\nb\n",
        "# T\n\n## request.url\n\na\n\n## request.URL\n\nb\n",
        "T\n=\n\n## A\n\n```\n# A\n```\n",
    ],
)
def test_headings_with_text_and_of_other_sections_pass(text: str) -> None:
    assert judge(text, {"headings": {"unique": True, "empty": False}}).outcome is Outcome.PASS
