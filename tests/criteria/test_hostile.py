"""Whatever bytes a criteria file holds: it is read, or refused, and nothing else happens."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.criteria.document import parse_document
from pytest_reflex.criteria.load import CriteriaReader
from pytest_reflex.errors import CriteriaError
from tests.criteria.writing import REGISTRY
from tests.criteria.yaml_texts import texts

pytestmark = pytest.mark.long

NOWHERE = Path("/nowhere")
NAMES = st.sampled_from(["x.yaml", "x.json"])
SIGNS = st.text(alphabet="abnk01.~ \n\t-:?,[]{}#&*!|>'\"%@`\\<=\ufeff\u2028\x00é", max_size=60)


def refused(read: Callable[[], object]) -> CriteriaError | None:
    """Return the refusal, None where there was none; each problem is one line."""
    try:
        read()
    except CriteriaError as error:
        lines = str(error).split("\n")
        return error if len(lines) == len(error.problems) else pytest.fail(str(error))
    return None


def look(data: bytes, name: str) -> None:
    refused(lambda: parse_document(data, name))


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200), NAMES)
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    look(data, name)


@settings(deadline=None, max_examples=600)
@given(SIGNS, NAMES)
def test_any_mixture_of_signs_is_read_or_refused(text: str, name: str) -> None:
    look(text.encode(), name)
    look(b"k: " + text.encode(), name)


KEYS_OF_RULES = st.sampled_from(
    ["id", "severity", "weight", "phase", "check", "checks", "type", "search", "var", "fix"]
) | st.sampled_from(["append", "text", "samples", "good", "threshold", "A", "argv", "x"])
KEYS_OF_FILES = st.sampled_from(
    ["name", "version", "extends", "phases", "phase", "vars", "commands", "drop", "rules"]
) | st.sampled_from(["criteria", "artifacts", "run_id"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["a.b.c", "fail", "A", "content", "x.yaml"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "severity",
                    "weight",
                    "phase",
                    "check",
                    "checks",
                    "type",
                    "search",
                    "var",
                    "fix",
                    "append",
                    "text",
                    "samples",
                    "good",
                    "threshold",
                    "A",
                    "argv",
                    "x",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
FILES = st.dictionaries(
    st.sampled_from(
        [
            "name",
            "version",
            "extends",
            "phases",
            "phase",
            "vars",
            "commands",
            "drop",
            "rules",
            "criteria",
            "artifacts",
            "run_id",
        ]
    ),
    VALUES,
    max_size=6,
)


def load(data: bytes, name: str) -> CriteriaError | None:
    def read() -> None:
        reading = CriteriaReader(REGISTRY, {})
        table, faults = parse_document(data, name)
        reading.criteria(reading.layer(NOWHERE / name, table, faults), NOWHERE / name)

    return refused(read)


@settings(deadline=None, max_examples=250)
@given(FILES)
def test_any_values_in_any_place_are_read_or_refused(document: dict[str, Any]) -> None:
    data = json.dumps(document).encode()
    load(data, "x.json")
    load(data, "x.yaml")


@settings(deadline=None, max_examples=200)
@given(texts())
def test_any_plain_file_is_read_or_refused(text: str) -> None:
    load(f"rules:\n{text}".encode(), "x.yaml")


BOMBS = {
    "nested lists": b"a: " + b"[" * 1_000_000,
    "nested mappings": b"a: " + b"{a: " * 300_000,
    "nested dashes": b"- " * 300_000,
    "nested questions": b"? " * 300_000,
    "nested quotes": b"a: " + b"['" * 300_000,
    "aliases of aliases": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 9)) for c in range(97, 105)
    ),
    "many aliases": b"a: &a x\nb: [" + b"*a," * 300_000 + b"]",
    "an alias of itself": b"a: &a {b: *a}",
    "many anchors": b"".join(b"- &a%d x\n" % n for n in range(50_000)),
    "many unknown keys": b"".join(b"k%d: 1\n" % n for n in range(50_000)),
    "many equal keys": b"k: 1\n" * 50_000,
    "one long line": b"a: " + b"x" * 5_000_000,
    "one long quoted text": b'a: "' + b"x" * 5_000_000,
    "a long key": b"? " + b"x" * 3_000_000 + b"\n: 1\n? " + b"x" * 3_000_000 + b"\n: 2",
    "many documents": b"---\na\n" * 50_000,
    "many tags": b"a: " + b"!!x " * 100_000,
    "many comments": b"#\n" * 1_000_000,
    "many ids": b"rules:\n" + b"".join(b"- id: X%d\n" % n for n in range(20_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_b040_a_bomb_does_not_go_off(name: str) -> None:
    tracemalloc.start()
    try:
        assert load(BOMBS[name], "bomb.yaml") is not None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000_000


def test_b040_the_message_names_the_alias_budget() -> None:
    with pytest.raises(CriteriaError, match=r"x\.yaml:\d+:\d+: alias budget used up"):
        parse_document(BOMBS["aliases of aliases"], "x.yaml")


def test_more_values_than_anyone_writes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_reflex.criteria.build.MAX_NODES", 100)
    with pytest.raises(CriteriaError, match=r"x\.yaml:1:\d+: more than 100 values"):
        parse_document(b"a: [" + b"x,y ," * 60 + b"]", "x.yaml")
