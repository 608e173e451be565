"""JSON and YAML as trees that know where each value is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.text.data_tree import data_of, descend, read_json, read_yaml
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.places import JsonPlaces
from pytest_reflex.text.yaml_data import plain_value

data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=10,
).filter(lambda value: "Infinity" not in json.dumps(value))


@pytest.mark.long
@settings(deadline=None)
@given(data, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_json_tree_holds_the_data(value: Any, indent: int | str | None, escaped: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    assert data_of(read_json(f" {text}\n")) == value


@pytest.mark.parametrize("read", [read_json, read_yaml], ids=["json", "yaml"])
def test_nodes_know_where_they_stand(read: Any) -> None:
    text = '{"a": [1, {"b": "é😀"}], "c": null}'
    way = list(descend(read(text), ("a", 1, "b")))
    spans = [text[entry.value.start : entry.value.end] for _, entry in way]
    assert spans == ['[1, {"b": "é😀"}]', '{"b": "é😀"}', '"é😀"']


def test_yaml_values_end_where_their_text_ends() -> None:
    text = "a: |\n  é\n\nb:\n  - x\n  - y   # z\n\n# end\n"
    root = read_yaml(text)
    assert root is not None
    spans = [text[e.value.start : e.value.end] for e in root.entries]
    assert spans == ["|\n  é", "- x\n  - y"]


BROKEN_JSON = {
    "": "line 1, column 1: expected a value",
    "{\n 'a': 1}": 'line 2, column 2: expected "',
    "[1,]": "line 1, column 4: expected a value",
    "{} {}": "line 1, column 4: more text after the document",
    "[1 2]": "line 1, column 4: expected ,",
    '{"a" 1}': "line 1, column 6: expected :",
    "NaN": "line 1, column 1: expected a value",
    '["a': "line 1, column 2: Unterminated string starting at",
    "[" * 300: "line 1, column 201: nested more than 200 levels deep",
}


@pytest.mark.parametrize(("text", "message"), BROKEN_JSON.items(), ids=map(str, range(9)))
def test_broken_json_is_explained(text: str, message: str) -> None:
    with pytest.raises(DataSyntaxError) as caught:
        read_json(text)
    assert str(caught.value) == message


BROKEN_YAML = {
    "a: [": "line 2, column 1: did not find expected node content",
    "a: 1\n---\nb: 2\n": "line 2: it holds more than one YAML document",
    "[" * 300: "line 1: it is nested more than 200 levels deep",
}


@pytest.mark.parametrize(("text", "message"), BROKEN_YAML.items(), ids=map(str, range(3)))
def test_broken_yaml_is_explained(text: str, message: str) -> None:
    with pytest.raises(DataSyntaxError, match=message):
        read_yaml(text)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("~", None),
        ("yes", "yes"),
        ("True", True),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.10", 1.1),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("-.INF", float("-inf")),
        (".5e3", 500.0),
        ("9" * 500, float("inf")),
        ("0x" + "f" * 500, float("inf")),
    ],
)
def test_words_are_read_as_yaml_1_2(word: str, value: Any) -> None:
    assert plain_value(word) == value
    assert type(plain_value(word)) is type(value)


def test_document_without_a_value_is_none() -> None:
    assert read_yaml("# only a remark\n") is None


def test_keys_that_are_no_text_are_told_apart() -> None:
    root = read_yaml("1: a\ntrue: b\n'1': c\n1.0: d\n")
    assert root is not None
    assert [str(key) for key in data_of(root)] == ["1", "true", "1", "1.0"]
    assert [e.value.value for _, e in descend(root, ("1",))] == ["c"]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*path, index - len(value))
            yield from _paths(inner, (*path, index))


@settings(deadline=None, max_examples=50)
@given(data, st.sampled_from([None, 1, "\t"]), st.randoms())
def test_places_in_json_are_those_of_its_tree(value: Any, indent: Any, chance: Any) -> None:
    text = f" {json.dumps(value, indent=indent)}\n"
    root, places = read_json(text), JsonPlaces(text)
    asked = [*_paths(value), ("nothing",), (7,)]
    chance.shuffle(asked)
    for path in asked:
        way = [entry for _, entry in descend(root, path)]
        found = [((entry.key or entry.value).start, entry.value.start) for entry in way]
        assert list(places.along(path)) == found
    assert places.root == root.start
