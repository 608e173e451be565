"""The fix that replaces what a pattern finds."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.fixes import FixError, apply
from pytest_reflex.model.rules import Fix


def mend(text: str, search: str, new: str, **more: Any) -> str:
    return apply(Fix(kind="replace", params={"search": search, "with": new, **more}), text)


REPLACED: dict[str, tuple[str, str, str, dict[str, Any], str]] = {
    "every-match": ("a b a", "a", "c", {}, "c b c"),
    "line-by-line": ("x1\nx2\n", "^x", "y", {}, "y1\ny2\n"),
    "with-is-plain-text": ("ab", "(a)", r"\1$1\n", {}, r"\1$1\nb"),
    "expand": ("key=1", r"(\w+)=(\d)", r"\2=\g<1>", {"expand": True}, "1=key"),
    "literal": ("f(x) ffxx", "f(x)", "g", {"literal": True}, "g ffxx"),
    "ignore-case": ("Foo foo", "foo", "bar", {"ignore_case": True}, "bar bar"),
    "removal": ("a TODO b", " TODO", "", {}, "a b"),
    "braces-stay": ("{{ name }} {0}", "name", "{user}", {}, "{{ {user} }} {0}"),
    "no-match": ("abc", "x", "y", {}, "abc"),
    "windows-ends-stay": ("a\r\nb\r\n", "b", "c", {}, "a\r\nc\r\n"),
}


@pytest.mark.parametrize(
    ("text", "search", "new", "more", "mended"), REPLACED.values(), ids=REPLACED.keys()
)
def test_matches_are_replaced(
    text: str, search: str, new: str, more: dict[str, Any], mended: str
) -> None:
    assert mend(text, search, new, **more) == mended


def test_match_inside_its_replacement_is_left_alone() -> None:
    once = mend("foo foo", "foo", "foobar")
    assert once == "foobar foobar"
    assert mend(once, "foo", "foobar") == once


def test_lines_are_quoted_once() -> None:
    once = mend("a\nb", "^", "> ")
    assert once == "> a\n> b"
    assert mend(once, "^", "> ") == once


def test_more_matches_than_count_are_refused() -> None:
    with pytest.raises(FixError, match=r"'a' matches 2 times, count allows 1"):
        mend("a a", "a", "b", count=1)


def test_replacement_that_never_settles_is_refused() -> None:
    with pytest.raises(FixError, match="'ab' matches what it becomes"):
        mend("aab", "ab", "b")


@pytest.mark.long
@pytest.mark.parametrize("expand", [False, True], ids=["plain", "expand"])
def test_b027_runaway_pattern_of_a_fix_is_stopped(
    expand: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_reflex.fixes.text.SECONDS", 0.3)
    text = "TODO\n" + "a" * 50 + "b"
    with pytest.raises(FixError, match=r"was not searched: the search ran longer than 0.3 s"):
        mend(text, "(?=a)(a+)+$", "x", expand=expand)


@pytest.mark.parametrize("many", ["a+", "(?:a+)+"], ids=["here", "in-a-worker"])
def test_expansions_are_the_same_wherever_they_are_searched(many: str) -> None:
    once = mend("x=aab é=ab", rf"(\w)=({many})b", r"\1: \2", expand=True)
    assert once == "x: aa é: a"
