"""YAML events are the same by either parser, and every fault has its place."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.text import yaml_data as module
from pytest_reflex.text.data_tree import read_yaml as read_tree
from pytest_reflex.text.lines import DataSyntaxError
from pytest_reflex.text.yaml_data import ForbiddenCharacterError, read_yaml, yaml_events


def seen(text: str) -> list[tuple[str, Any]]:
    return [(type(event).__name__, getattr(event, "value", None)) for event in yaml_events(text)]


RIGHT_ALTHOUGH_LIBYAML_REFUSES = {
    "u: [http://a.b/c, 12:30]": {"u": ["http://a.b/c", "12:30"]},
    "a: 1\nb: {c: &x d:e}\nf: [*x , g]": {"a": 1, "b": {"c": "d:e"}, "f": ["d:e", "g"]},
    'é: "\\ud83d\\ude00 \\u00e9"': {"é": "😀 é"},
}


@pytest.mark.parametrize(("text", "value"), RIGHT_ALTHOUGH_LIBYAML_REFUSES.items())
def test_what_libyaml_refuses_wrongly_is_read(text: str, value: Any) -> None:
    assert read_yaml(text)[0] == [value]


def test_a_long_text_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SECOND_READING", 10)
    with pytest.raises(DataSyntaxError, match="line 1, column 10: found unexpected ':'"):
        seen("ab: [http://x]")


def test_spans_are_true_in_a_text_that_is_read_again() -> None:
    text = "é: |\n  😀\nu: [http://x , y]\nz: 1\n"
    root = read_tree(text)
    assert root is not None
    spans = [text[entry.value.start : entry.value.end] for entry in root.entries]
    assert spans == ["|\n  😀", "[http://x , y]", "1"]


FAULTS = {
    "a: b: c": "line 1, column 5: mapping values are not allowed in this context",
    "a:\n- [b\nc: d": "line 3, column 2: .* that starts in line 2",
    "é: 1\nb: é\x01": "line 2, column 5: the character U\\+0001 is not allowed",
    "a: \ud800": "line 1, column 4: the character U\\+D800 is not allowed",
    "[http://x": "line 1, column 10: expected ',' or ']'",
    'k:\n  "\\ud83dA"': "line 2, column 3: found half of a Unicode surrogate pair",
    'k: "\\UFFFFFFFF"': "line 1, column 7: found invalid Unicode character escape code",
}


@pytest.mark.parametrize(("text", "message"), FAULTS.items(), ids=FAULTS.values())
def test_a_fault_says_where(text: str, message: str) -> None:
    with pytest.raises(DataSyntaxError, match=message):
        seen(text)


def test_without_the_c_parser_faults_are_of_the_same_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_ruamel_yaml", None)
    with pytest.raises(ForbiddenCharacterError, match="line 2, column 1: the character U"):
        seen("a: 1\n\x00")
    with pytest.raises(DataSyntaxError, match="escape beyond Unicode"):
        seen('"\\U00110000"')
    with pytest.raises(DataSyntaxError, match="line 1, column 5"):
        seen("a: b: c")


def by_either(text: str) -> list[list[tuple[str, Any]]]:
    """Return the events of a text by the C parser, and by the one in Python."""
    by_c = seen(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "_ruamel_yaml", None)
        return [by_c, seen(text)]


def test_both_parsers_give_the_same_events() -> None:
    by_c, by_python = by_either(
        "a: &x [1, 'two', !!str 3]\nb: {<<: &m {c: *x}, d: ~}\n---\n- 1.5\n- |\n  é\n"
    )
    assert by_c == by_python


PIECES = [*"ab:-? &*!|>{}[],'\"#\n\\<%~", "[http://x]", "\\ud83d", "\n- ", "---", "{a:b}", "\x85"]


@pytest.mark.long
@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_events_of_any_text_are_balanced_and_faults_placed(text: str) -> None:
    depth, fault = 0, None
    try:
        for kind, _ in seen(text):
            depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
            assert depth >= 0
    except DataSyntaxError as error:
        fault = error
    assert fault.line >= 1 if fault else depth == 0


def test_a_second_place_counts_from_where_the_text_begins() -> None:
    with pytest.raises(DataSyntaxError) as caught:
        read_yaml("a: 1\nb: 2\na: 3\n")
    assert caught.value.message(first_line=40) == "duplicate key 'a', first in line 40"
    assert str(caught.value) == "line 3: duplicate key 'a', first in line 1"
