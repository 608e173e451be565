"""Prose: lengths, an opening, placeholders, one style of markup."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

LONG = " ".join(["word"] * 30) + ".\n"

PASSING: list[tuple[str, dict[str, Any]]] = [
    ("One two. Three four!\n", {"max_average_sentence": 2}),
    (LONG + "\nShort one. " * 9, {"max_average_sentence": 5}),
    ("See e.g. `a b c d e f` there.\n", {"max_sentence": 10}),
    ("- one\n- two\n", {"max_average_sentence": 1}),
    ("One two three.\n", {"min_words": 3}),
    ("# T\n\nFive words are right here.\n", {"opening": 5}),
    ("# T\n\n## A\n\nFive words are right here.\n", {"opening": 5}),
    ("# T\n\n<p>Five <b>words</b> are right here</p>\n", {"opening": 5}),
    ("# T\n\n- a\n- b\n\n## U\n\n```sh\n```\n", {"one_style": True}),
    ("Mark it `TODO`, or keep a TODO list.\n\n```\nTODO\n```\n", {"placeholders": False}),
]


@pytest.mark.parametrize(("text", "params"), PASSING, ids=[str(p) for _, p in PASSING])
def test_prose_as_it_should_be_passes(text: str, params: dict[str, Any]) -> None:
    assert judge(text, {"prose": params}).outcome is Outcome.PASS


FAILING: list[tuple[str, dict[str, Any], str]] = [
    (
        LONG,
        {"max_average_sentence": 25},
        "30.0 words per sentence, at most 25 are wanted; the longest has 30",
    ),
    (LONG + "\n" + "- item\n" * 50, {"max_average_sentence": 25}, "30.0 words per sentence"),
    (LONG, {"max_sentence": 29}, "a sentence of 30 words, at most 29 are wanted: word word"),
    ("# Only a heading\n", {"max_average_sentence": 25}, "there is no prose to check"),
    ("One two.\n", {"min_words": 3}, "2 words of prose, at least 3 are wanted"),
    ("# T\n\n![one two three four five](x)\n", {"opening": 5}, "the longest paragraph"),
    ("# T\n\n## A\n\n## B\n\nFive words are right here.\n", {"opening": 5}, "the longest"),
    ("Text.\n\nTBD\n", {"placeholders": False}, "placeholder text: TBD"),
    ("# FIXME\n", {"placeholders": False}, "placeholder text: FIXME"),
    ("| a |\n|---|\n| TODO |\n", {"placeholders": False}, "placeholder text: TODO"),
    ("Lorem ipsum dolor.\n", {"placeholders": False}, "placeholder text: Lorem ipsum"),
    (
        "Nam sed condimentum est. Maecenas tempor sagittis sapien, nec rhoncus sem.\n",
        {"placeholders": False},
        "placeholder text: pseudo-Latin: condimentum maecenas tempor",
    ),
    ("- a\n\ntext\n\n* b\n", {"one_style": True}, "two styles of bullet: * here, - in line 1"),
    ("```\n```\n\n~~~\n~~~\n", {"one_style": True}, "two styles of fence: ~~~ here, ``` in line 1"),
    ("# T\n\nU\n-\n", {"one_style": True}, "two styles of heading: underlined here, # in line 1"),
]


@pytest.mark.parametrize(("text", "params", "message"), FAILING, ids=[m for *_, m in FAILING])
def test_prose_that_is_not_fails(text: str, params: dict[str, Any], message: str) -> None:
    result = judge(text, {"prose": params})
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(message)


def test_long_sentence_is_found_in_its_line() -> None:
    result = judge(f"# T\n\nShort.\n\n{LONG}", {"prose": {"max_sentence": 10}})
    assert result.location
    assert result.location.line == 5


SPOKEN_OF = [
    "See [TODO](TODO.md).",
    "TODO.md lists what is left.",
    "It finds TODO and FIXME comments in your code.",
    "Highlights TODO, FIXME and XXX.",
    "Supports tags (TODO) and keywords [FIXME].",
    "Searches for: TODO, FIXME.",
    "Run `grep` for TODO.",
    "It looks for:\n\n- TODO\n- FIXME\n- XXX",
    "**TODO** comments are listed; a TODO/FIXME tag is one.",
    "The XXX placeholder is replaced.",
    "TBD (trunk-based development) is a way of branching.",
    "Text.\n\n{/* TODO: remove when fixed */}\n\nMore {/* FIXME */} text.",
    "TODO - a list for the terminal",
    "# App\n\n## TODO\n\n- [ ] Windows",
    "It writes Lorem ipsum for you.",
]


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_note_that_is_only_spoken_of_is_no_placeholder(text: str) -> None:
    assert judge(text, {"prose": {"placeholders": False}}).outcome is Outcome.PASS


LEFT_OVER = [
    ("TODO", "TODO"),
    ("TODO: write this", "TODO"),
    ("TODO write this", "TODO"),
    ("TODO - describe the format", "TODO"),
    ("TODO (anna): the limits", "TODO"),
    ("It runs. FIXME: why?", "FIXME"),
    ("The date is TBD.", "TBD"),
    ("The limit (TBD) holds.", "TBD"),
    ("{/* TODO: a */} TBD", "TBD"),
    ("Licence: TBD", "TBD"),
    ("**TODO**", "TODO"),
    ("[TODO](#)", "TODO"),
    ("It finds TODO comments.\n\nTODO: say how.", "TODO"),
    ("- TODO\n- TODO", "TODO (and 1 more)"),
    ("# App\n\n## TODO\n", "TODO"),
    ("# App\n\n## TODO\n\nTBD", "TBD"),
    ("| limit | size |\n|-|-|\n| TBD | TODO |", "TBD (and 1 more)"),
    ("| limit | size |\n|-|-|\n| a | TBD |", "TBD"),
    ("| a | b | c |\n|-|-|-|\n| a | b | TODO |", "TODO"),
    ("| a | b | c |\n|-|-|-|\n| TBD | TBD | c |", "TBD (and 1 more)"),
    ("| a | b | c |\n|-|-|-|\n| a | b | TBD: say it |", "TBD"),
    ("| a | b | c |\n|-|-|-|\n| a | b | c |\n\nTBD", "TBD"),
]


@pytest.mark.parametrize(("text", "note"), LEFT_OVER, ids=[text for text, _ in LEFT_OVER])
def test_note_in_place_of_a_text_is_a_placeholder(text: str, note: str) -> None:
    result = judge(text, {"prose": {"placeholders": False}})
    assert result.message == f"placeholder text: {note}"


OPEN_VALUES = [
    "| version | released | end |\n|-|-|-|\n| 2 | 2026-01-01 | TBD |\n| 1 | 2025 | 2026 |",
    "| | a | b | c |\n|-|-|-|-|\n| Coverage | **TBD** | 90 % | 80 % |",
    "| name | day | place |\n|-|-|-|\n| A | (TBC) | here |",
]


@pytest.mark.parametrize("text", OPEN_VALUES)
def test_value_in_a_table_that_nobody_knows_yet_is_told_in_a_passing_result(text: str) -> None:
    result = judge(text, {"prose": {"placeholders": False}})
    assert result.outcome is Outcome.PASS
    assert result.message == "no placeholders; values that are not known yet: 1 (line 3)"
