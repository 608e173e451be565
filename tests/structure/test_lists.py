"""Values as one list: what is long, empty, or no number at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.structure.check import StructureCheck
from pytest_reflex.errors import Place
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from tests.checks.building import folder
from tests.structure.judging import judge


def judged(artifact: Artifact, params: dict[str, Any]) -> CheckResult:
    check = StructureCheck().compile(CheckSpec(type="structure", params=params), {})
    return check(artifact, CheckContext(root=Path()))


LONG = "a title that is the same for sixty characters and some more "
FRONT = {"path": "n", "block": "front-matter", "across": True, "files": "*.md"}
LISTS = {
    "the same long text": (LONG + "1", LONG + "1", {"unique": True}, "is there twice"),
    "long texts that begin alike": (LONG + "1", LONG + "2", {"unique": True}, ""),
    "long lists that begin alike": (f"[{LONG}, 1]", f"[{LONG}, 2]", {"unique": True}, ""),
    "more digits than numbers have": (
        "1",
        f"'{'9' * 5000}'",
        {"consecutive": True},
        "is not a whole",
    ),
    "a boolean": ("1", "true", {"consecutive": True}, "true is not a whole number"),
    "nothing": ("1", "null", {"consecutive": True}, "null is not a whole number"),
}


@pytest.mark.parametrize(("one", "other", "asked", "told"), LISTS.values(), ids=LISTS)
def test_values_are_compared_whole(one: str, other: str, asked: dict[str, bool], told: str) -> None:
    artifact = folder(a_md=f"---\nn: {one}\n---\n", b_md=f"---\nn: {other}\n---\n")
    found = judged(artifact, {**FRONT, **asked})
    assert found.outcome is (Outcome.FAIL if told else Outcome.PASS), found.message
    assert told in found.message


@pytest.mark.parametrize("pattern", [r"^(\d+)?", r"^(\d*)", r"^\d*"])
def test_a_name_without_a_value_is_named(pattern: str) -> None:
    wanted = {"names": {"matches": pattern, "unique": True}, "files": "*.md", "across": True}
    found = judged(folder(**{"1_md": "x", "b_md": "x", "c_md": "x"}), wanted)
    assert (found.outcome, found.more_findings) == (Outcome.FAIL, 0)
    assert [one.message for one in found.findings] == [
        f"{name}.md: the first group of the pattern is empty" for name in "bc"
    ]
    assert {one.pattern for one in found.findings} == {pattern}


def test_versions_have_any_number_of_digits() -> None:
    newest = f"# C\n\n## {'9' * 5000}.1\n- a\n\n## 1.9.0\n- b\n"
    wanted = {"releases": {"newest_first": True}}
    assert judge(newest, wanted).outcome is Outcome.PASS
    oldest = f"# C\n\n## 1.9.0\n- a\n\n## {'9' * 5000}.1\n- b\n"
    assert "the oldest comes first: 1.9.0" in judge(oldest, wanted).message


PLACES = {
    "one line": ("a: [1, 2, 1]\n", {"unique": True}, (1, 11), "/a/2"),
    "a line each": ("a:\n  - 1\n  - 2\n  - 4\n", {"consecutive": True}, (4, 5), "/a/2"),
    "no number": ("a: [1, x]\n", {"consecutive": True}, (1, 8), "/a/1"),
}


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize(("text", "asked", "place", "pointer"), PLACES.values(), ids=PLACES)
def test_a_value_has_its_line_column_and_pointer(
    text: str, asked: dict[str, bool], place: tuple[int, int], pointer: str, across: bool
) -> None:
    found = judge(text, {"path": "a[*]", "across": across, **asked}, "a.yaml")
    assert found.location == Place("a.yaml", *place)
    assert [one.pointer for one in found.findings] == [pointer]


def test_a_value_of_a_file_has_its_place_in_it() -> None:
    front = folder(a_md="---\nn: 1\n---\n", b_md="---\nx: 1\nn: 1\n---\n")
    assert judged(front, {**FRONT, "unique": True}).location == Place("docs/b.md", 3, 4)


@pytest.mark.parametrize(
    "title", ["v1.0", "Version 1.0", "Release [1.0]", "[v1.0]", "version v1.0"]
)
def test_a_version_is_the_same_however_it_is_named(title: str) -> None:
    found = judge(f"# C\n\n## 1.0\n- a\n\n## {title}\n- b\n", {"releases": {"unique": True}})
    assert "1.0 is there twice" in found.message
    other = judge(f"# C\n\n## tool 1.0\n- a\n\n## {title}\n- b\n", {"releases": {"unique": True}})
    assert other.outcome is Outcome.PASS


def test_a_comment_is_no_change() -> None:
    wanted = {"releases": {"filled": True}}
    found = judge("# C\n\n## 1.0\n\n<!-- none yet -->\n", wanted)
    assert found.message == "1.0 does not say what changed"
    assert judge("# C\n\n## 1.0\n\n<!-- a --> b\n", wanted).outcome is Outcome.PASS
