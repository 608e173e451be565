"""What cannot be read is one fault, of a check or of a condition, and has its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.api import evaluate
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from tests.checks.building import document, folder
from tests.checks.test_conditions import decide

RULE = "  - {{id: a.x.{id}, description: d, severity: {severity}{when}, check: {check}}}\n"
ANY = "{type: content, search: x}"
# an artifact that cannot be read, and a condition and a check that have to read it
UNREAD = {
    "JSON": ("a.json", b'{"x": 1', "{path: a}", "{type: structure, path: x}"),
    "YAML": ("a.yaml", b"x: [\n", "{not: {path: a}}", "{type: structure, path: x}"),
    "two keys": ("a.yaml", b"x: 1\nx: 2\n", "{path: a}", "{type: structure, path: x}"),
    "front matter": (
        "a.md",
        b"---\nx: [\n---\n",
        "{path: a, block: front-matter}",
        "{type: structure, path: x, block: front-matter}",
    ),
    "no text": ("a.md", b"x\0", "{search: a}", ANY),
    "no UTF-8": ("a.json", b'{"x": "\xff"}', "{path: a}", ANY),
}


@pytest.mark.parametrize("first", ["check", "condition"])
@pytest.mark.parametrize("case", UNREAD.values(), ids=UNREAD)
def test_the_first_rule_that_has_to_read_it_fails_alone(
    tmp_path: Path, case: tuple[str, bytes, str, str], first: str
) -> None:
    name, content, condition, check = case
    (tmp_path / name).write_bytes(content)
    rules = [
        RULE.format(id="check", severity="fail", when="", check=check),
        RULE.format(id="condition", severity="fail", when=f", when: {condition}", check=ANY),
    ]
    ordered = rules if first == "check" else rules[::-1]
    (tmp_path / "c.yaml").write_text("name: c\nrules:\n" + "".join(ordered))
    found = evaluate(tmp_path / name, tmp_path / "c.yaml")
    assert [row.outcome for row in found.results] == [Outcome.FAIL, Outcome.NOT_MEASURED]
    assert found.results[1].same_cause == f"a.x.{first}"


PLACES = {
    "a file": (document('{"a": 1,\n b\n', "a.json"), {"path": "x"}, Place("a.json", 2, 2)),
    "the second block": (
        document('# T\n```json\n{"a": 1}\n```\n```json\n{"b"\n```\n', "a.md"),
        {"path": "x"},
        Place("a.md", 7, 1),
    ),
    "a file of a folder": (
        folder(a_json="{}", sub__b_json='{"a":\n  1,}\n'),
        {"path": "x", "files": "*.json"},
        Place("docs/sub/b.json", 2, 4),
    ),
    "front matter": (
        document("---\nx: [\n---\n", "a.md"),
        {"not": {"path": "x", "block": "front-matter"}},
        Place("a.md", 3, 1),
    ),
}


@pytest.mark.parametrize(("artifact", "condition", "place"), PLACES.values(), ids=PLACES)
def test_what_a_condition_cannot_read_has_its_place(
    artifact: object, condition: dict[str, object], place: Place
) -> None:
    found = decide(artifact, condition)  # type: ignore[arg-type]
    assert (found.outcome, found.location) == (Outcome.ERROR, place), found
    assert [one.location for one in found.findings] == [place]
