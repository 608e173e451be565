"""JSON, YAML and TOML become plain data that knows its lines, within limits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import ArtifactError
from pytest_reflex.text.data import Data, read_data
from pytest_reflex.text.lines import DataSyntaxError

ALIAS_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)
)

SCALARS = {
    "yes": "yes",
    "off": "off",
    "017": 17,
    "0x1f": 31,
    "1_000": "1_000",
    "12:30": "12:30",
    "1.10": 1.1,
    "~": None,
    "true": True,
    "2024-01-31": "2024-01-31",
    "'7'": "7",
    "!!str 7": "7",
    "!!int '7'": 7,
    "!Ref name": "name",
}


@pytest.mark.parametrize(("written", "value"), SCALARS.items(), ids=SCALARS)
def test_yaml_scalars_follow_the_core_schema(written: str, value: Any) -> None:
    assert read_data(f"k: {written}", "yaml")[0].value == {"k": value}


def test_b035_keys_are_strings_as_written() -> None:
    assert read_data("on: 1\n200: 2\nnull: 3\n", "yaml")[0].value == {"on": 1, "200": 2, "null": 3}


def test_merge_keys_are_merged_and_own_keys_win() -> None:
    text = "base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n"
    assert read_data(text, "yaml")[0].value["own"] == {"x": 1, "y": 3}


LINES = [
    ("yaml", "a:\n  b:\n    - 1\n    - c: 2\n", ("a", "b", 1, "c"), 4),
    ("yaml", "x: &x\n  k: 1\ny: *x\n", ("y", "k"), 2),
    ("json", '{"a": {\n"b": [1,\n{"c": 3}]}}', ("a", "b", 1, "c"), 3),
    ("json", '{"a":\n 1}', ("z",), 1),
    ("toml", "a = 1\nb = 2\n", ("b",), 2),
]


@pytest.mark.parametrize(("language", "text", "path", "line"), LINES)
def test_a_path_leads_to_its_line(
    language: str, text: str, path: tuple[Any, ...], line: int
) -> None:
    assert read_data(text, language)[0].line(path) == line


def test_lines_count_from_where_the_text_begins() -> None:
    assert Data({"a": 1}, "yaml", "a: 1", 40, {}).line(("a",)) == 40


BROKEN = [
    ("yaml", "a: b: c", "line 1, column 5"),
    ("yaml", "a: 1\nb: 2\na: 3\n", "line 3: duplicate key 'a', first in line 1"),
    ("yaml", "a: *none", r"line 1: undefined alias \*none"),
    ("yaml", "? [k]\n: v", "line 1: a key that is a list"),
    ("yaml", "ok: 1\n<<: 3", "line 2: << needs a map"),
    ("json", '{"a": 1, "a": 2}', "duplicate key 'a'"),
    ("json", "[NaN]", "NaN is not JSON"),
    ("json", "{\n]", "line 2, column 1"),
    ("json", "1" * 5000, "digits"),
    ("toml", "a = ", "end of document"),
    ("toml", "a = 1\nb = c\n", "line 2, column 5: Invalid value"),
]


@pytest.mark.parametrize(("language", "text", "message"), BROKEN)
def test_what_is_not_of_the_language_says_where(language: str, text: str, message: str) -> None:
    with pytest.raises(DataSyntaxError, match=message):
        read_data(text, language)


OVER_A_LIMIT = [
    ("yaml", "- " * 5000, "deeper than 100 levels: line 1"),
    ("yaml", ALIAS_BOMB, "alias budget.*line 7"),
    ("yaml", "a: &a [*a]", r"\*a contains itself: line 1"),
    ("json", "[" * 100_000, "JSON nested deeper than 100"),
    ("json", "[" * 200 + "]" * 200, "JSON nested deeper than 100"),
    ("toml", "a = " + "[" * 5000, "TOML nested deeper than 100"),
    ("json", " " * 50_000_001, "50,000,001 characters"),
]


@pytest.mark.parametrize(
    ("language", "text", "message"), OVER_A_LIMIT, ids=[message for *_, message in OVER_A_LIMIT]
)
def test_b040_what_is_over_a_limit_is_refused(language: str, text: str, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        read_data(text, language)


@settings(deadline=None)
@given(
    st.text(alphabet="ab:-? &*!|>{}[],'\"#\n\t\\<%0.~", max_size=80),
    st.sampled_from(["yaml", "json", "toml"]),
)
def test_any_text_is_read_or_refused(text: str, language: str) -> None:
    try:
        documents = read_data(text, language)
    except (DataSyntaxError, ArtifactError):
        return
    assert all(document.line(("a", 0)) >= 1 for document in documents)
