"""What is said of a fix that is written wrongly, and what becomes of several fixes."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.fixes import FixError, apply, apply_all, problems
from pytest_reflex.model.rules import Fix

WRONG: dict[str, tuple[str, Any, str]] = {
    "kind": (
        "insert_sektion",
        {},
        "unknown kind of fix 'insert_sektion' (did you mean insert_section?)",
    ),
    "no-mapping": ("append", "text", "append needs a mapping of text"),
    "unknown-key": (
        "append",
        {"text": "a", "txt": 1},
        "append has no parameter 'txt' (did you mean text?)",
    ),
    "missing-key": ("insert_section", {"text": "a"}, "insert_section needs heading"),
    "empty": ("append", {"text": " "}, "append: text is empty"),
    "type": ("append", {"text": 7}, "append: text must be text, not 7"),
    "flag": (
        "replace",
        {"search": "a", "with": "", "literal": "yes"},
        "replace: literal must be true or false, not 'yes'",
    ),
    "count": (
        "replace",
        {"search": "a", "with": "", "count": True},
        "replace: count must be a whole number above 0, not True",
    ),
    "choice": (
        "insert_text",
        {"text": "a", "at": "top"},
        "insert_text: at must be start or end, not 'top'",
    ),
    "two-places": (
        "insert_text",
        {"text": "a", "after": "b", "before": "c"},
        "insert_text needs one of after, before and at, not after and before",
    ),
    "no-place": (
        "insert_text",
        {"text": "a"},
        "insert_text needs one of after, before and at, not none",
    ),
    "no-heading": (
        "insert_section",
        {"heading": "Usage"},
        "insert_section: heading must look like '## Title', not 'Usage'",
    ),
    "after-and-before": (
        "insert_section",
        {"heading": "# U", "after": "a", "before": "b"},
        "insert_section takes after or before, not both",
    ),
    "pattern": (
        "replace",
        {"search": "(", "with": ""},
        (
            "replace: search is not a valid pattern: missing ), unterminated subpattern at position"
            " "
            "0: (; literal: true takes it as text"
        ),
    ),
    "group": (
        "replace",
        {"search": "(a)", "with": r"\2", "expand": True},
        "replace: with is not a valid expansion: invalid group reference 2 at position 1",
    ),
    "literal-expand": (
        "replace",
        {"search": "a", "with": "", "literal": True, "expand": True},
        "replace: literal and expand cannot be combined",
    ),
    "path": (
        "set",
        {"path": "a..b", "value": 1},
        "set: path: column 3 of 'a..b': expected a key; quote one with blanks, dots or brackets",
    ),
    "wildcard": (
        "set",
        {"path": "a.*", "value": 1},
        "set: path 'a.*' has a wildcard; one place is needed",
    ),
    "no-number": (
        "set",
        {"path": "a", "value": [float("nan")]},
        "set: value holds nan, which JSON does not have",
    ),
    "key-type": (
        "set",
        {"path": "a", "value": {1: 2}},
        "set: value holds the key 1, which is not text",
    ),
    "value-type": ("set", {"path": "a", "value": b"x"}, "set: value holds a bytes"),
}


@pytest.mark.parametrize(("kind", "params", "message"), WRONG.values(), ids=WRONG.keys())
def test_malformed_fix_is_explained(kind: str, params: Any, message: str) -> None:
    found = list(problems(Fix(kind=kind, params=params), Place("r.yaml", 3, 5)))
    assert [str(problem) for problem in found] == [f"r.yaml:3:5: {message}"]


def test_several_faults_are_told_at_once() -> None:
    found = problems(Fix(kind="set", params={"pth": "a", "block": "toml"}))
    assert [problem.message for problem in found] == [
        "set has no parameter 'pth'",
        "set: block must be yaml, json or front-matter, not 'toml'",
        "set needs path",
        "set needs value",
    ]


def test_malformed_fix_is_not_applied() -> None:
    with pytest.raises(FixError, match="append needs text"):
        apply(Fix(kind="append", params={}), "a")


def test_fixes_follow_each_other_and_say_what_became_of_them() -> None:
    good = Fix(kind="append", params={"text": "one"})
    lost = Fix(kind="insert_text", params={"text": "two", "after": "missing"})
    next_one = Fix(kind="insert_text", params={"text": "two", "after": "one"})
    text, log = apply_all([good, good, lost, next_one], "top\n")
    assert text == "top\none\ntwo\n"
    assert [(entry.changed, entry.reason) for entry in log] == [
        (True, ""),
        (False, "nothing to do"),
        (False, "insert_text: no line holds 'missing'"),
        (True, ""),
    ]
