"""YAML as people write it: what is read, or what the message says (F36)."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.errors import CriteriaError
from tests.criteria.writing import value

READ: list[tuple[str, Any]] = [
    ("on", "on"),
    ("off", "off"),
    ("yes", "yes"),
    ("no", "no"),
    ("y", "y"),
    ("N", "N"),
    ("true", True),
    ("True", True),
    ("FALSE", False),
    ("tRue", "tRue"),
    ("~", None),
    ("null", None),
    ("Null", None),
    ("nULL", "nULL"),
    ("", None),
    ("''", ""),
    ('"~"', "~"),
    ("0", 0),
    ("-0", 0),
    ("017", 17),
    ("08", 8),
    ("0o17", 15),
    ("0o18", "0o18"),
    ("0x1F", 31),
    ("-0x1F", "-0x1F"),
    ("0b11", "0b11"),
    ("1_000", "1_000"),
    ("+12", 12),
    ("1.10", 1.1),
    ("1.", 1.0),
    (".5", 0.5),
    ("-.5e1", -5.0),
    ("1e3", 1000.0),
    ("1.2.3", "1.2.3"),
    ("1e", "1e"),
    (".", "."),
    ("+", "+"),
    ("12:30", "12:30"),
    ("12:30:45", "12:30:45"),
    ("2001-12-14", "2001-12-14"),
    ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
    ("٣", "٣"),
    ("=", "="),
    ("'it''s'", "it's"),
    ('"a\\tb"', "a\tb"),
    ("'\\d+\\b'", "\\d+\\b"),
    ("\\d+", "\\d+"),
    ("http://x.example/a?b=c", "http://x.example/a?b=c"),
    ("a#b", "a#b"),
    ("a  # a comment", "a"),
    ("a, b", "a, b"),
    ("x {id} y", "x {id} y"),
    ("GET /courses/{id}", "GET /courses/{id}"),
    ("{id}", {"id": None}),
    ("[id]", ["id"]),
    ("[a, 'b, c', \"d\"]", ["a", "b, c", "d"]),
    ("{a: 1, b: [x, {c: no}]}", {"a": 1, "b": ["x", {"c": "no"}]}),
    ("|\n  one\n  two\n", "one\ntwo\n"),
    ("|-\n  one\n", "one"),
    (">\n  one\n  two\n", "one two\n"),
    ("one\n  two", "one two"),
    ("&x a\nl: *x", "a"),
    ("\n  - a\n  - b: 1\n    c: 2\n", ["a", {"b": 1, "c": 2}]),
    ("\n- a\n- b", ["a", "b"]),
    ("\n  x:\n  y: 1", {"x": None, "y": 1}),
    ("<<", "<<"),
    ("[http://x.example, a:b]", ["http://x.example", "a:b"]),
    ('"\\ud83d\\ude00"', "😀"),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[repr(text)[:30] for text, _ in READ])
def test_a_value_is_read_as_yaml_1_2(text: str, expected: Any) -> None:
    found = value(f"k: {text}")
    assert found == expected
    assert type(found) is type(expected) or isinstance(found, type(expected))


REFUSED: list[tuple[str, str, str]] = [
    (".nan", "1:4: '.nan' is not a finite number", "quotes"),
    ("-.INF", "1:4: '-.INF' is not a finite number", "quotes"),
    ("1e400", "1:4: '1e400' is out of range", "quotes"),
    ("1e-999999999", "1:4: '1e-999999999' is out of range", "quotes"),
    ("9" * 5000, "is a number of 5000 characters", "quotes"),
    ('"\\d+"', "1:5: this is not valid YAML: found unknown escape", "single quotes"),
    ('"\\ud83d"', "1:4: this is not valid YAML: found half of a Unicode", "character itself"),
    ('"\\UFFFFFFFF"', "1:7: this is not valid YAML: found invalid Unicode", "character itself"),
    ("[http://x.example", "1:21: this is not valid YAML: expected ',' or ']'", "pair of quotes"),
    ("@x", "1:4: ", "starts with @ in quotes"),
    ("`x`", "1:4: ", "starts with ` in quotes"),
    ("%x", "1:4: ", "starts with % in quotes"),
    ("*", "1:5: ", "starts with * or &"),
    ("*nowhere", "1:4: alias *nowhere has no anchor", "starts with * in quotes"),
    ("&a [*a]", "1:8: alias *a has no anchor before it", "quotes"),
    ("!!str 1", "1:4: the tag !!str is not supported", "remove the tag: write '1'"),
    ("!x y", "1:4: the tag !x is not supported", "starts with ! in quotes"),
    ("a: b", "1:5: ", 'holds ": " in quotes'),
    ("- a", "1:4: ", 'starts with "- " in quotes'),
    ("| a", "1:6: ", "starts with | or > in quotes"),
    ("{id}/x", "1:8: ", "in one pair of quotes"),
    ("'a' b", "1:8: ", "in one pair of quotes"),
    ("[a", "2:1: ", "starts in line 1"),
    ('"a', "1:6: ", "close the quotes"),
    ("]", "1:4: ", "not valid YAML"),
    ("\n\ta: 1", "2:1: ", "spaces, not with tabs"),
    ("\n  a: 1\n\tb: 2", "3:1: ", "spaces, not with tabs"),
    ("a\x01b", "1:5: the character U+0001 is not allowed", ""),
    ("a\x00b", "1:5: the character U+0000 is not allowed", ""),
    ("a\ufffeb", "1:5: the character U+FFFE is not allowed", ""),
    ("1\nk: 2", "2:1: 'k' is given twice, first in line 1", "remove one"),
    ('1\n"k": 2', "2:1: 'k' is given twice, first in line 1", "remove one"),
    ("1\n<<: {a: 1}", "2:1: merge keys are not supported", "write the keys out"),
    ("1\ntrue: 2", "2:1: the key true is not text", "quotes"),
    ("1\n12: 2", "2:1: the key 12 is not text", "quotes"),
    ("1\n.nan: 2", "2:1: the key .nan is not text", "quotes"),
    ("1\n? [a]\n: 2", "2:3: a mapping or list cannot be a key", "quotes"),
    ("&x 1\n*x : 2", "2:1: an alias cannot be a key", "write the key itself"),
    ("1\n---\nk: 2", "2:1: a second document starts here", "one document"),
    ("1\n...\n---\nk: 2", "3:1: a second document starts here", "one document"),
]


@pytest.mark.parametrize(
    ("text", "message", "hint"), REFUSED, ids=[repr(case[0])[:30] for case in REFUSED]
)
def test_what_cannot_be_meant_is_refused_with_place_and_remedy(
    text: str, message: str, hint: str
) -> None:
    with pytest.raises(CriteriaError) as caught:
        value(f"k: {text}")
    shown = str(caught.value)
    assert shown.startswith("k.yaml:")
    assert message in shown
    assert hint in shown
    assert "\n" not in shown


def test_the_table_has_the_size_that_was_promised() -> None:
    assert len(READ) + len(REFUSED) >= 80


@pytest.mark.parametrize("text", ["- a", "just text", "[1]", "3"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    with pytest.raises(CriteriaError, match=r"k\.yaml:1:1: the file must be a mapping"):
        value(text)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "\ufeff"])
def test_an_empty_file_is_refused(text: str) -> None:
    with pytest.raises(CriteriaError, match=r"k\.yaml: the file is empty"):
        value(text)


@pytest.mark.parametrize("key", ["search", "command", "expect_output"])
def test_a_hash_that_cuts_a_pattern_is_refused(key: str) -> None:
    with pytest.raises(CriteriaError) as caught:
        value(f"k: 1\n{key}: find this #head\n")
    shown = str(caught.value)
    assert shown.startswith(f"k.yaml:2:{len(key) + 3}: {key} is unquoted and ends before `#head`")
    assert "put the whole value in quotes" in shown


def test_a_comment_after_a_quoted_pattern_is_a_comment() -> None:
    assert value("k: 1\nsearch: 'find this' # head\n") == 1
