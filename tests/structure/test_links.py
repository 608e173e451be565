"""Links lead to files, headings and references that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.checks import markdown
from pytest_reflex.checks.links import slugs
from pytest_reflex.model.words import Outcome
from tests.structure.judging import judge

GOOD = [
    "[a](https://example.org/x) <https://example.org> [m](mailto:a@b.c) [r](//cdn.x/y)",
    "[here](there.md) ![p](pic%20one.png) [part](there.md#x) [q](there.md?raw=1)",
    "[site](/from/the/root) [empty]() [top](#top)",
    "# A b, C!\n\n[up](#a-b-c)",
    "# A\n\n# A\n\n[second](#a-1)",
    "<a id='spot'></a>\n\n[to](#spot)",
    "# T {#own}\n\n[to](#own)",
    "# Größe\n\n[to](#größe)",
    "[a][b] [b][] [b]\n\n[b]: https://example.org",
    "`[a][b]` and x[0][1] and [^1][^2] and \\[a][b]",
    "[ ] todo\n\n> [!NOTE]\n> text",
    '<img src="pic one.png"> <a href="https://x.y">z</a>',
    "<!-- [a](nowhere.md) <img src='nowhere.png'> -->",
    "```md\n[a](nowhere.md)\n```",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "there.md").write_text("# X\n")
    (tmp_path / "pic one.png").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("text", GOOD)
def test_links_that_lead_somewhere_pass(text: str, folder: Path) -> None:
    assert judge(text, {"links": True}, base=folder).outcome is Outcome.PASS


BAD = [
    ("\n[a](nowhere.md)", "the link target 'nowhere.md' does not exist", 2),
    ("![a](no.png)", "the image 'no.png' does not exist", 1),
    ("text\n<p>\n<img width=1 src='no.png'>\n</p>", "the image 'no.png' does not exist", 3),
    ("[a](" + "x" * 5000 + ")", "the link target 'xxx", 1),
    ("[a](a%00b)", "the link target 'a\\x00b' does not exist", 1),
    ("# A\n\n[b](#b)", "the anchor #b leads to no heading", 3),
    ("a\n[text][label]", "the reference [label] is not defined", 2),
    ("[text][]", "the reference [text] is not defined", 1),
    ("![alt][pic]", "the reference [pic] is not defined", 1),
]


@pytest.mark.parametrize(("text", "message", "line"), BAD, ids=[message for _, message, _ in BAD])
def test_link_that_leads_nowhere_fails_at_its_line(
    text: str, message: str, line: int, folder: Path
) -> None:
    result = judge(text, {"links": True}, base=folder)
    assert result.message.startswith(message)
    assert result.location
    assert result.location.line == line


def test_number_of_links_counts_no_images() -> None:
    result = judge("![a](https://x.y/z.png) [b](https://x.y)", {"links": {"min_count": 2}})
    assert result.message == "1 links, at least 2 are wanted"
    assert result.outcome is Outcome.FAIL


def test_only_what_is_asked_for_is_looked_at() -> None:
    assert judge("[a](no.md) [b](#no)", {"links": {"references": True}}).outcome is Outcome.PASS


def test_slugs_are_those_of_the_forge() -> None:
    document = markdown.parse("# A `b` C++\n\n## A_b-c (d)\n\n## A_b-c (d)\n\n## 🎉 Done\n")
    assert slugs(document) == {"a-b-c", "a_b-c-d", "a_b-c-d-1", "-done"}
