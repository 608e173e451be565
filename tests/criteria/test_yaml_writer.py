"""What is written as YAML is read back by our own reader as the same values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.criteria.author.yaml_writer import to_yaml
from pytest_reflex.criteria.diagnostics import plain
from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.load import load_criteria
from pytest_reflex.errors import CriteriaError
from tests.criteria.writing import REGISTRY, load, write

TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", " ", "on", "1.0", "null", "- a", "a: b", "a # b", "'", '"', "\\d", "🙂"]),
    st.lists(st.sampled_from(["a", "  b", "", "#", "c ", "\\", "\t"]), max_size=5).map("\n".join),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from([0.5, 1e-05]) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_any_value_comes_back(value: dict[str, object]) -> None:
    table, faults = parse_document(to_yaml(value).encode(), "value.yaml")
    assert not faults.found
    assert plain(table) == value


@pytest.mark.parametrize("name", ["base", "api-spec", "documentation"])
def test_a_normalised_template_means_the_same(tmp_path: Path, name: str) -> None:
    criteria = load_criteria(name, registry=REGISTRY)
    again = load(tmp_path, to_yaml(criteria.to_json()))
    assert again.to_json() == criteria.to_json()


def test_patterns_stand_in_single_quotes_and_lines_in_a_block() -> None:
    text = to_yaml({"search": r"^\d+ it's$", "command": "set -e\nmake\n", "plain": "two words"})
    assert text == "search: '^\\d+ it''s$'\ncommand: |\n  set -e\n  make\nplain: two words\n"


def test_what_cannot_be_printed_is_escaped(tmp_path: Path) -> None:
    assert to_yaml({"k": "a\u2028b\x85c"}) == 'k: "a\\u2028b\\x85c"\n'
    with pytest.raises(CriteriaError, match=r"control character U\+0007"):
        load_criteria(write(tmp_path, "k.yaml", to_yaml({"name": "a\x07"})), registry=REGISTRY)
