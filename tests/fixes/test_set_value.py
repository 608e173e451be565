"""The fix that sets a value in YAML or JSON and leaves every other byte alone."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_reflex.fixes import FixError, apply
from pytest_reflex.model.rules import Fix

YAML = """\
openapi: 3.1.0   # the version
info: {title: T}
paths:
  /courses:
    get:
      responses:
        '200': {description: "all"}   # fine
    # a remark
tags:
  - name: a
  - name: b   # last
empty:
note: |
  kept

# the end
"""


def put(document: str, path: str, value: Any, **more: str) -> str:
    return apply(Fix(kind="set", params={"path": path, "value": value, **more}), document)


CHANGED: dict[str, tuple[str, Any, str, str]] = {
    "scalar": ("openapi", "3.2.0", "openapi: 3.1.0 ", 'openapi: "3.2.0" '),
    "number": ("openapi", 3, "openapi: 3.1.0 ", "openapi: 3 "),
    "word-of-yaml-1.1": ("tags[0].name", "no", "name: a", 'name: "no"'),
    "in-braces": ("info.version", "1.0", "{title: T}", '{title: T, version: "1.0"}'),
    "new-key-behind-its-siblings": (
        'paths."/courses".post',
        {"summary": "new", "tags": ["x"]},
        "    # a remark\n",
        "    post:\n      summary: new\n      tags:\n        - x\n    # a remark\n",
    ),
    "number-as-key": (
        'paths."/courses".get.responses.404',
        {"description": "a: b"},
        "    # a remark\n",
        '        "404":\n          description: "a: b"\n    # a remark\n',
    ),
    "map-under-an-empty-key": ("empty.x.k", True, "empty:\n", "empty:\n  x:\n    k: true\n"),
    "list-item": ("tags[0]", {"name": "c", "k": 1}, "- name: a\n", "- name: c\n    k: 1\n"),
    "added-list-item": ("tags.-", {"name": "c"}, "b   # last\n", "b   # last\n  - name: c\n"),
    "value-before-a-comment": ("tags[1].name", ["x"], "name: b   #", 'name: ["x"]   #'),
    "text-of-several-lines": ("note", "one\n\ntwo\n", "  kept\n", "  one\n\n  two\n"),
    "json-pointer": ("/paths/~1courses/get/responses/200/description", "x", '"all"', '"x"'),
}


@pytest.mark.parametrize(("path", "value", "before", "after"), CHANGED.values(), ids=CHANGED.keys())
def test_only_the_value_changes_in_yaml(path: str, value: Any, before: str, after: str) -> None:
    assert YAML.count(before) == 1
    mended = put(YAML, path, value)
    assert mended == YAML.replace(before, after)
    assert put(mended, path, value) == mended


def test_yaml_is_edited_alike_without_the_c_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_ruamel_yaml", None)
    for path, value, before, after in CHANGED.values():
        assert put(YAML, path, value) == YAML.replace(before, after)


JSON = '{\n    "a": [1, 2.50],\n    "b": {}\n}\n'
CHANGED_JSON: dict[str, tuple[str, Any, str, str]] = {
    "item": ("a[1]", 3, "2.50", "3"),
    "added-item": ("a.-", 3, "2.50]", "2.50, 3]"),
    "pair-in-an-empty-map": ("b.c", "é", "{}", '{\n        "c": "é"\n    }'),
    "new-pair": (
        "n",
        {"x": [None]},
        "{}\n",
        '{},\n    "n": {\n        "x": [\n            null\n        ]\n    }\n',
    ),
}


@pytest.mark.parametrize(
    ("path", "value", "before", "after"), CHANGED_JSON.values(), ids=CHANGED_JSON.keys()
)
def test_only_the_value_changes_in_json(path: str, value: Any, before: str, after: str) -> None:
    mended = put(JSON, path, value)
    assert mended == JSON.replace(before, after)
    assert put(mended, path, value) == mended


def test_json_on_one_line_stays_on_one_line() -> None:
    assert put('{"a": 1}', "b.c", [1]) == '{"a": 1, "b": {"c": [1]}}'


def test_list_in_brackets_takes_an_item() -> None:
    assert put("a: [1]   # x\n", "a.-", "b") == 'a: [1, "b"]   # x\n'
    assert put("a: []\n", "a.-", {"b": 1}) == 'a: [{"b": 1}]\n'


def test_list_item_that_is_empty_is_filled() -> None:
    assert put("a:\n  -\n  - x\n", "a[0]", {"b": 1}) == "a:\n  - b: 1\n  - x\n"
    assert put("a:\n- x\n", "a[0]", [1, 2]) == "a:\n- - 1\n  - 2\n"


def test_number_that_is_no_number_is_left_alone() -> None:
    assert put("a: .nan\nb: .inf\nc: 1\n", "c", 2) == "a: .nan\nb: .inf\nc: 2\n"


def test_true_is_not_one() -> None:
    assert put('{"a": true}', "a", 1) == '{"a": 1}'
    assert put("a: 1\n", "a", True) == "a: true\n"


MARKDOWN = """\
# API

- first

  ```yaml
  a: 1

  b:
    c: 2
  ```

```json
{"x": 1}
```

```yaml
paths: {}
```
"""


def test_block_with_the_first_key_is_chosen() -> None:
    assert put(MARKDOWN, "paths.a", 1) == MARKDOWN.replace("{}", "{a: 1}")
    assert put(MARKDOWN, "x", 2) == MARKDOWN.replace('"x": 1', '"x": 2')


def test_block_in_a_list_keeps_its_indent() -> None:
    mended = put(MARKDOWN, "b.d", {"e": [1]})
    assert mended == MARKDOWN.replace("    c: 2\n", "    c: 2\n    d:\n      e:\n        - 1\n")


def test_only_block_of_its_language_takes_a_new_key() -> None:
    assert put(MARKDOWN, "y", 2, block="json") == MARKDOWN.replace("1}", '1, "y": 2}')


@pytest.mark.parametrize("word", ["yml", "openapi"])
def test_block_of_another_word_for_yaml_is_found(word: str) -> None:
    text = f"# T\n\n```{word}\na: 1\n```\n"
    assert put(text, "a", 2, block="yaml") == text.replace("a: 1", "a: 2")


def test_block_in_longer_marks_keeps_its_indent() -> None:
    text = "- a\n\n  ~~~~yaml\n  # ```\n  a: 1\n  ~~~~\n"
    assert put(text, "b", 2) == text.replace("a: 1\n", "a: 1\n  b: 2\n")


def test_yaml_with_addresses_in_brackets_is_edited() -> None:
    text = "a: [http://x.y/z, b]   # c\nd: 1\n"
    assert put(text, "a[1]", "e") == text.replace(", b]", ', "e"]')
    assert put(text, "d", 2) == text.replace("d: 1", "d: 2")


def test_block_is_chosen_by_what_it_contains() -> None:
    mended = put(MARKDOWN, "new", 2, contains="c: 2")
    assert mended == MARKDOWN.replace("    c: 2\n", "    c: 2\n  new: 2\n")


def test_windows_line_ends_are_kept() -> None:
    windows = MARKDOWN.replace("\n", "\r\n")
    mended = put(windows, "b.d", {"e": 1})
    assert mended == put(MARKDOWN, "b.d", {"e": 1}).replace("\n", "\r\n")


REFUSED: dict[str, tuple[str, str, Any, dict[str, str], str]] = {
    "which-block": (MARKDOWN, "new", 1, {}, "none of the 3 YAML or JSON blocks has 'new'"),
    "no-block": ("# T\n", "a", 1, {}, "there is no YAML or JSON block that can be read"),
    "prose": ("Note: this\nAnd so on: that\n", "a", 1, {}, "there is no YAML or JSON block"),
    "broken-block": (
        "```yaml\na: [\n```\n",
        "a",
        1,
        {},
        "the block at line 1: line 2, column 1: did not find expected node content",
    ),
    "quotation": (
        "> ```yaml\n> a: 1\n> ```\n",
        "a",
        2,
        {"block": "yaml"},
        "line 1: blocks in a quotation are left alone",
    ),
    "missing-text": (MARKDOWN, "a", 2, {"contains": "zzz"}, "block holding 'zzz'"),
    "below-a-scalar": ("a: 1\n", "a.b", 2, {}, "a plain value where 'b' should be added"),
    "below-a-json-scalar": ('{"a": 1}', "a.b", 2, {}, "a plain value where 'b' should be added"),
    "beyond-a-json-list": ('{"a": [1]}', "a[3]", 2, {}, "the list has 1 items and none at 3"),
    "beyond-a-list": ("a: [1]\n", "a[3]", 2, {}, "the list has 1 items and none at 3"),
    "no-list": ("a:\n  b: 1\n", "a.c[0]", 2, {}, "no list to put item 0 into"),
    "anchor": ("a: &x 1\nb: *x\n", "a", 2, {}, "has an anchor, a tag or is an alias"),
    "alias": ("a: &x 1\nb: *x\n", "b", 2, {}, "has an anchor, a tag or is an alias"),
    "below-an-alias": ("a: &x {}\nb: *x\n", "b.c", 2, {}, "an alias where 'c' should be added"),
    "odd-layout": ("? a\n: 1\n", "b", 2, {}, "b cannot be set in this layout"),
    "duplicate-key": ('{"a": 1, "a": 2}', "a", 3, {}, "a cannot be set in this layout"),
}


@pytest.mark.parametrize(
    ("text", "path", "value", "more", "message"), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_cannot_be_set_is_explained(
    text: str, path: str, value: Any, more: dict[str, str], message: str
) -> None:
    with pytest.raises(FixError, match=message):
        put(text, path, value, **more)


OTHER_DATA = {
    "toml": ("[tool.x]\na = 1\n", "the artifact is TOML, which this fix does not write"),
    "documents": ("---\na:\n  b: 1\n---\na: 2\n", "the artifact is 2 YAML documents"),
    "prose": ("# T\n\ntext\n", "there is no YAML or JSON block that can be read"),
    "front matter": ("---\na: 1\n---\n# T\n", "there is no YAML or JSON block that can be read"),
}


@pytest.mark.parametrize(("text", "message"), OTHER_DATA.values(), ids=OTHER_DATA)
def test_data_that_is_not_changed_is_called_by_its_name(text: str, message: str) -> None:
    with pytest.raises(FixError, match=message):
        apply(Fix(kind="set", params={"path": "a", "value": 3}), text)
