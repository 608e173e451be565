"""Places in large data: asked for again and again, a text is looked through once."""

from __future__ import annotations

import json

import pytest

from pytest_reflex.text import data as data_module
from pytest_reflex.text.data import read_data
from pytest_reflex.text.places import JsonPlaces, toml_places

COUNT = 20_000
TABLES = "[[a]]\nx = 1\n\n"


@pytest.mark.long
def test_f17_every_key_of_a_long_toml_text_is_found_in_its_line() -> None:
    text = "".join(f"k{number} = {number}\n" for number in range(COUNT))
    (document,) = read_data(text, "toml")
    lines = [document.line((f"k{number}",)) for number in range(COUNT)]
    assert lines == list(range(1, COUNT + 1))
    assert document.position((f"k{COUNT - 1}",)) == (COUNT, len(f"k{COUNT - 1} = ") + 1)


def test_f17_every_table_of_a_long_array_is_found() -> None:
    places = toml_places(TABLES * COUNT)
    assert places["a", COUNT - 1] == len(TABLES) * (COUNT - 1)
    assert places["a", COUNT - 1, "x"] == len(TABLES) * (COUNT - 1) + len("[[a]]\nx = ")


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_place_of_the_last_value_needs_no_line_end(end: str) -> None:
    (document,) = read_data(f"a = 1\n\n[b]\nc = 2{end}", "toml")
    assert (document.position(("a",)), document.position(("b", "c"))) == ((1, 5), (4, 5))


def test_line_starts_are_counted_once() -> None:
    data_module._line_starts.cache_clear()
    (document,) = read_data("a = 1\nb = 2\n", "toml")
    for key in ("a", "b", "a"):
        document.position((key,))
    assert data_module._line_starts.cache_info().misses == 1


def test_f17_every_key_of_a_long_json_text_is_found_in_its_line() -> None:
    text = "{\n" + ",\n".join(f'"k{number}": 1' for number in range(COUNT)) + "\n}"
    (document,) = read_data(text, "json")
    lines = [document.line((f"k{number}",)) for number in range(COUNT)]
    assert lines == list(range(2, COUNT + 2))
    assert document.line(("none",)) == 1


@pytest.mark.long
def test_f17_only_what_a_path_goes_through_is_held_of_a_large_json_text() -> None:
    text = json.dumps([[{"a": [1, 2, 3]}] * COUNT, [{"b": 1}]])
    places = JsonPlaces(text)
    assert [text[value] for _, value in places.along((1, 0, "b"))] == ["[", "{", "1"]
    held = [len(inside.values) for inside in places._looked_into.values()]
    assert held == [2, 1, 1]


def test_f17_items_after_the_one_that_is_asked_for_are_not_looked_at() -> None:
    places = JsonPlaces("[" + "0," * COUNT + "0]")
    assert list(places.along((5,))) == [(11, 11)]
    assert len(places._looked_into[0].values) == 6
