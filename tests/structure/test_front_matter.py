"""Front matter as a block: YAML, TOML and JSON before a text, judged, located and fixed."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.errors import Place
from pytest_reflex.fixes import FixError, apply
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec, Fix
from pytest_reflex.model.targets import CheckContext
from tests.structure.judging import judge, problems

BODY = "\n# T\n\n```yaml\nstatus: other\n```\n"
FORMS = {
    "yaml": ("---\ntitle: T\nstatus: draft\n---\n", (3, 9)),
    "toml": ('+++\ntitle = "T"\n\nstatus = "draft"\n+++\n', (4, 10)),
    "json": ('{\n  "title": "T",\n  "status": "draft"\n}\n', (3, 13)),
    "toml that says so": ('---toml\ntitle = "T"\n\nstatus = "draft"\n---\n', (4, 10)),
    "json that says so": ('--- json \n{\n"status": "draft"\n}\n---\n', (3, 11)),
    "yaml that says so": ("---yml\ntitle: T\nstatus: draft\n---\n", (3, 9)),
    "yaml that ends with dots": ("---\n# said\n\nstatus: draft\n...\n", (4, 9)),
    "yaml with CRLF": ("---\r\ntitle: T\r\nstatus: draft\r\n---\r\n", (3, 9)),
}


def before(text: str, **params: Any) -> CheckResult:
    return judge(text, {"block": "front-matter", **params})


@pytest.mark.parametrize(("front", "place"), FORMS.values(), ids=FORMS)
def test_value_of_front_matter_is_found_in_its_line(front: str, place: tuple[int, int]) -> None:
    assert before(front + BODY, path="status", equals="draft").outcome is Outcome.PASS
    wrong = before(front + BODY, path="status", equals="final")
    assert wrong.message == 'status is "draft", not "final"'
    assert wrong.location == Place("a.md", *place)
    there = before(front + BODY, path="status", exists=False)
    assert there.location == Place("a.md", *place)


@pytest.mark.parametrize(("front", "place"), FORMS.values(), ids=FORMS)
def test_schema_is_held_against_front_matter(front: str, place: tuple[int, int]) -> None:
    def status(schema: dict[str, Any]) -> CheckResult:
        return before(front + BODY, json_schema={"properties": {"status": schema}})

    assert status({"enum": ["draft", "final"]}).outcome is Outcome.PASS
    assert status({"const": "final"}).location == Place("a.md", *place)


NONE = {"a text": "# T\n", "nothing": "", "a rule further down": "text\n\n---\n\nmore\n---\n"}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_text_without_front_matter_has_no_value(text: str) -> None:
    for wanted in ({"path": "status"}, {"json_schema": {"required": ["status"]}}):
        result = before(text, **wanted)
        assert (result.outcome, result.message) == (Outcome.FAIL, "there is no front matter")
        assert result.location == Place("a.md", 1, 0)
    absent = before(text, path="status", exists=False)
    assert (absent.outcome, absent.message) == (Outcome.PASS, "there is no front matter")


@pytest.mark.parametrize("text", ["---\n---\n", "+++\n+++\n\ntext\n", "---\n# a remark\n---\n"])
def test_empty_front_matter_has_no_value(text: str) -> None:
    assert before(text, path="status").message == "status is not there"
    assert before(text, path="status", exists=False).outcome is Outcome.PASS


BROKEN = {
    "yaml": ("---\ntitle: T\nstatus: [\n---\n", "not valid YAML", (4, 1)),
    "yaml with a key twice": ("---\na: 1\na: 2\n---\n", "'a', first in line 2", (3, 0)),
    "toml": ("+++\na = 1\nstatus = \n+++\n", "not valid TOML", (3, 10)),
    "json": ('{\n  "status": \n}\n', "not valid JSON", (3, 1)),
    "no end": ("---\nstatus: draft\n\n# T\n", "does not end", (1, 0)),
    "no end of toml": ('+++\nstatus = "draft"\n', "does not end", (1, 0)),
}


@pytest.mark.parametrize(("text", "message", "place"), BROKEN.values(), ids=BROKEN)
def test_broken_front_matter_fails_where_it_is_broken(
    text: str, message: str, place: tuple[int, int]
) -> None:
    asked: list[dict[str, Any]] = [
        {"path": "status"},
        {"path": "status", "exists": False},
        {"json_schema": {"type": "object"}},
    ]
    for wanted in asked:
        result = before(text, **wanted)
        assert result.outcome is Outcome.FAIL
        assert message in result.message
        assert result.location == Place("a.md", *place)


def searched(text: str, **params: Any) -> CheckResult:
    spec = CheckSpec(type="content", params={"block": "front-matter", **params})
    artifact = Artifact(path=None, name="a.md", data=text.encode())  # type: ignore[arg-type]
    return ContentCheck().compile(spec, {})(artifact, CheckContext(root=None))  # type: ignore[arg-type]


@pytest.mark.parametrize(("front", "place"), FORMS.values(), ids=FORMS)
def test_text_is_looked_for_in_front_matter_alone(front: str, place: tuple[int, int]) -> None:
    found = searched(front + BODY, search="draft")
    assert found.location is not None
    assert (found.outcome, found.location.line) == (Outcome.PASS, place[0])
    assert searched(front + BODY, search="other").outcome is Outcome.FAIL
    assert searched(front + BODY, search="other", negate=True).outcome is Outcome.PASS


def test_nothing_is_absent_from_front_matter_that_is_not_there() -> None:
    absent = searched(BODY, search="draft", negate=True)
    assert (absent.outcome, absent.message) == (Outcome.ERROR, "there is no front matter")


@pytest.mark.parametrize(
    "name",
    [name for name in FORMS if not name.startswith("toml")],
)
def test_set_changes_front_matter_and_nothing_else(name: str) -> None:
    text = FORMS[name][0] + BODY
    fix = Fix(kind="set", params={"path": "status", "value": "final", "block": "front-matter"})
    assert apply(fix, text) == text.replace("draft", "final", 1)
    assert apply(fix, apply(fix, text)) == apply(fix, text)


REFUSED = {
    "# T\n": "there is no front matter",
    FORMS["toml"][0]: "the front matter is TOML",
    FORMS["toml that says so"][0]: "the front matter is TOML",
    "---\nstatus: [\n---\n": "cannot be read: line 2",
    "---\nstatus: draft\n": "no front matter that ends",
    "---\n---\n": "the front matter is empty",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items(), ids=REFUSED.values())
def test_set_leaves_alone_what_it_cannot_write(text: str, message: str) -> None:
    fix = Fix(kind="set", params={"path": "status", "value": "x", "block": "front-matter"})
    with pytest.raises(FixError, match=message):
        apply(fix, text)


def test_section_cannot_be_in_front_matter() -> None:
    spec = CheckSpec(
        type="content", params={"search": "a", "block": "front-matter", "section": "Usage"}
    )
    assert [problem.path for problem in ContentCheck().problems(spec)] == [("section",)]


def test_block_that_is_meant_as_front_matter_is_named() -> None:
    (problem,) = problems({"path": "a", "block": "frontmatter"})
    assert "json, yaml, toml or front-matter" in problem.message
