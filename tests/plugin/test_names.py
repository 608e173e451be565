"""Artifact names inside node ids."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reflex.session.items import node_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("docs/a b.md", "docs/a b.md"),
        ("Größe/文.md", "Größe/文.md"),
        ("a[1].md", "a%5B1%5D.md"),
        ("a::b.md", "a%3A%3Ab.md"),
        ("100%.md", "100%25.md"),
        ("a\nb\x1b.md", "a%0Ab%1B.md"),
        ("a\u202eb", "a%E2%80%AEb"),
    ],
)
def test_b052_names_are_escaped_where_an_id_cannot_hold_them(name: str, shown: str) -> None:
    assert node_name(name) == shown


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaping_loses_nothing(name: str) -> None:
    shown = node_name(name)
    assert unquote(shown) == name
    assert "[" not in shown
    assert "::" not in shown
    assert shown.isprintable()
