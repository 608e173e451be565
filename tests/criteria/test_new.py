"""New criteria files: they lint clean, hold their samples, and judge; from a document too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.samples import SampleVerdict, try_samples
from pytest_reflex.criteria.author.scaffold import ProvedProposal, format_proposals, propose, prove
from pytest_reflex.criteria.linting.lint import lint
from pytest_reflex.criteria.load import load_criteria
from tests.criteria.writing import REGISTRY, write

PAGE = """\
# Ledger

## Usage

```sh
ledger add
```

See [the manual](https://example.org/manual).

Two words
---------

Text.

## Übersicht

## Usage
"""
SERVICE = "name: ledger\nport: 8080\nowners: [ann]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_sound(path: str, folder: Path) -> bool:
    """Return whether a file lints clean and all of its samples are as they should be."""
    criteria = load_criteria(path, registry=REGISTRY)
    verdicts = {one.verdict for one in try_samples(criteria, criteria.rules, REGISTRY, folder)}
    return lint(path, REGISTRY) == [] and verdicts == {SampleVerdict.VALIDATED}


def test_a_name_of_a_stock_template_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["criteria", "new", "documentation", "--no-schema"]) == 0
    told = "a stock template is called documentation, too: the name means that one"
    assert told in " ".join(capsys.readouterr().err.split())


def test_an_empty_name_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["criteria", "new", ""]) == 4
    assert "the name is empty (a name such as service" in capsys.readouterr().err


def test_a_new_file_is_sound_and_judges(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "new", "notes"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "notes.yaml\n"
    assert captured.err.splitlines() == [
        "In CI, let pytest refuse to run without the plugin: required_plugins = pytest-reflex",
        "Next: pytest-reflex criteria test notes.yaml",
    ]
    assert is_sound("notes.yaml", folder)
    write(folder, "good.md", "# T\n\nText.\n")
    write(folder, "bad.md", "TODO\n")
    assert main(["evaluate", "good.md", "--criteria", "notes.yaml"]) == 0
    assert main(["evaluate", "bad.md", "--criteria", "notes.yaml"]) == 1


def test_the_schema_beside_it_fits_and_is_named(folder: Path) -> None:
    from jsonschema import Draft202012Validator

    from pytest_reflex.criteria.diagnostics import plain
    from pytest_reflex.criteria.document import parse_document

    assert main(["criteria", "new", "rules/notes.yaml"]) == 4
    (folder / "rules").mkdir()
    assert main(["criteria", "new", "rules/notes.yaml"]) == 0
    text = (folder / "rules" / "notes.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=criteria.schema.json\nname: notes\n")
    schema = json.loads((folder / "rules" / "criteria.schema.json").read_text())
    table, _ = parse_document(text.encode(), "notes.yaml")
    assert list(Draft202012Validator(schema).iter_errors(plain(table))) == []


def test_a_schema_that_is_there_stays(folder: Path) -> None:
    write(folder, "criteria.schema.json", "{}")
    assert main(["criteria", "new", "notes"]) == 0
    assert (folder / "criteria.schema.json").read_text() == "{}"


def test_no_schema_is_written_where_none_is_wanted(folder: Path) -> None:
    assert main(["criteria", "new", "notes", "--no-schema"]) == 0
    assert [path.name for path in folder.iterdir()] == ["notes.yaml"]
    assert "$schema" not in (folder / "notes.yaml").read_text()


REFUSED = {
    "a file that is there": (["there"], "there.yaml is there already (take another name)"),
    "a name": (["my notes"], "'my notes' cannot name criteria (such as my-notes)"),
    "a folder that is not": (["no/notes"], "no/notes.yaml cannot be written: No such file"),
    "no document": (["notes", "--from-document", "gone.md"], "gone.md"),
    "nothing to ask for": (
        ["notes", "--from-document", "plain.md"],
        "plain.md gives no rule that could fail (headings, fenced blocks and links",
    ),
}


@pytest.mark.parametrize(("arguments", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    write(folder, "there.yaml", "")
    write(folder, "plain.md", "Text.\n")
    assert main(["criteria", "new", *arguments]) == 4
    assert told in capsys.readouterr().err
    assert not (folder / "notes.yaml").exists()


FOUND = {
    "page.md": (
        PAGE,
        [
            "a.completeness.title",
            "a.completeness.section-usage",
            "a.completeness.section-two-words",
            "a.completeness.section-bersicht",
            "a.completeness.sh-example",
            "b.completeness.links",
        ],
    ),
    "service.yaml": (
        SERVICE,
        ["a.completeness.name", "a.completeness.port", "a.completeness.owners"],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_rules_are_made_from_a_document_and_proved(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text, ids = FOUND[name]
    write(folder, name, text)
    assert main(["criteria", "new", "made", "--from-document", name]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[:-2] == [f"{rule_id}: proved" for rule_id in ids]
    assert [rule.id for rule in load_criteria("made.yaml", registry=REGISTRY).rules] == ids
    assert is_sound("made.yaml", folder)
    assert main(["evaluate", name, "--criteria", "made.yaml"]) == 0


def test_a_rule_that_cannot_be_proved_is_left_out(folder: Path) -> None:
    (good,) = propose("# T\n\nText.\n")
    for text, why_not in (
        ("No title.\n", "the document does not meet it"),
        (good.good, ""),
    ):
        (found,) = prove([good], text, REGISTRY, folder, folder)
        assert found.why_not == why_not
    stays = type(good)(**{**{f: getattr(good, f) for f in good.__slots__}, "without": good.good})
    (found,) = prove([stays], good.good, REGISTRY, folder, folder)
    assert found.why_not == "it does not fail without what it asks for"
    written = format_proposals("made", "page.md", [ProvedProposal(good), found], schema=False)
    assert written.count("- id:") == 1


LINES = st.sampled_from(
    [
        "# T",
        "## Use",
        "## A & B",
        "Use",
        "===",
        "---",
        "```py",
        "```",
        "[a](b)",
        "> ## Q",
        "- x",
        "",
    ]
)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(LINES, max_size=8).map("\n".join))
def test_what_is_made_from_any_text_reads_back(folder: Path, text: str) -> None:
    found = list(prove(propose(text), text, REGISTRY, folder, folder))
    if any(not one.why_not for one in found):
        path = folder / "made.yaml"
        path.write_text(format_proposals("made", "page.md", found, schema=False))
        load_criteria(path, registry=REGISTRY)
