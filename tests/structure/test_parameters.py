"""What a structure check may say, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.structure.check import KINDS, StructureCheck, kind_of
from pytest_reflex.errors import CriteriaError, Place
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from tests.structure.judging import problems

REFUSED: dict[str, dict[str, Any]] = {
    "did you mean headings?": {"heading": {"levels": True}},
    "one of path, json_schema, headings": {},
    "not both path and links": {"path": "a", "links": True},
    "did you mean equals?": {"path": "a", "equal": 1},
    "did you mean levels?": {"headings": {"level": True}},
    "required must be a non-empty string, or a list": {"headings": {"required": []}},
    "openapi must be one of valid, operations": {"openapi": "valied"},
    "links must be true, or a table": {"links": False},
    "prose must be a table with keys of max_average": {"prose": True},
    "value_type must be one of string, integer": {"path": "a", "value_type": "text"},
    "block must be json, yaml, toml or front-matter": {"path": "a", "block": "xml"},
    "path: column 3 of 'a..b'": {"path": "a..b"},
    "exists: false cannot be combined with equals": {"path": "a", "exists": False, "equals": 1},
    "min_count 0 holds always": {"path": "a", "min_count": 0},
    r"matches is not a valid pattern: .*: \(": {"path": "a", "matches": "("},
    r"required is not a valid pattern: .*: x\)": {"headings": {"required": "/x)/"}},
    "order needs two or more": {"headings": {"required": "A", "order": True}},
    "filled needs headings": {"headings": {"levels": True, "filled": True}},
    "headings: it asks for nothing": {"headings": {"levels": False}},
    "links: it asks for nothing": {"links": {"anchors": False}},
    "code_blocks: it asks for nothing": {"code_blocks": {"language": "json"}},
    "prose: it asks for nothing": {"prose": {"min_words": 0}},
    "placeholders must be false": {"prose": {"placeholders": True}},
}


@pytest.mark.parametrize(("message", "params"), REFUSED.items(), ids=REFUSED)
def test_unusable_check_is_refused_while_reading(message: str, params: dict[str, Any]) -> None:
    found = problems(params)
    with pytest.raises(CriteriaError, match=message):
        raise CriteriaError(found)


@pytest.mark.parametrize("params", REFUSED.values(), ids=REFUSED)
def test_unusable_check_does_not_compile(params: dict[str, Any]) -> None:
    place = Place("rules.yaml", 3, 5)
    spec = CheckSpec(type="structure", params=params, place=place)
    with pytest.raises(CriteriaError) as caught:
        StructureCheck().compile(spec, {})
    assert caught.value.problems[0].place == place


def test_kinds_are_known_by_their_keys() -> None:
    assert {kind_of(key).key for key in KINDS} == set(KINDS)


def test_variables_reach_into_the_table_of_a_kind() -> None:
    spec = CheckSpec(type="structure", params={"prose": {"min_words": {"var": "least"}}})
    assert list(StructureCheck().problems(spec)) == []
    run = StructureCheck().compile(spec, {"least": "3"})
    result = run(Artifact(path=Path("a"), name="a", data=b"two words"), CheckContext(root=Path()))
    assert result.message == "2 words of prose, at least 3 are wanted"


@pytest.mark.parametrize(("each", "outcome"), [(False, Outcome.PASS), (True, Outcome.FAIL)])
def test_of_a_folder_one_file_or_each_has_to_pass(each: bool, outcome: Outcome) -> None:
    files = tuple(
        Artifact(path=Path("d") / name, name=name, data=data)
        for name, data in (("a.md", b"# T\n"), ("b.md", b"text\n"), ("c.txt", b"text\n"))
    )
    folder = Artifact(path=Path("d"), name="d", files=files)
    params = {"headings": {"min_count": 1}, "files": "*.md", "each": each}
    run = StructureCheck().compile(CheckSpec(type="structure", params=params), {})
    assert run(folder, CheckContext(root=Path())).outcome is outcome
