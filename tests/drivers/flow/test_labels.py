"""Ids, labels, slugs and ids of runs: what they may be holds for all of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.drivers.flow.targets import (
    OF_CRITERIA,
    by_component,
    is_id,
    is_run_id,
    label_of,
    next_run_id,
    parse_target,
    slug_of,
)

NUMBERS = st.integers(0, 10**6)
DAY = datetime(2026, 11, 29, 23, 59, tzinfo=UTC)


@given(numbers=st.lists(NUMBERS, min_size=1, max_size=6))
def test_a_label_is_the_iterations_from_the_root_down(numbers: list[int]) -> None:
    label = ""
    for number in numbers:
        label = label_of(label, number)
    assert by_component(label) == tuple(numbers)


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=4), max_size=8))
def test_labels_sort_by_their_components_and_not_as_texts(lists: list[list[int]]) -> None:
    labels = [".".join(map(str, one)) for one in lists]
    assert [by_component(one) for one in sorted(labels, key=by_component)] == sorted(
        map(tuple, lists)
    )


def test_ten_comes_after_nine() -> None:
    assert sorted(["1.10", "1.9", "1", "1.9.1", "2"], key=by_component) == [
        *("1", "1.9", "1.9.1", "1.10", "2")
    ]


@given(task=st.text(max_size=200))
def test_a_slug_is_an_id_of_at_most_50_characters(task: str) -> None:
    slug = slug_of(task)
    assert 1 <= len(slug) <= 50
    assert all(part.isascii() and part.isalnum() for part in slug.split("-"))
    assert slug == slug.lower() == slug_of(slug)


@pytest.mark.parametrize(
    ("task", "slug"),
    [
        ("Add search, quickly!", "add-search-quickly"),
        ("Größe der Bücher", "groe-der-bucher"),
        ("--force; rm -rf /", "force-rm-rf"),
        ("日本語", "task"),
        ("", "task"),
        ("a" * 60, "a" * 50),
        (f"{'word ' * 9}{'x' * 30}", "-".join(["word"] * 9)),
    ],
)
def test_slugs_of_tasks(task: str, slug: str) -> None:
    assert slug_of(task) == slug


@pytest.mark.parametrize("text", ["a", "a-b", "a1-2b", "0", "console", "com10"])
def test_ids(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text",
    ["", "A", "a_b", "-a", "a-", "a--b", "a/b", "..", "a.b", "con", "lpt1", "é", "a\n", "a" * 101],
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert not is_id(text)


@given(st.lists(st.integers(1, 2000), max_size=8), st.text(max_size=20))
def test_a_new_run_comes_behind_all_of_its_day(numbers: list[int], other: str) -> None:
    existing = [f"run_20261129_{number:03}" for number in numbers]
    found = next_run_id([*existing, "run_20261128_999", other], DAY)
    assert is_run_id(found)
    assert found not in existing
    assert found == f"run_20261129_{max(numbers, default=0) + 1:03}"


@pytest.mark.parametrize("text", ["run_2026_001", "run_20261129_1", "Run_20261129_001", "001"])
def test_other_texts_are_no_runs(text: str) -> None:
    assert not is_run_id(text)


@pytest.mark.parametrize(
    ("text", "what", "pattern", "op", "number"),
    [
        ("exit == 0", "exit", "", "==", "0"),
        ("exit != -1", "exit", "", "!=", "-1"),
        (" exit<2 ", "exit", "", "<", "2"),
        ("stdout ~ /all (good|fine)/", "stdout", "all (good|fine)", "==", "0"),
        ("stdout ~ /a/b/", "stdout", "a/b", "==", "0"),
        (r"value(/TOTAL.* (\d+)%/) >= 90.5", "value", r"TOTAL.* (\d+)%", ">=", "181/2"),
        ("value ( /x/ ) > +3", "value", "x", ">", "3"),
        ("passed", "passed", "", "==", "0"),
        ("score >= 0.9", "score", "", ">=", "9/10"),
    ],
)
def test_targets(text: str, what: str, pattern: str, op: str, number: str) -> None:
    found = parse_target(text)
    assert (found.what, found.pattern, found.op, str(found.number)) == (what, pattern, op, number)
    assert found.of_criteria == (what in OF_CRITERIA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit == 0.5", "whole number"),
        ("exit = 0", "a target is"),
        ("exit == 1e3", "a target is"),
        ("score >= 2", "between 0 and 1"),
        ("stdout ~ x", "a target is"),
        ("value(/(/) > 1", "/(/"),
        ("passed > 1", "a target is"),
        ("", "a target is"),
    ],
)
def test_other_texts_are_no_targets(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        parse_target(text)


@given(text=st.text(max_size=30))
def test_any_text_is_a_target_or_a_value_error(text: str) -> None:
    try:
        found = parse_target(text)
    except ValueError:
        return
    assert found.text == text.strip()


@given(number=st.integers(-1000, 1000), bound=st.integers(-1000, 1000))
def test_a_comparison_is_that_of_numbers(number: int, bound: int) -> None:
    holds = {
        op: parse_target(f"value(/x/) {op} {bound}").holds(number)
        for op in ("==", "!=", "<", "<=", ">", ">=")
    }
    assert holds["=="] != holds["!="]
    assert holds["<"] != holds[">="]
    assert holds["<="] != holds[">"]
    assert holds["=="] == (holds["<="] and holds[">="])
