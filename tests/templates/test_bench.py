"""The published table says that enough faults were planted, in every format, and nearly all caught.

The documents in which `make bench-rules` plants them are fetched, so the figures are those of its
last run; how it plants and counts is tested here on documents of our own.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from benchmarks.corpus.packages import Document
from benchmarks.rules.__main__ import LEAST, LEAST_CAUGHT, LEAST_IN_ALL
from benchmarks.rules.mutants import OPERATORS, Kind, changed, kinds, of_kind, planted
from benchmarks.rules.operators import Operator
from benchmarks.rules.operators.sections import cut, empty, rename, with_hashes
from benchmarks.rules.operators.sections import sections as sections_of
from benchmarks.rules.sources import Source, completed, format_of, sources
from benchmarks.rules.table import (
    BEGIN,
    Tally,
    put,
    read_tallies,
    real_documents,
    rendered,
    tallied,
)
from pytest_reflex.model.enums import Level
from tests.templates.planted import CORPUS
from tests.templates.test_real_documents import MISSING, PASSED
from tests.templates.test_stock import RULES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "templates.md"
PUBLISHED = read_tallies(PAGE.read_text("utf-8"))
GOOD = {
    "api-spec": ("library.yaml", "weather.json"),
    "code": ("inventory.py", "report.py"),
    "configuration": (
        "app.toml",
        "deployment.yaml",
        "mailer.ini",
        "printer.json",
        "site.env",
        "compose.yaml",
        "workflows/tests.yml",
    ),
    "documentation": ("csvtidy.md", "greeter.md", "backups.md"),
    "reference": ("settings.md", "options.md"),
    "changelog": ("CHANGELOG.md", "1.x.md"),
    "adr": ("0007-one-writer.md", "0008-names-of-branches.md"),
}


def good_sources() -> list[Source]:
    """Return our own good documents as those of a package."""
    return list(
        sources(
            Document(
                package="ours",
                path={"site.env": ".env", "workflows/tests.yml": ".github/workflows/a.yml"}.get(
                    name, name
                ),
                file=CORPUS / template / name,
                template=template,
                level=Level.B,
            )
            for template, names in GOOD.items()
            for name in names
        )
    )


def source(text: str = "# A\n", **files: str) -> Source:
    return Source(
        template="documentation",
        format="markdown",
        package="ours",
        path="a.md",
        files=files or {"a.md": text},
    )


def operator(text: str | None, *, each_file: bool = False, where: str = "") -> Operator:
    return Operator(
        templates=("documentation",),
        rule="a.x.y",
        formats=("markdown",),
        name="a fault",
        change=lambda _: text,
        each_file=each_file,
        where=where,
    )


def test_text_that_takes_in_what_is_appended_is_no_source(tmp_path: Path) -> None:
    texts = {"open.md": "# A\n\n```sh\nmake\n", "closed.md": "# A\n\n> ```sh\n> make\n> ```\n"}
    texts["api.yaml"] = "openapi: 3.0.0\n  paths: {}\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    found = sources(
        Document(package="ours", path=name, file=tmp_path / name, template=template, level=Level.B)
        for name, template in (
            ("open.md", "guide"),
            ("closed.md", "guide"),
            ("api.yaml", "api-spec"),
        )
    )
    assert [one.path for one in found] == ["closed.md"]


SECTIONS = """\
---
# no heading
---

Title
=====

Text
----

```sh
# no heading
```

## Notes on text

<!--
## no heading
-->

### Deep
"""


def test_sections_of_a_text_are_those_that_its_readers_see() -> None:
    text = with_hashes(SECTIONS)
    found = sections_of(text)
    assert [(s.level, s.title) for s in found] == [
        (1, "Title"),
        (2, "Text"),
        (2, "Notes on text"),
        (3, "Deep"),
    ]
    assert [s.end == len(text) for s in found] == [True, False, True, True]
    assert [s.title for s in sections_of(cut("notes", text) or "")] == ["Title", "Text"]
    assert [s.title for s in sections_of(empty("text", text) or "")] == [
        "Title",
        "Text",
        "Notes on text",
    ]
    assert "no heading\n```" not in str(empty("text", text))
    assert [s.title for s in sections_of(rename("text|deep", text) or "")] == [
        "Title",
        *["Notes"] * 3,
    ]
    assert cut("consequences", text) is None


def test_each_rule_and_format_has_enough_faults_in_the_published_table() -> None:
    published = {(t.template, t.rule): t for t in PUBLISHED}
    for kind in kinds():
        tally = published[kind.template, kind.rule]
        assert tally.formats.get(kind.format, 0) >= LEAST, kind


def test_each_rule_of_a_template_with_faults_is_in_the_published_table() -> None:
    page = PAGE.read_text("utf-8")
    _, _, last = page.partition("Templates for which nothing is planted here: ")
    without = {name for name in RULES if f"`{name}`" in last.partition("\n")[0]}
    wanted = {
        (template, rule)
        for template, rules in RULES.items()
        if template not in ("base", *without)
        for rule in rules
    }
    assert {(t.template, t.rule) for t in PUBLISHED} == wanted


def test_published_faults_are_enough_and_nearly_all_caught() -> None:
    planted = sum(t.planted for t in PUBLISHED)
    assert planted >= LEAST_IN_ALL
    assert 100 * sum(t.caught for t in PUBLISHED) >= LEAST_CAUGHT * planted


def test_table_of_the_real_documents_is_published() -> None:
    passed = {name: (PASSED[name, Level.A], PASSED[name, Level.B]) for name in MISSING}
    assert real_documents(MISSING, passed) in PAGE.read_text("utf-8")


def test_table_counts_faults_by_rule_and_format() -> None:
    tallies = tallied(
        [
            ("t", "a.b.c", "yaml", True),
            ("s", "a.b.c", "json", True),
            ("t", "a.b.d", "yaml", True),
            ("t", "a.b.c", "json", False),
            ("t", "a.b.c", "yaml", True),
        ]
    )
    text = rendered(tallies, ["adr", "reference"])
    assert "| t | `a.b.c` | yaml 2, json 1 | 3 | 2 |" in text
    assert "| all | | | 5 | 4 |" in text
    assert "Templates for which nothing is planted here: `adr`, `reference`." in text
    assert read_tallies(f"{BEGIN}{text}") == tallies


def test_table_takes_the_place_of_the_old_one() -> None:
    page = put(PAGE.read_text("utf-8"), "old\n")
    one = Tally(template="t", rule="a.b.c", formats={"yaml": 1}, caught=0)
    assert read_tallies(put(page, rendered([one]))) == [one]
    with pytest.raises(ValueError, match=BEGIN.strip()):
        put("# no marks\n", "table\n")


def test_operators_of_a_rule_have_names_of_their_own() -> None:
    names = [(t, o.rule, f, o.name) for o in OPERATORS for t in o.templates for f in o.formats]
    assert len(names) == len(set(names))
    assert {(template, rule) for template, rule, _, _ in names} == {
        (template, rule)
        for template, rules in RULES.items()
        if template in {template for one in OPERATORS for template in one.templates}
        for rule in rules
    }


def test_operator_that_does_not_apply_leaves_a_document_alone() -> None:
    assert changed(operator(None), source()) is None
    assert changed(operator("# A\n"), source("# A\n")) is None
    assert changed(operator("# B\n"), source("# A\n")) == {"a.md": "# B\n"}


def test_one_file_of_a_folder_is_changed_or_each() -> None:
    folder = source(a="1", b="2")
    assert changed(operator(""), folder) == {"a": "", "b": "2"}
    assert changed(operator("", where="b"), folder) == {"a": "1", "b": ""}
    assert changed(operator("", each_file=True), folder) == {"a": "", "b": ""}


def test_api_description_is_planted_in_all_its_formats() -> None:
    formats = {(s.format, s.path) for s in good_sources() if s.template == "api-spec"}
    names = {
        (f, f"{name}.{end}")
        for name in ("library", "weather")
        for f, end in (("yaml", "yaml"), ("json", "json"), ("markdown", "md"))
    }
    assert formats == names


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".github/workflows/ci.yml", "workflow"),
        ("docker/compose.yaml", "compose"),
        ("tests/.env", "env"),
        (".editorconfig", "ini"),
        ("setup.cfg", "ini"),
        ("pyproject.toml", "toml"),
        ("package.json", "json"),
        ("mkdocs.yml", "yaml"),
    ],
)
def test_format_of_a_configuration_is_that_of_its_name(path: str, expected: str) -> None:
    assert format_of(path) == expected


def test_compose_file_is_completed_where_nothing_says_restart() -> None:
    compose = "services:\n  a:\n    image: a:1\n  b-c:\n    build: .\nvolumes:\n  d:\n"
    assert completed(compose) == (
        "# Services to try things out with\nservices:\n  a:\n    restart: always\n    image: a:1\n"
        "  b-c:\n    restart: always\n    build: .\nvolumes:\n  d:\n"
    )
    assert completed(completed(compose)) == completed(compose)


def test_faults_are_planted_where_the_rule_passed_and_are_the_same_in_each_run() -> None:
    kind = Kind("documentation", "a.completeness.examples", "markdown")
    found = [s for s in good_sources() if s.template == "documentation"]
    found.append(source("# A\n\nNo example.\n"))
    mutants = of_kind(kind, found)
    assert [m.path for m in mutants].count("a.md") == 0
    assert len(mutants) == 6
    assert all(m.caught for m in mutants)
    assert mutants == of_kind(kind, reversed(found))


@pytest.mark.variants
@pytest.mark.parametrize(
    "kind", {k[:2]: k for k in kinds() if k.template in GOOD}.values(), ids=" ".join
)
def test_faults_are_caught_in_documents_of_our_own(kind: Kind) -> None:
    found = [s for s in good_sources() if (s.template, s.format) == (kind.template, kind.format)]
    mutants = list(islice(planted(kind, found), 1 if kind.template == "code" else 2))
    assert mutants
    assert [m for m in mutants if not m.caught] == []
