"""Paths into data: what they mean, where they lead, and what is said of a bad one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.text.paths import PathSyntaxError, Wildcard, find, parse, render

EACH, DEEP = Wildcard.EACH, Wildcard.DEEP

READ = {
    "": (),
    "info.title": ("info", "title"),
    'paths."/courses/{id}".get': ("paths", "/courses/{id}", "get"),
    "paths.'it''s'.get": ("paths", "it's", "get"),
    'a."say \\"hi\\" \\\\"': ("a", 'say "hi" \\'),
    "servers[0].url": ("servers", 0, "url"),
    "[0][1]": (0, 1),
    "tags[-1]": ("tags", -1),
    "tags[*].name": ("tags", EACH, "name"),
    "paths.*.get": ("paths", EACH, "get"),
    "components.**.example": ("components", DEEP, "example"),
    "paths./courses.get": ("paths", "/courses", "get"),
    "/paths/~1courses~1{id}/m~0n": ("paths", "/courses/{id}", "m~n"),
    "/": ("",),
    "responses.200": ("responses", "200"),
}


@pytest.mark.parametrize(("path", "steps"), READ.items(), ids=READ.keys())
def test_both_spellings_are_read(path: str, steps: tuple[Any, ...]) -> None:
    assert parse(path) == steps
    assert [type(step) for step in parse(path)] == [type(step) for step in steps]


REFUSED = {
    "a..b": "column 3",
    ".a": "column 1",
    "a.": "column 3",
    "a[x]": r"column 2 .* expected \[NUMBER\]",
    "a b": "column 2",
    'a"b"': "column 2",
    "a]": "column 2",
    "/a~2": "column 3 .* ~ is written ~0",
}


@pytest.mark.parametrize(("path", "message"), REFUSED.items(), ids=REFUSED.keys())
def test_bad_path_names_the_column(path: str, message: str) -> None:
    with pytest.raises(PathSyntaxError, match=message):
        parse(path)


step = st.one_of(
    st.text(max_size=5), st.integers(-3, 9), st.sampled_from([EACH, DEEP]), st.just("*")
)


@settings(deadline=None)
@given(st.lists(step, max_size=5).map(tuple))
def test_rendered_path_reads_back(steps: tuple[Any, ...]) -> None:
    again = parse(render(steps))
    assert again == steps
    assert [isinstance(s, Wildcard) for s in again] == [isinstance(s, Wildcard) for s in steps]


DATA = {
    "info": {"title": "T"},
    "paths": {"/a": {"get": 1}, "/b": {"get": 2, "put": 3}},
    "tags": [{"name": "x"}, {"name": "y"}],
    "codes": {200: "ok", True: "yes", "200x": "no"},
    "deep": {"example": {"example": 5}},
    "*": "star",
}

LED = {
    "info.title": ["T"],
    "paths.*.get": [1, 2],
    "paths.*.*": [1, 2, 3],
    "tags[1].name": ["y"],
    "tags[-1].name": ["y"],
    "tags.0.name": ["x"],
    "/tags/1/name": ["y"],
    "tags[2]": [],
    "tags.name": [],
    "codes.200": ["ok"],
    "codes.true": ["yes"],
    "codes[200]": [],
    "deep.**.example": [{"example": 5}, 5],
    "**.**.title": ["T"],
    '"*"': ["star"],
    "info.title.x": [],
    "missing.a": [],
}


@pytest.mark.parametrize(("path", "values"), LED.items(), ids=LED.keys())
def test_path_leads_to_values_in_order(path: str, values: list[Any]) -> None:
    assert [found.value for found in find(DATA, parse(path))] == values


def test_found_path_is_concrete() -> None:
    found = list(find(DATA, parse("tags[*].name")))
    assert [f.path for f in found] == [("tags", 0, "name"), ("tags", 1, "name")]
