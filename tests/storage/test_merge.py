"""Parts of a new text in an old one, to the byte."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.storage.parts import TextParts, merge, parts_of

OLD = "# T\n\nintro\n\n## A\n\na\n\n## B\n\nb\n\n## C\n\nc\n"

MARKDOWN = {
    "one part of two that changed": (
        OLD.replace("a\n", "A!\n").replace("b\n", "B!\n"),
        {"A"},
        OLD.replace("a\n", "A!\n"),
    ),
    "one that was removed returns to its place": (
        OLD.replace("## B\n\nb\n\n", "").replace("a\n", "A!\n"),
        {"A"},
        OLD.replace("a\n", "A!\n"),
    ),
    "one that was added goes": (OLD + "\n## D\n\nd\n", {"A"}, OLD),
    "one that was added and is meant stays": (
        OLD.replace("## B", "## D\n\nd\n\n## B").replace("c\n", "C!\n"),
        {"D"},
        OLD.replace("## B", "## D\n\nd\n\n## B"),
    ),
    "an added last one": (OLD + "\n## D\n\nd\n", {"D"}, OLD + "\n## D\n\nd\n"),
    "one that is meant may go": (
        OLD.replace("## B\n\nb\n\n", ""),
        {"B"},
        OLD.replace("## B\n\nb\n\n", ""),
    ),
    "moved parts return": ("# T\n\nintro\n\n## B\n\nb\n\n## A\n\na\n\n## C\n\nc\n", {"C"}, OLD),
}


@pytest.mark.parametrize(("new", "chosen", "result"), MARKDOWN.values(), ids=MARKDOWN.keys())
def test_markdown(new: str, chosen: set[str], result: str) -> None:
    assert merge(OLD, new, chosen) == result


YAML = "# head\na: 1\nb:\n  - x\n\nc: 3\n"
DATA = {
    "yaml": (YAML, "# head\na: 2\nb: []\nc: 3\nd: 4\n", {"a"}, YAML.replace("a: 1", "a: 2")),
    "yaml, removed and added": (YAML, "a: 1\nd: 4\nc: 3\n", {"d"}, YAML.replace("b:", "d: 4\nb:")),
    "json": ('{"a": 1, "b": 2}\n', '{"a": 9, "b": 8, "c": 7}\n', {"b"}, '{"a": 1, "b": 8}\n'),
    "json, one more": (
        '{\n  "a": 1\n}\n',
        '{\n  "a": 9,\n  "c": 7\n}\n',
        {"c"},
        '{\n  "a": 1,\n  "c": 7\n}\n',
    ),
}


@pytest.mark.parametrize(("old", "new", "chosen", "result"), DATA.values(), ids=DATA.keys())
def test_data(old: str, new: str, chosen: set[str], result: str) -> None:
    assert merge(old, new, chosen) == result


UNTOLD = {
    "plain text": ("a\n", "b\n"),
    "headings that come": ("a\n", "# A\n"),
    "another format": ("# A\n", "a: 1\nb: 2\n"),
    "a fence that swallows the next part": (OLD, OLD.replace("a\n", "```\n")),
}


@pytest.mark.parametrize(("old", "new"), UNTOLD.values(), ids=UNTOLD.keys())
def test_where_parts_cannot_be_told_nothing_is_merged(old: str, new: str) -> None:
    assert merge(old, new, {"A"}) is None


def test_front_matter_is_a_part_of_its_own() -> None:
    old = "---\ntitle: x\n---\n# A\n\na\n"
    new = old.replace("x", "y").replace("a\n", "b\n")
    assert merge(old, new, {"A"}) == old.replace("a\n", "b\n")
    assert merge(old, new, {"(front matter)"}) == old.replace("x", "y")


LINE = st.sampled_from(["text", "", "  two  ", "# A", "## B", "## B", "Under\n===", "- x", "\ttab"])
END = st.sampled_from(["\n", "\r\n", "\n\n"])
MD = st.lists(st.tuples(LINE, END), max_size=12).map(
    lambda rows: "".join(line + end for line, end in rows)
)
VALUE = st.sampled_from(["1", "[1, 2]", "{x: y}", "text", "'q'"])
BLOCK = st.dictionaries(st.sampled_from("abcde"), VALUE, max_size=5).map(
    lambda table: "".join(f"{key}: {value}\n" for key, value in table.items())
)
FLOW = st.tuples(
    st.dictionaries(st.sampled_from("abcde"), st.integers(0, 9), max_size=5),
    st.sampled_from([None, 2]),
).map(lambda pair: json.dumps(pair[0], indent=pair[1]) + "\n")
PAIRS = st.one_of(*(st.tuples(one, one) for one in (MD, BLOCK, FLOW)))


def _all(*texts: str) -> set[str]:
    return {part.name for text in texts for part in _parts(text).parts}


def _parts(text: str) -> TextParts:
    return parts_of(text) or TextParts(kind="", parts=(), gaps=(), between="")


@given(st.one_of(MD, BLOCK, FLOW))
@settings(deadline=None, max_examples=60)
def test_parts_and_gaps_are_the_text(text: str) -> None:
    assert parts_of(text) is None or _parts(text).text == text


@pytest.mark.long
@given(PAIRS)
@settings(deadline=None, max_examples=100)
def test_everything_chosen_is_the_new_text_and_nothing_the_old(pair: tuple[str, str]) -> None:
    old, new = pair
    assert merge(old, new, _all(old, new)) in (new, None)
    assert merge(old, new, ()) in (old, None)


@pytest.mark.long
@given(PAIRS, st.sets(st.sampled_from([*"abcde", "A", "B", "B (2)", "Under", "(top)"])))
@settings(deadline=None, max_examples=100)
def test_what_is_not_chosen_is_as_it_was(pair: tuple[str, str], chosen: set[str]) -> None:
    merged = merge(*pair, chosen)
    if merged is None:
        return
    # By their texts: where one of two parts of the same name goes, the other is renumbered.
    was = Counter(part.text for part in _parts(pair[0]).parts if part.name not in chosen)
    assert was <= Counter(part.text for part in _parts(merged).parts)
    assert merge(merged, merged, chosen) == merged
