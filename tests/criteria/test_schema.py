"""The published schemas against the reader: what they refuse, it refuses; and the reverse."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.schema import file_schema
from pytest_reflex.criteria.author.yaml_writer import to_yaml
from pytest_reflex.criteria.diagnostics import plain
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.criteria.suite import load_suite
from pytest_reflex.criteria.templates import stock_folder, stock_names
from pytest_reflex.errors import CriteriaError, UsageError
from tests.criteria.lint_cases import ERRORS, whole
from tests.criteria.writing import REGISTRY, rules, write

CRITERIA = Draft202012Validator(file_schema("criteria", REGISTRY))
SUITE = Draft202012Validator(file_schema("suite", REGISTRY))

# What no schema can say: comparing values, following names, looking into texts.
UNSAYABLE = re.compile(
    r"given twice|reads like|contradicts|no inherited rule|there is no variable|no argument of it"
    r"|cannot be combined with (?:min_count|across:|block:)|more than max_count|cannot fail"
    r"|both give|both name|nothing can fail"
    r"|no rule carries weight|no rule is of severity|there are no (?:rules|criteria)|another rule"
    r"|belongs to this rule|not a valid pattern|control character|active_levels|differ in case"
    r"|matches no artifact|names nothing|cannot name a command|the name '.*' cannot be used"
    r"|shell goes with|must be a command|must be a program|asks for nothing|needs headings under"
    r"|needs two or more|expected \[NUMBER\]|exists: false|min_count 0|is not JSON|schema"
    r"|the file is empty|half of a surrogate|is a number of \d+ char|is out of range"
    r"|not valid JSON|there is no such file|cannot be read|has no rules in phase|extend one another"
    r"|has none of its keys|has one of its keys|must be (?:a path|true, or a table|any)|path: "
    r"|cannot both be files|no node kind|no node of kind"
    r"|format: (?:there is no command|the command|file is)"
    r"|, not 3$"  # the value of the variable
)
BASE: dict[str, Any] = {
    "name": "words",
    "version": 1,
    "phases": {"A": {"threshold": 0.5}},
    "vars": {"words": 3},
    "commands": {"lint": {"argv": ["mdl", "{file}"], "args": ["file"], "timeout": 5}},
    "rules": [
        {
            "id": "a.docs.title",
            "description": "There is a title",
            "severity": "fail",
            "weight": 2,
            "why": "w",
            "hint": "h",
            "check": {"type": "content", "search": "x", "min_count": {"var": "words"}},
            "fix": [
                {"append": {"text": "x"}, "safe": False},
                {"format": {"command": "lint", "args": {}, "output": "file"}, "safe": True},
            ],
            "samples": {
                "good": ["x", {"file": "docs/x.md", "text": "x"}],
                "bad": [{"files": {"a.md": "y", "b/c.md": "x"}}],
            },
        },
        {
            "id": "docs.tool",
            "phase": "B",
            "description": "The tool runs",
            "severity": "warn",
            "check": [
                {"type": "executable", "command": ["a"], "timeout": 5, "retries": 1},
                {"type": "structure", "headings": {"required": ["A"], "filled": True}},
                {"any_of": [{"type": "content", "search": s} for s in "ab"], "expected": "e"},
            ],
        },
        {"id": "b.docs.prose", "description": "d", "severity": "info", "check": "It is kind"},
    ],
}
WORDS = ["", " ", "../x", "x", "A", "B", "fail", "a.b.c", "A.b", "negate"]
NODES = [[], ["x"], [1], {}, {"x": 1}, {"var": "words"}, {"type": "content", "search": "x"}]
ODD = st.sampled_from([None, True, 0, -1, 2, 0.5, 1.5, 90000, *WORDS, *NODES]).map(copy.deepcopy)
KEYS = st.sampled_from(
    ["id", "x", "phase", "type", "search", "negate", "text", "weight", "checks", "files"]
)


def containers(value: Any) -> list[Any]:
    """Return every mapping and list in a value that has something in it."""
    if not isinstance(value, (dict, list)) or not value:
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(found for item in inner for found in containers(item))]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return the valid document with one to three changes somewhere in it."""
    document = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(containers(document) or [document]))
        if isinstance(place, list):
            place[draw(st.integers(0, len(place) - 1))] = draw(ODD)
        elif draw(st.booleans()):
            place[draw(st.sampled_from(sorted(place)))] = draw(ODD)
        elif draw(st.booleans()):
            place.pop(draw(st.sampled_from(sorted(place))))
        else:
            place[draw(KEYS)] = draw(ODD)
    # A schema does not follow a variable to its value.
    if isinstance(document.get("vars"), dict) and "words" in document["vars"]:
        document["vars"]["words"] = 3
    return document


def refusal(path: Path) -> list[str]:
    """Return what the reader says against a file."""
    try:
        load_criteria(path, registry=REGISTRY)
    except CriteriaError as error:
        return [problem.message for problem in error.problems]
    return []


def differ(document: Any, path: Path) -> str:
    """Return how schema and reader disagree about a template, empty where they do not."""
    found = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in CRITERIA.iter_errors(document)]
    said = refusal(path)
    if found and not said:
        return f"the schema alone refuses it: {found}"
    # Whether a rule is inherited is in another file.
    inherits = isinstance(document, dict) and "extends" in document
    said = [one for one in said if not (inherits and "is missing" in one)]
    unsaid = [message for message in said if not UNSAYABLE.search(message)]
    return f"the reader alone refuses it: {unsaid}" if unsaid and not found else ""


@pytest.mark.long
@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(documents())
def test_schema_and_reader_agree(tmp_path: Path, document: dict[str, Any]) -> None:
    path = write(tmp_path, "page.yaml", to_yaml(document))
    assert differ(document, path) == ""


def test_the_document_that_is_changed_is_fine(tmp_path: Path) -> None:
    assert not list(CRITERIA.iter_errors(BASE))
    assert refusal(write(tmp_path, "page.yaml", to_yaml(BASE))) == []


@pytest.mark.parametrize("name", stock_names())
def test_every_stock_template_is_valid(name: str) -> None:
    table, _ = parse_document((stock_folder() / f"{name}.yaml").read_bytes(), "page.yaml")
    assert [error.message for error in CRITERIA.iter_errors(plain(table))] == []


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes_of_authors_are_refused_by_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, "page.yaml", ERRORS[name][0])
    try:
        table, faults = parse_document(path.read_bytes(), "page.yaml")
    except CriteriaError:
        return
    if faults.found or "criteria" in table:
        return
    assert differ(plain(table), path) == ""


SUITES = {
    "fine": ({"criteria": "base", "artifacts": ["page.yaml"], "phase": "A"}, True),
    "own rules": ({"criteria": {"name": "x"}, "artifacts": "page.yaml"}, False),
    "no artifacts": ({"criteria": "base"}, False),
    "thresholds as phase": ({"artifacts": ["page.yaml"], "criteria": "base", "phase": {}}, False),
    "a phase": ({"artifacts": ["page.yaml"], "criteria": "base", "phase": "C"}, False),
    "a key": ({"artifacts": ["page.yaml"], "criteria": "base", "artefacts": []}, False),
    "an override": (
        {"artifacts": ["page.yaml"], "criteria": "base", "drop": [], "rules": None},
        True,
    ),
}


@pytest.mark.parametrize(("document", "fine"), SUITES.values(), ids=SUITES)
def test_suites_are_held_to_their_own_schema(
    tmp_path: Path, document: dict[str, Any], fine: bool
) -> None:
    path = write(tmp_path, "page.yaml", to_yaml(document))
    assert SUITE.is_valid(document) is fine
    try:
        load_suite(path, registry=REGISTRY, root=tmp_path)
    except CriteriaError:
        assert not fine
    else:
        assert fine


@pytest.mark.long
def test_a_schema_is_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["schema", "criteria"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == file_schema("criteria", REGISTRY)
    Draft202012Validator.check_schema(printed)
    assert main(["schema", "criterai"]) == 4
    assert "no schema 'criterai' (did you mean criteria?)" in capsys.readouterr().err
    assert main(["schema"]) == 0
    assert re.search(r"^suite +A suite: criteria, and", capsys.readouterr().out, re.MULTILINE)


def test_a_schema_of_another_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no schema 'suit' \(did you mean suite\?\)"):
        file_schema("suit", REGISTRY)


@pytest.mark.long
def test_types_of_plugins_have_their_place() -> None:
    from pytest_reflex.checks.not_run import SessionCheck
    from pytest_reflex.checks.registry import built_in_registry

    class Spell(SessionCheck):
        name, internal = "spell", False

    registry = built_in_registry()
    registry.register(Spell())
    document = plain(
        parse_document(rules(whole(check="{type: spell, words: [a]}")).encode(), "p")[0]
    )
    assert not CRITERIA.is_valid(document)
    assert Draft202012Validator(file_schema("criteria", registry)).is_valid(document)


@pytest.mark.parametrize(
    ("check", "fine"),
    [
        ("{type: spell, words: [a], least: 2}", True),
        ("{type: spell, words: {var: words}}", True),
        ("{type: spell, words: [a], least: 0}", False),
        ("{type: spell, words: [], least: 2}", False),
        ("{type: spell, least: 2}", False),
        ("{type: spell, words: [a], lest: 2}", False),
    ],
)
def test_parameters_of_a_plugin_are_in_the_schema(tmp_path: Path, check: str, fine: bool) -> None:
    from pytest_reflex.checks.not_run import SessionCheck
    from pytest_reflex.checks.options import POSITIVE, REQUIRED, TEXTS, problems_of
    from pytest_reflex.checks.registry import built_in_registry
    from pytest_reflex.errors import Problem
    from pytest_reflex.model.rules import CheckSpec

    class Spell(SessionCheck):
        name, internal = "spell", False
        parameters: ClassVar = {
            "words": TEXTS.means("words that are right", REQUIRED),
            "least": POSITIVE.means("the length of the shortest word"),
        }

        def problems(self, spec: CheckSpec) -> Iterable[Problem]:
            return problems_of(spec, self.parameters)

    registry = built_in_registry()
    registry.register(Spell())
    text = rules(whole(check=check), head="vars: {words: a}\n")
    document = plain(parse_document(text.encode(), "p")[0])
    schema = file_schema("criteria", registry)
    assert Draft202012Validator(schema).is_valid(document) is fine
    assert "the length of the shortest word" in json.dumps(schema)
    path = write(tmp_path, "page.yaml", text)
    if fine:
        load_criteria(path, registry=registry)
        return
    with pytest.raises(CriteriaError) as refused:
        load_criteria(path, registry=registry)
    (problem,) = refused.value.problems
    assert problem.place
    assert (problem.place.line, problem.place.column > 1) == (6, True)


@pytest.mark.parametrize(
    ("value", "allowed"), [("80", True), ({"var": "words"}, True), (80, False), ("-x", False)]
)
def test_argument_of_a_formatter_is_a_text_or_a_variable(value: Any, allowed: bool) -> None:
    document = copy.deepcopy(BASE)
    document["rules"][0]["fix"] = {"format": {"command": "lint", "args": {"width": value}}}
    assert CRITERIA.is_valid(document) is allowed
