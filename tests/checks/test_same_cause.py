"""Whatever reads a document reports the same cause where it cannot be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.registry import built_in_registry
from pytest_reflex.checks.run import evaluate
from pytest_reflex.checks.structure.configuration import ASPECTS as OF_CONFIGURATION
from pytest_reflex.checks.structure.openapi import ASPECTS as OF_OPENAPI
from pytest_reflex.cli.main import main
from pytest_reflex.contracts.validate import problems as schema_problems
from pytest_reflex.model.enums import Outcome, Severity
from pytest_reflex.model.results import Evaluation
from pytest_reflex.model.rules import CheckSpec, Condition
from tests.checks.building import rule, target

SCHEMA = {"type": "object", "required": ["a"]}
OPENAPI = [{"openapi": aspect} for aspect in OF_OPENAPI]
CONFIGURATION = [{"configuration": aspect} for aspect in OF_CONFIGURATION]
DATA: list[dict[str, Any]] = [
    {"path": "a"},
    {"path": "b", "exists": False},
    {"json_schema": SCHEMA},
]
MARKDOWN: list[dict[str, Any]] = [
    {"headings": {"min_count": 1}},
    {"links": {"anchors": True}},
    {"tables": {"columns": "a"}},
    {"prose": {"min_words": 1}},
    {"code_blocks": {"min_count": 1}},
]
TEXT: list[dict[str, Any]] = [
    {"type": "content", "search": "a"},
    {"type": "content", "search": "b", "negate": True},
    {"type": "content", "search": "c", "raw": True},
]
CODE = [
    {"type": "code", "aspect": aspect}
    for aspect in ("compiles", "functions", "annotations", "errors")
]
FENCED = "# T\n\n```yaml\na: b: c\n```\n"

UNREADABLE: dict[str, tuple[str, str | bytes, list[dict[str, Any]]]] = {
    "YAML": ("a.yaml", "openapi: 3.1.0\na: b: c\n", [*DATA, *CONFIGURATION, *OPENAPI]),
    "YAML with a tab": ("a.yml", "openapi:\n\t- a\n", [*OPENAPI, *DATA, *CONFIGURATION]),
    "a key twice": ("a.yaml", "openapi: 3.1.0\na: 1\na: 2\n", [*DATA, *OPENAPI, *CONFIGURATION]),
    "JSON": ("a.json", '{"openapi": 1,, }', [*CONFIGURATION, *DATA, *OPENAPI]),
    "JSON with a comment": ("tsconfig.json", '{"a": 1,, }', [*DATA, *CONFIGURATION]),
    "TOML": ("a.toml", "a = [\n", [*DATA, *CONFIGURATION]),
    "an env file": (".env", "A B=1\n", CONFIGURATION),
    "a block of YAML": ("a.md", FENCED, DATA),
    "no data": ("a.md", "# T\n\nwords\n", DATA),
    "Swagger 2.0": ("a.yaml", "swagger: '2.0'\npaths: {}\n", OPENAPI),
    "no OpenAPI": ("a.yaml", "a: 1\n", OPENAPI),
    "a format that is not read": ("a.tf", 'resource "a" "b" {\n}\n', CONFIGURATION),
    "no settings": ("a.yaml", "# nothing\n", CONFIGURATION),
    "another markup": ("a.rst", "Title\n=====\n", MARKDOWN),
    "no text": ("a.md", b"\x89PNG\0", [*TEXT, *MARKDOWN, *DATA, *CODE]),
    "no UTF-8": ("a.yaml", b"a: \xff\n", [*TEXT, *DATA, *CONFIGURATION, *OPENAPI]),
    "Python": ("a.py", "def f(:\n", CODE),
    "Python, an old print": ("a.py", "print 'a'\n", CODE),
    "too large for Markdown": ("a.md", "a\n" * 400_000, MARKDOWN),
    "too large for a configuration": ("a.yaml", "# a\n" * 600_000, CONFIGURATION),
    "too large for Python": ("a.py", "#" * 1_000_001, CODE),
    "nested too deeply": ("a.json", "[" * 500 + "]" * 500, DATA),
}


def judged(
    folder: Path, name: str, text: str | bytes, checks: list[dict[str, Any]], **severity: Severity
) -> Evaluation:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    rules = [
        rule(
            f"a.x.r{number}",
            CheckSpec.from_json({"type": "structure", **check}),
            severity=severity.get(f"r{number}", Severity.FAIL),
        )
        for number, check in enumerate(checks)
    ]
    return evaluate(target(path, *rules), built_in_registry())


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_fails_the_first_rule_alone(tmp_path: Path, case: str) -> None:
    name, text, checks = UNREADABLE[case]
    first, *others = judged(tmp_path, name, text, checks).results
    assert (first.outcome, first.same_cause) == (Outcome.FAIL, ""), first.message
    assert {(row.outcome, row.same_cause) for row in others} == {
        (Outcome.NOT_MEASURED, "a.x.r0")
    }, [row.message for row in others]


@pytest.mark.long
@pytest.mark.parametrize("case", UNREADABLE)
def test_whichever_rule_is_first_fails(tmp_path: Path, case: str) -> None:
    name, text, checks = UNREADABLE[case]
    for turned in (checks[::-1], [*checks[1:], checks[0]]):
        found = judged(tmp_path, name, text, turned, r0=Severity.WARN)
        outcomes = [row.outcome for row in found.results]
        assert outcomes.count(Outcome.FAIL) == 1
        assert outcomes[1] is Outcome.FAIL
        assert found.score == 0


def test_a_file_of_a_folder_is_one_cause_too(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.yaml").write_text("a: b: c\n")
    (tmp_path / "docs/b.yaml").write_text("a: 1\n")
    specs = [{**check, "each": True} for check in (*DATA, CONFIGURATION[0], CONFIGURATION[3])]
    rules = [
        rule(f"a.x.r{n}", CheckSpec.from_json({"type": "structure", **spec}))
        for n, spec in enumerate(specs)
    ]
    found = evaluate(target(tmp_path / "docs", *rules), built_in_registry())
    assert [row.outcome for row in found.results].count(Outcome.FAIL) == 1
    assert found.results[0].checks[0].location is not None
    assert found.results[0].checks[0].location.path.endswith("docs/a.yaml")
    assert {row.same_cause for row in found.results[1:]} == {"a.x.r0"}


def test_what_a_folder_lacks_elsewhere_is_found_beside_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.yaml").write_text("a: b: c\n")
    (tmp_path / "docs/b.yaml").write_text("b: 1\n")
    rules = [
        rule(f"a.x.r{n}", CheckSpec.from_json({"type": "structure", "each": True, **spec}))
        for n, spec in enumerate(({"path": "b"}, {"path": "a"}))
    ]
    found = evaluate(target(tmp_path / "docs", *rules), built_in_registry())
    assert [row.outcome for row in found.results] == [Outcome.FAIL, Outcome.FAIL]
    assert "b.yaml: a is not there" in found.results[1].message


def test_alternatives_that_cannot_read_it_have_one_cause(tmp_path: Path) -> None:
    alternatives = [{"type": "structure", "path": "a"}, {"type": "structure", "path": "b"}]
    checks: list[dict[str, Any]] = [{"path": "c"}, {"type": "any_of", "any_of": alternatives}]
    found = judged(tmp_path, "a.yaml", "a: b: c\n", checks)
    assert found.results[1].same_cause == "a.x.r0"


def test_an_alternative_that_fails_takes_nothing_from_why_the_other_was_not_judged(
    tmp_path: Path,
) -> None:
    title = {"type": "structure", "headings": {"single_title": True}}
    search = {"type": "content", "search": "nowhere"}
    checks: list[dict[str, Any]] = [title, {"type": "any_of", "any_of": [title, search]}]
    found = judged(tmp_path, "a.rst", "Title\n=====\n", checks)
    assert found.results[1].same_cause == "a.x.r0"


def test_a_condition_that_cannot_be_evaluated_has_the_cause_of_its_document(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: b: c\n")
    check = CheckSpec(type="structure", params={"path": "a"})
    plain, conditional = rule("a.x.plain", check), rule("a.x.conditional", check)
    conditional = replace(conditional, when=(Condition(check=check),))
    found = evaluate(target(path, plain, conditional), built_in_registry())
    assert [row.outcome for row in found.results] == [Outcome.FAIL, Outcome.NOT_MEASURED]
    assert found.results[1].same_cause == "a.x.plain"


STOCK = {
    "api-spec": ("api.yaml", "swagger: '2.0'\n"),
    "configuration": ("a.json", "{,}"),
    "code": ("a.py", "x = (\n"),
    "documentation": ("README.rst", "Title\n=====\n"),
    "guide": ("page.rst", "Title\n=====\n"),
}


@pytest.mark.long
@pytest.mark.parametrize("template", STOCK)
def test_stock_templates_have_one_finding_in_one_line(
    template: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, text = STOCK[template]
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert main(["evaluate", name, "--criteria", template, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert not schema_problems("report", document)
    (wire,) = document["evaluations"]
    shared = [row for row in wire["rule_results"] if "same_cause" in row]
    assert len(shared) >= 5
    assert {row["outcome"] for row in shared} == {"not_measured"}
    blamed = {row["same_cause"] for row in shared}
    assert len(blamed) == 1
    assert {row["id"] for row in wire["failed"] if "same_cause" not in row} >= blamed
    assert main(["evaluate", name, "--criteria", template]) == 1
    out = " ".join(capsys.readouterr().out.split())
    (rule_id,) = blamed
    assert f"{len(shared)} more rules not measured: same cause as {rule_id}" in out


# an artifact that cannot be read as one of the alternatives has to
ALTERNATIVES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "another markup": (
        "a.rst",
        "Title\n=====\n",
        {"headings": {"single_title": True}},
        {"path": "title", "block": "front-matter"},
    ),
    "broken JSON": ("a.json", '{"a": ', {"path": "b"}, {"type": "content", "search": "x"}),
    "broken front matter": (
        "a.md",
        "---\na: [\n---\n",
        {"path": "b", "block": "front-matter"},
        {"headings": {"min_count": 1}},
    ),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("case", ALTERNATIVES)
def test_an_alternative_that_does_not_hold_leaves_the_cause(
    tmp_path: Path, case: str, turned: bool
) -> None:
    name, text, unread, fails = ALTERNATIVES[case]
    parts = [{"type": "structure", **part} for part in (unread, fails)]
    checks = [unread, {"type": "any_of", "any_of": parts[::-1] if turned else parts}]
    first, other = judged(tmp_path, name, text, checks).results
    assert (first.outcome, other.outcome) == (Outcome.FAIL, Outcome.NOT_MEASURED), other.message
    assert other.same_cause == "a.x.r0"
    (alone,) = judged(tmp_path, name, text, checks[1:]).results
    assert (alone.outcome, alone.same_cause) == (Outcome.FAIL, "")


def test_an_alternative_that_could_not_be_judged_is_a_cause_of_its_own(tmp_path: Path) -> None:
    broken = {"type": "structure", "path": "b"}
    lost = {"type": "executable", "command": ["no-such-program"]}
    checks: list[dict[str, Any]] = [broken, {"type": "any_of", "any_of": [broken, lost]}]
    first, other = judged(tmp_path, "a.json", '{"a": ', checks).results
    assert (first.outcome, other.outcome, other.same_cause) == (Outcome.FAIL, Outcome.ERROR, "")
