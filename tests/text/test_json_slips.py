"""What is not JSON although a decoder takes it has its place."""

from __future__ import annotations

import pytest

from pytest_reflex.text import places
from pytest_reflex.text.data import read_data
from pytest_reflex.text.lines import DataSyntaxError

SLIPS = {
    "one line": ('{"a": 1, "a": 2}', 1, 10, "duplicate key 'a', first in line 1"),
    "two lines": ('{\n  "a": 1,\n  "a": 2\n}', 3, 3, "duplicate key 'a', first in line 2"),
    "in a list": (
        '[{"a": 1},\n {"b": [],\n  "b": {}}]',
        3,
        3,
        "duplicate key 'b', first in line 2",
    ),
    "another spelling": ('{"a": 1,\n "\\u0061": 2}', 2, 2, "duplicate key 'a', first in line 1"),
    "a text like a key": ('{"a": "\\"a\\":",\n "b": "a", "a" : 1}', 2, 12, "duplicate key 'a'"),
    "a constant": ('{"NaN": "NaN",\n "x": NaN}', 2, 7, "NaN is not JSON"),
    "a negative one": ("[1,\n-Infinity]", 2, 1, "-Infinity is not JSON"),
}


@pytest.mark.parametrize(("text", "line", "column", "told"), SLIPS.values(), ids=SLIPS)
def test_a_slip_has_its_place(text: str, line: int, column: int, told: str) -> None:
    with pytest.raises(DataSyntaxError) as caught:
        read_data(text, "json")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert told in caught.value.message()


def test_a_slip_of_a_text_that_is_too_long_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "LONGEST", 10)
    with pytest.raises(DataSyntaxError, match=r"^duplicate key 'long'$"):
        read_data('{"long": 1, "long": 2}', "json")


def test_the_same_key_in_two_maps_is_no_slip() -> None:
    (found,) = read_data('{"a": {"a": [{"a": 1}, {"a": 2}]}, "b": {"a": "}"}}', "json")
    assert found.value["b"] == {"a": "}"}
