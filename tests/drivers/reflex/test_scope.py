"""Which parts of an artifact a critique names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_reflex.drivers.reflex.scope_guard import AllowedParts, RefineInput, scope_of
from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult, Evaluation
from pytest_reflex.model.rules import CheckSpec, Fix, Rule
from pytest_reflex.verdict.score import judge
from tests.verdict.sets import criteria, rule, target

OLD = """\
---
title: parcel
---
# Parcel

What it is.

## Usage

Run it.

### Options

None.

## Limits

Many.
"""
RULE = "a.x.one"


def _scope(
    said: str,
    *,
    new: str = OLD,
    old: str = OLD,
    evaluation: Evaluation | None = None,
    feedback: tuple[str, ...] = (),
    **of_rule: Any,
) -> AllowedParts:
    changed = replace(rule(RULE), description="It holds", **of_rule)
    return scope_of(
        RefineInput(
            issues=[{"rule_id": RULE, "problem": "wrong", "fix_instruction": said}] if said else [],
            feedback=feedback,
            evaluation=evaluation,
            criteria=criteria(changed),
        ),
        old,
        new,
    )


SAID = {
    "a heading": ("Mend the section 'Limits'", {"Limits"}),
    "a heading in other letters": ("mend **limits** first", {"Limits"}),
    "a heading with others below it": ("Mend Usage", {"Usage", "Options"}),
    "the title of the document": ("Say what Parcel is", {"Parcel"}),
    "the front matter": ("Add a date to the front matter", {"(front matter)"}),
    "the text before the headings": ("Shorten the introduction", {"(top)"}),
}


@pytest.mark.parametrize(("said", "named"), SAID.values(), ids=SAID.keys())
def test_an_issue_names(said: str, named: set[str]) -> None:
    assert _scope(said).named == named


def test_a_part_of_a_word_names_nothing() -> None:
    assert _scope("Mend the usages of limitsX").whole


def test_an_issue_that_names_nothing_opens_the_whole_text() -> None:
    assert _scope("Write better").to_json() == {"whole": [RULE]}


def test_a_new_part_that_the_critique_asks_for_is_named() -> None:
    new = OLD + "\n## Licence\n\nMIT\n\n### Notes\n\nNone.\n"
    assert _scope("Add a Licence", new=new).named == {"Licence", "Notes"}


def test_a_fix_names_what_it_changes() -> None:
    fix = Fix(kind="insert_section", params={"heading": "## Licence", "text": "MIT"})
    assert _scope("do it", fixes=(fix,)).named == {"Licence"}


def test_the_section_of_a_check_is_named_with_what_is_below_it() -> None:
    check = CheckSpec(type="content", params={"search": "x", "section": "## usage"})
    assert _scope("do it", checks=(check,)).named == {"Usage", "Options"}


def test_the_words_of_a_check_name_parts() -> None:
    check = CheckSpec(type="structure", params={"headings": {"required": ["Usage", "Limits"]}})
    assert _scope("do it", checks=(check,)).named == {"Usage", "Options", "Limits"}


def test_lines_of_evidence_name_their_parts() -> None:
    found = CheckResult(
        outcome=Outcome.FAIL, location=Place("a.md", 10, 1), evidence="10 | Run it.\n18 | Many."
    )
    assert _scope("do it", evaluation=_evaluation(rule(RULE), found)).named == {"Usage", "Limits"}


def _evaluation(judged: Rule, result: CheckResult) -> Evaluation:
    return judge(target(judged, level="A"), {(judged.id, 0): result}, sha256="0" * 64)


def test_a_person_s_words_name_parts_or_open_all() -> None:
    assert _scope("", feedback=("Limits are too long",)).named == {"Limits"}
    assert _scope("", feedback=("I don't like it",)).to_json() == {"whole": ["feedback"]}


def test_first_keys_of_data_are_named() -> None:
    data = "info: 1\npaths: {}\n"
    assert _scope("Add /a to paths", old=data, new=data).named == {"paths"}


def test_a_title_of_one_letter_is_taken_as_it_is_written() -> None:
    text = "# A\n\na\n\n# B\n\nb\n"
    assert _scope("mend a word", old=text, new=text).whole
    assert _scope("mend B", old=text, new=text).named == {"B"}
