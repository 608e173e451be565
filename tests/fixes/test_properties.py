"""What holds of every fix on every text: applied twice is applied once, and the rest stays."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pytest_reflex.fixes import FixError, apply
from pytest_reflex.fixes.data_edit import Style, after_key, pairs
from pytest_reflex.model.rules import Fix

pytestmark = pytest.mark.long

piece = st.sampled_from(
    ["# T", "## A", "## B", "text", "```", "~~~", "- x", "  y", "> q", "a: 1", "===", "", " ", "x"]
)
ending = st.sampled_from(["\n", "\r\n", "\n", "\r", "\n\n", "\r\r", ""])
document = st.lists(st.tuples(piece, ending), max_size=12).map(
    lambda pairs: "".join(a + b for a, b in pairs)
)
texts = st.one_of(document, st.text(max_size=30))
line = st.sampled_from(["new", "a\nb", "x\r\ny\n", "\nz", "## C", "a: 1", "z\n\n", "a\rb\r"])

fixes = st.one_of(
    st.builds(
        lambda place, text: ("insert_section", {"heading": "## New", "text": text, **place}),
        st.sampled_from([{}, {"after": "## A"}, {"before": "B"}, {"after": "T"}]),
        line,
    ),
    st.builds(
        lambda place, text: ("insert_text", {"text": text, **place}),
        st.sampled_from(
            [
                *({"after": "text"}, {"before": "x"}, {"after": "a"}, {"after": "x\n\ntext"}),
                *({"at": "start"}, {"at": "end"}),
            ]
        ),
        line,
    ),
    st.builds(lambda text: ("append", {"text": text}), line),
).map(lambda pair: Fix(kind=pair[0], params=pair[1]))


def mended(fix: Fix, text: str) -> str:
    try:
        return apply(fix, text)
    except FixError:
        assume(False)
        raise


@settings(deadline=None, max_examples=100)
@given(fixes, texts)
@example(Fix(kind="append", params={"text": "\nz"}), "a\r")
@example(Fix(kind="insert_text", params={"text": "\nz", "after": "a"}), "# T\na: 1\r")
def test_insertion_twice_is_insertion_once(fix: Fix, text: str) -> None:
    once = mended(fix, text)
    assert mended(fix, once) == once


@settings(deadline=None, max_examples=100)
@given(fixes, texts)
def test_insertion_keeps_what_is_before_and_after(fix: Fix, text: str) -> None:
    once = mended(fix, text)
    added = len(once) - len(text)
    assert added >= 0
    assert any(
        once[:at] == text[:at] and once[at + added :] == text[at:] for at in range(len(text) + 1)
    )


@settings(deadline=None, max_examples=100)
@given(
    st.text("ab^ \n", max_size=12),
    st.sampled_from(["a", "b+", "^", "$", "a|b", "(a)(b)?", " "]),
    st.text("ab ", max_size=3),
)
def test_replacement_twice_is_replacement_once(text: str, search: str, new: str) -> None:
    fix = Fix(kind="replace", params={"search": search, "with": new})
    once = mended(fix, text)
    assert mended(fix, once) == once


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=8),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            "yes",
            "1.0",
            "a: b",
            "x #y",
            "two\nlines\n",
            "~",
            "- a",
            "0o7",
            "\u2028",
            "a\n\n\n",
            " \nb",
        ]
    ),
)
keys = st.one_of(st.text(max_size=5), st.sampled_from(["a", "b", "200", "on", "x y", "/c/{id}"]))
data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def reads_back(text: str, value: Any) -> bool:
    """The library's own writer is not always read alike by its parser."""
    try:
        return bool(load(text) == value)
    except YAMLError:
        return False


def load(text: str) -> Any:
    return YAML(typ="safe").load(text)


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(keys, data, min_size=1, max_size=3), st.sampled_from([(2, 2), (4, 0), (3, 1)])
)
def test_written_yaml_reads_back(value: dict[str, Any], widths: tuple[int, int]) -> None:
    style = Style(*widths)
    assert load(pairs(value, 0, style) + "\n") == value
    assert load("top:" + after_key(value, 0, style) + "\n") == {"top": value}


@settings(deadline=None, max_examples=80)
@given(st.dictionaries(keys, data, min_size=1, max_size=4), st.data(), data)
@pytest.mark.parametrize("flow", [True, False], ids=["flow", "block"])
def test_set_in_yaml_sets_and_settles(
    flow: bool, before: dict[str, Any], draw: Any, value: Any
) -> None:
    stream = io.StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = flow
    writer.dump(before, stream)
    assume(reads_back(stream.getvalue(), before))
    key = draw.draw(st.one_of(st.sampled_from(sorted(before)), keys))
    path = '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
    fix = Fix(kind="set", params={"path": path, "value": value})
    once = mended(fix, "# head\n" + stream.getvalue())
    assert load(once) == {**before, key: value}
    assert mended(fix, once) == once


@settings(deadline=None, max_examples=80)
@given(st.dictionaries(keys, data, max_size=4), keys, data, st.sampled_from([None, 2, "\t"]))
def test_set_in_json_sets_and_settles(
    before: dict[str, Any], key: str, value: Any, indent: int | str | None
) -> None:
    path = "/" + key.replace("~", "~0").replace("/", "~1") + "/new"
    fix = Fix(kind="set", params={"path": path, "value": value})
    text = json.dumps({**before, key: {}}, indent=indent)
    once = mended(fix, text)
    assert json.loads(once) == {**before, key: {"new": value}}
    assert mended(fix, once) == once
