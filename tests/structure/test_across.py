"""Several files of a folder as one: unique numbers, links from an index, sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks import content
from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.checks.structure import check
from pytest_reflex.checks.structure.check import KINDS, StructureCheck, kind_of
from pytest_reflex.errors import CriteriaError, Place
from pytest_reflex.model.artifact import Artifact, Reason, SkippedFile
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from tests.structure.judging import judge, problems

Files = dict[str, str]


def together(
    params: dict[str, Any], files: Files, left_out: tuple[SkippedFile, ...] = ()
) -> CheckResult:
    """Return what a check with `across` says of a folder `d`."""
    parts = tuple(Artifact(path=Path(n), name=n, data=t.encode()) for n, t in files.items())
    folder = Artifact(path=Path("d"), name="d", files=parts, left_out=left_out)
    kind = ContentCheck() if "search" in params else StructureCheck()
    spec = CheckSpec(type=kind.name, params={"across": True, **params})
    return kind.compile(spec, {})(folder, CheckContext(root=Path()))


def front(number: object) -> str:
    return f"---\ntitle: T\nnumber: {number}\n---\n"


NUMBER: dict[str, Any] = {"path": "number", "block": "front-matter", "unique": True}
NAMES: dict[str, Any] = {"names": {"matches": r"^(\d+)-", "unique": True, "consecutive": True}}
INDEX: dict[str, Any] = {"links": {"index": "README.md"}}
PAGES = {"a.md": "# A\n", "sub/b.md": "# B\n", "sub/index.md": "# S\n", "c d.md": "# C\n"}
LINKS = "[a](a.md#x) [b](./sub/b) [s](sub/) [c](c%20d.md)\n"

GOOD: list[tuple[dict[str, Any], Files]] = [
    (NUMBER, {"a.md": front(1), "b.md": front(2), "c.md": front("'x'")}),
    (NUMBER, {"a.md": front(1), "b.md": front("true"), "c.md": front("[1]")}),
    ({**NUMBER, "consecutive": True}, {"a.md": front(4), "b.md": front("'06'"), "c.md": front(5)}),
    ({"path": "n", "some": True}, {"a.yaml": "n: 1\n", "b.yaml": "m: 1\n"}),
    ({"path": "n", "min_count": 2}, {"a.yaml": "n: 1\n", "b.yaml": "n: 2\n", "c.yaml": "m: 1\n"}),
    ({"path": "n", "exists": False}, {"a.yaml": "m: 1\n", "b.yaml": "m: 2\n"}),
    (
        {"path": "l[*].n", "unique": True},
        {"a.yaml": "l: [{n: a}, {n: b}]\n", "b.json": '{"l":[{"n":"c"}]}'},
    ),
    (
        {"path": "n", "unique": True},
        {
            "a.yaml": f"n: {'x' * 60}a\n",
            "b.yaml": f"n: {'x' * 60}b\n",
            "c.yaml": f"n: '{'1' * 5000}'\n",
        },
    ),
    (NAMES, {"0001-a.md": "", "sub/0002-b.md": "", "0003-c.md": ""}),
    ({"names": {"matches": "^[a-z-]+[.]md$", "unique": True}}, {"a.md": "", "b-c.md": ""}),
    (INDEX, {"README.md": LINKS, **PAGES}),
    (INDEX, {"README.md": "<a href='/a.md'>a</a>\n", "a.md": ""}),
    (
        {"links": {"index": "./docs/nav.md"}, "files": "docs/*.md"},
        {"docs/nav.md": "[a](a.md)", "docs/a.md": "", "b.md": ""},
    ),
    ({"count": {"images": {"max": 2}}}, {"a.md": "![a](b)\n", "b.md": "![a](b)\n"}),
    ({"count": {"items": {"min": 3}}}, {"a.md": "- a\n- b\n", "b.md": "- c\n"}),
    ({"search": "TODO", "max_count": 2}, {"a.md": "TODO\n", "b.md": "TODO\n"}),
    ({"search": "x", "min_count": 3}, {"a.md": "x\n", "b.md": "x x\n"}),
]


@pytest.mark.parametrize(("params", "files"), GOOD, ids=str)
def test_files_that_pass_as_one_pass(params: dict[str, Any], files: Files) -> None:
    result = together(params, files)
    assert result.outcome is Outcome.PASS, result.message


BAD: list[tuple[dict[str, Any], Files, str, tuple[str, int]]] = [
    (
        NUMBER,
        {"a.md": front(7), "b.md": front("'07'")},
        "07 is there twice, first in a.md:3",
        ("b.md", 3),
    ),
    (NUMBER, {"a.md": front(7), "b.md": "# B\n"}, "there is no front matter", ("b.md", 1)),
    (NUMBER, {"a.md": front(7), "b.md": "---\nx: 1\n---\n"}, "number is not there", ("b.md", 2)),
    (NUMBER, {"a.md": front("["), "b.md": front(1)}, "not valid YAML", ("a.md", 4)),
    (
        {**NUMBER, "consecutive": True},
        {"a.md": front(1), "b.md": front(4)},
        "2 to 3 is missing, between 1 in a.md:3 and 4",
        ("b.md", 3),
    ),
    (
        {**NUMBER, "consecutive": True},
        {"a.md": front(1), "b.md": front("x")},
        "x is not a whole number",
        ("b.md", 3),
    ),
    (
        {"path": "n", "equals": 1},
        {"a.yaml": "n: 1\n", "b.yaml": "m: 1\nn: 2\n"},
        "n is 2, not 1",
        ("b.yaml", 2),
    ),
    (
        {"path": "n", "exists": False},
        {"a.yaml": "m: 1\n", "b.yaml": "m: 2\nn: 1\n"},
        "n must not be there",
        ("b.yaml", 2),
    ),
    (
        {"path": "n", "some": True, "equals": 3},
        {"a.yaml": "n: 1\n", "b.yaml": "n: 2\n"},
        "n is 1, not 3",
        ("a.yaml", 1),
    ),
    (
        {"path": "n", "min_count": 3},
        {"a.yaml": "n: 1\n", "b.yaml": "n: 2\n"},
        "n leads to 2 values, at least 3 are wanted",
        ("", 0),
    ),
    (
        {"path": "l[*].n", "unique": True},
        {"a.yaml": "l: [{n: a}]\n", "b.yaml": "l:\n- n: b\n- n: a\n"},
        "a is there twice, first in a.yaml:1",
        ("b.yaml", 3),
    ),
    (
        NAMES,
        {"0001-a.md": "", "sub/0001-b.md": ""},
        "0001 is there twice, first in 0001-a.md",
        ("sub/0001-b.md", 0),
    ),
    (
        NAMES,
        {"0001-a.md": "", "0003-b.md": ""},
        "2 is missing, between 0001 in 0001-a.md and 0003",
        ("0003-b.md", 0),
    ),
    (NAMES, {"0001-a.md": "", "notes.md": ""}, "notes.md: pattern not found", ("notes.md", 0)),
    (
        INDEX,
        {"README.md": LINKS.replace("sub/b", "sub/c"), **PAGES},
        "README.md does not link to sub/b.md",
        ("sub/b.md", 1),
    ),
    (
        INDEX,
        {"README.md": "`[a](a.md)` <!-- [a](a.md) -->\n", "a.md": ""},
        "README.md does not link to a.md",
        ("a.md", 1),
    ),
    (INDEX, {"a.md": "", "b.md": ""}, "there is no index README.md", ("", 0)),
    (
        {"count": {"images": {"max": 1}}},
        {"a.md": "![a](b)\n", "b.md": "\n![a](b)\n"},
        "2 images, at most 1 are wanted",
        ("b.md", 2),
    ),
    (
        {"count": {"items": {"min": 3}}},
        {"a.md": "- a\n", "b.md": "- c\n"},
        "2 list items, at least 3",
        ("", 0),
    ),
    (
        {"search": "TODO", "max_count": 1},
        {"a.md": "x\n", "b.md": "\nTODO\n", "c.md": "TODO"},
        "b.md: pattern found 2 times",
        ("b.md", 2),
    ),
    (
        {"search": "x", "min_count": 3},
        {"a.md": "x\n", "b.md": "x\n"},
        "pattern found 2 times, first at line 1; at least 3 are wanted",
        ("a.md", 1),
    ),
]


@pytest.mark.parametrize(("params", "files", "message", "place"), BAD, ids=lambda v: str(v)[:60])
def test_fault_of_the_whole_lies_in_a_file_and_line(
    params: dict[str, Any], files: Files, message: str, place: tuple[str, int]
) -> None:
    result = together(params, files)
    assert result.outcome is Outcome.FAIL
    assert message in result.message
    if "search" in params:
        assert result.pattern == params["search"]
    if any(place):
        assert result.location is not None
        assert (result.location.path, result.location.line) == (f"d/{place[0]}", place[1])


def test_order_of_the_files_does_not_matter() -> None:
    files = {"a.md": front(1), "b.md": front(2), "c.md": front(4)}
    backwards = dict(reversed(files.items()))
    params = {**NUMBER, "consecutive": True}
    assert together(params, files).message == together(params, backwards).message


def test_result_says_how_many_files_were_looked_at() -> None:
    result = together({**NAMES, "files": "*.md"}, {"1-a.md": "", "2-b.md": "", "c.txt": ""})
    assert result.message == "2 of 2 files checked"
    none = together({**NAMES, "files": "*.rst"}, {"1-a.md": ""})
    assert (none.outcome, none.message) == (Outcome.FAIL, "no file of d matches *.rst")


def test_file_that_was_not_read_keeps_the_whole_from_passing() -> None:
    unread = (SkippedFile(path="3-c.md", reason=Reason.UNREADABLE, detail="no rights"),)
    good = together(NAMES, {"1-a.md": "", "2-b.md": ""}, unread)
    assert good.outcome is Outcome.ERROR
    bad = together(NAMES, {"1-a.md": "", "1-b.md": ""}, unread)
    assert bad.outcome is Outcome.FAIL
    assert any("3-c.md" in note for note in bad.notes)


def test_one_file_is_a_whole_of_one() -> None:
    assert judge(front(1), {**NUMBER, "across": True}).outcome is Outcome.PASS
    twice = judge("l: [1, 2, 1]\n", {"path": "l[*]", "unique": True}, "a.yaml")
    assert twice.message == "1 is there twice, first in line 1"
    gap = judge("- 1\n- 3\n", {"path": "[*]", "consecutive": True, "across": True}, "a.yaml")
    assert gap.message == "2 is missing, between 1 in line 1 and 3"
    assert gap.location == Place("a.yaml", 2, 3)


REFUSED: dict[str, dict[str, Any]] = {
    "'across' is not a key of a check of type structure (headings)": {"headings": {"levels": True}},
    "'across' is not a key of a check of type structure (json_schema)": {
        "json_schema": {"type": "map"}
    },
    "each cannot be combined with across: true": {**NUMBER, "each": True},
    "with across: true it needs index": {"links": {}},
    "anchors is about each file": {"links": {"anchors": True, "index": "a.md"}},
    "names: it needs matches": {"names": {"unique": True}},
}


@pytest.mark.parametrize(("message", "params"), REFUSED.items(), ids=REFUSED)
def test_what_has_no_meaning_across_files_is_refused(message: str, params: dict[str, Any]) -> None:
    assert message in str(CriteriaError(problems({**params, "across": True})))


@pytest.mark.parametrize(
    ("message", "params"),
    [
        ("unique is about several files", {"names": {"matches": "a", "unique": True}}),
        ("index is about several files", {"links": {"index": "a.md"}}),
        (
            "exists: false cannot be combined with unique",
            {"path": "a", "exists": False, "unique": True},
        ),
    ],
)
def test_what_is_about_several_files_asks_for_across(message: str, params: dict[str, Any]) -> None:
    assert message in str(CriteriaError(problems(params)))


def test_each_does_not_go_with_across_in_content() -> None:
    spec = CheckSpec(type="content", params={"search": "a", "each": True, "across": True})
    assert [problem.path for problem in ContentCheck().problems(spec)] == [("each",)]


def test_kind_with_across_says_what_it_means() -> None:
    assert content.TOGETHER
    for kind in map(kind_of, KINDS):
        assert bool(kind.together) == bool(kind.make_together) == ("across" in kind.beside)
    assert "across" not in check.COMMON
