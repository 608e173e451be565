"""Values of TOML are found where they are written."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.text.data import read_data

TEXT = '''\
title = "x"
"odd key".b = 1
text = """
not = "a key"
"""

[tool.x]
list = [
  1,
  "two",
]
inline = { a = 1, b = "no" }

[[item]]
name = "first"
[[item]]
name = "second"
[item.sub]
deep = true
[tool.'y.z']
v = 2001-01-01
'''

PLACES: list[tuple[tuple[Any, ...], tuple[int, int]]] = [
    (("title",), (1, 9)),
    (("odd key", "b"), (2, 15)),
    (("text",), (3, 8)),
    (("tool", "x"), (7, 1)),
    (("tool", "x", "list"), (8, 8)),
    (("tool", "x", "list", 1), (8, 8)),
    (("tool", "x", "inline", "b"), (12, 10)),
    (("item", 0, "name"), (15, 8)),
    (("item", 1, "name"), (17, 8)),
    (("item", 1, "sub", "deep"), (19, 8)),
    (("tool", "y.z", "v"), (21, 5)),
    (("nowhere",), (1, 1)),
    ((), (1, 1)),
]


@pytest.mark.parametrize(("path", "place"), PLACES, ids=lambda value: str(value)[:30])
def test_a_value_is_found_where_it_is_written(
    path: tuple[Any, ...], place: tuple[int, int]
) -> None:
    (data,) = read_data(TEXT, "toml")
    assert data.position(path) == place
