"""What changed between two texts: exact, small, and bounded in work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import StateError
from pytest_reflex.storage.delta import apply_delta, find_changes, make_delta
from pytest_reflex.storage.parts import MOST_LINES, parts_of

pytestmark = pytest.mark.long

texts = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "\u2028x\n", "d"]), max_size=30).map(
        "".join
    ),
)


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_delta_leads_from_one_text_to_the_other(old: str, new: str) -> None:
    delta = json.loads(json.dumps(make_delta(old, new)))
    assert apply_delta(old, delta) == new


def test_delta_of_a_small_change_is_small() -> None:
    old = "".join(f"line {n}\n" for n in range(1000))
    new = old.replace("line 5\n", "line five\n").replace("line 990\n", "")
    assert make_delta(old, new) == [
        ["=", 5],
        ["-", 1],
        ["+", "line five\n"],
        ["=", 984],
        ["-", 1],
        ["=", 9],
    ]


def test_equal_texts_have_an_empty_delta() -> None:
    assert make_delta("a\nb", "a\nb") == []
    assert apply_delta("a\nb", []) == "a\nb"


def test_first_artifact_is_one_addition() -> None:
    assert make_delta("", "# T\n\ntext") == [["+", "# T\n\ntext"]]


def test_large_changes_are_replaced_whole() -> None:
    old = "".join(f"{n}\n" for n in range(100_000))
    new = "".join(f"{n}\n" if n % 2 else "q\n" for n in range(100_000))
    delta = make_delta(old, new)
    assert len(delta) < 5
    assert apply_delta(old, delta) == new


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        ([["=", 3]], "does not fit its text at line 1: \\['=', 3\\]"),
        ([["=", 1]], "covers 1 of the 2 lines"),
        ([["=", 2], ["-", 1]], "at line 3"),
        ([["*", 1]], "at line 1"),
        ([["+", 1]], "at line 1"),
        ([["=", -1]], "at line 1"),
        ([["="]], "at line 1"),
    ],
)
def test_delta_that_does_not_fit_is_refused(delta: list[list[Any]], message: str) -> None:
    with pytest.raises(StateError, match=message):
        apply_delta("a\nb\n", delta)


OLD = "intro\n\n# T\n\na\n\n## One\n\nb\n\n## Two\n\nc\n"


def test_changed_headings_are_named() -> None:
    new = OLD.replace("b\n", "B\n").replace("## Two", "## Three").replace("intro", "Intro")
    changed = find_changes(OLD, new)
    assert changed.added == ("Three",)
    assert changed.modified == ("(top)", "One")
    assert changed.removed == ("Two",)
    assert changed.all == ("Three", "(top)", "One", "Two")


FRONT_MATTER = ["---\na: 1\n---\n", "+++\na = 1\n+++\n", "---\na: 1\n...\n"]


@pytest.mark.parametrize("front", FRONT_MATTER)
def test_front_matter_is_a_part_in_each_of_its_forms(front: str) -> None:
    parts = parts_of(front + "# T\n\ntext\n")
    assert parts is not None
    assert parts.parts[0].name == "(front matter)"


def test_section_that_moves_by_blank_lines_is_not_changed() -> None:
    assert find_changes(OLD, OLD.replace("\n\n##", "\n\n\n##")).all == ()


def test_headings_of_one_name_are_numbered() -> None:
    assert find_changes("# A\nx\n# A\ny\n", "# A\nx\n# A\nz\n").modified == ("A (2)",)


def test_a_number_that_is_a_heading_already_is_left_out() -> None:
    assert find_changes("", "# A\n# A (2)\n# A\n").added == ("A", "A (2)", "A (3)")


@pytest.mark.parametrize("line", ["# A\n", "A: 1\n", "[A]: b\n"])
def test_thousands_of_parts_of_one_name_are_numbered_in_one_pass(line: str) -> None:
    assert len(find_changes("", line * 20_000).added) == 20_000


def test_a_text_of_very_many_lines_is_one_part() -> None:
    assert find_changes("", "# A\n" * (MOST_LINES + 1)).added == ("(text)",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"info": 1, "paths": {}}', '{"info": 1, "paths": {"/a": 1}, "tags": []}'),
        ("# c\ninfo: 1\npaths: {}\n", "# c\ninfo: 1\n\npaths: {/a: 1}\ntags: []\n"),
    ],
    ids=["json", "yaml"],
)
def test_changed_first_keys_are_named(old: str, new: str) -> None:
    changed = find_changes(old, new)
    assert (changed.added, changed.modified, changed.removed) == (("tags",), ("paths",), ())


def test_text_without_parts_is_one_part() -> None:
    assert find_changes("a b", "a c").modified == ("(text)",)
    assert find_changes("", "a c").added == ("(text)",)
    assert find_changes("In short: prose", "In short: more prose").modified == ("(text)",)
