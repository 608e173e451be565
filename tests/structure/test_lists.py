"""Values as one list: what is long, empty, or no number at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.structure import StructureCheck
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from pytest_reflex.model.words import Outcome
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
    "more digits than a number has": ("1", f"'{'9' * 5000}'", {"consecutive": True}, "is no whole"),
    "a boolean": ("1", "true", {"consecutive": True}, "true is no whole number"),
    "nothing": ("1", "null", {"consecutive": True}, "null is no whole number"),
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
        f"{name}.md has no value in /{pattern}/" for name in "bc"
    ]


def test_versions_have_any_number_of_digits() -> None:
    newest = f"# C\n\n## {'9' * 5000}.1\n- a\n\n## 1.9.0\n- b\n"
    wanted = {"releases": {"newest_first": True}}
    assert judge(newest, wanted).outcome is Outcome.PASS
    oldest = f"# C\n\n## 1.9.0\n- a\n\n## {'9' * 5000}.1\n- b\n"
    assert "the oldest comes first: 1.9.0" in judge(oldest, wanted).message
