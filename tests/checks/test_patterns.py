"""Searches that cannot run away."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pytest_reflex.search import pattern_cost, pattern_re2
from pytest_reflex.search.pattern_cost import CharacterRun, longest_run
from pytest_reflex.search.patterns import STEPS, SearchError, compile_pattern, compile_text
from pytest_reflex.search.search_process import SEARCHES, SearchProcess
from tests.process.zoo import ON_LINUX, marked

WITH_RE2 = importlib.util.find_spec("re2") is not None
NASTY = [
    r"(a+)+$", r"(a|aa)+$", r"(a|a)*$", r"(a*)*b", r"(a?){40}a{40}$", r"([a-z]+)*\d", r"(\w+\s?)*!",
    r"(a+)+(b+)+$", r"^(a+)*c", r"(?:a+){2,}$", r"(x+x+)+y", r"(.*)*z", r"(.*a){20}$",
    r"(a|b|ab)*c",
    r"((a+)+)+$", r"(\s*\w*)*;", r"(?:(?:a*)b?)*c", r"(.+)+\n\n", r"(a{1,}){1,}$", r"(?i)(A+)+$",
    r"(a+)+\1$", r"(?=(a+)+$)b", r"(?!(a+)+c)a$", r"(?<!b)(a+)+c", r"(\w*)*\W\d$", r"a*a*a*a*a*b",
    r"(?:.|\n)*(?:.|\n)*z!",
]  # fmt: skip
TEXT = "a" * 1_000_000 + "-"


@pytest.fixture(autouse=True, scope="module")
def _no_child_stays() -> Iterator[None]:
    yield
    SEARCHES.close()


@pytest.mark.long
@pytest.mark.parametrize("pattern", NASTY)
def test_b027_runaway_pattern_ends_and_finds_nothing(pattern: str) -> None:
    found = []
    with suppress(SearchError):
        found = compile_pattern(pattern).spans(TEXT, limit=1, seconds=0.2)
    assert found == []


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")
def test_b027_killed_searches_leave_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with marked() as (env, living):
        monkeypatch.setattr("os.environ", env)
        searches = SearchProcess()
        for pattern in NASTY[:4]:
            with pytest.raises(SearchError, match=r"longer than 0\.2 s"):
                searches.spans(pattern, 0, "a" * 50 + "-", 1, 0.2)
        assert searches.spans("a+", 0, "baa", 9, 9.0) == [(1, 3)]
        assert len(living()) == 1
        searches.close()
        assert living() == []


@pytest.mark.parametrize("pattern", NASTY)
def test_bound_sees_the_danger(pattern: str) -> None:
    tree = pattern_cost.parse(pattern, re.MULTILINE)
    assert pattern_cost.Cost(tree).steps(TEXT) > STEPS


@pytest.mark.parametrize(
    "pattern",
    [
        r"^## Usage$", r"GET /courses/{id}", r"^#{1,6}\s+(?:Usage|Examples?)\b", r"TODO|FIXME|XXX",
        r'"example":|examples:', r"^\s*-\s+\S", r"https?://\S+", r"v\d+\.\d+\.\d+",
        r"[A-Z]{2,5}-\d+", r"\[[^\]\n]+\]\([^)\s]+\)", r"^\|.*\|$", r"\b\d{1,3}\b",
    ],
)  # fmt: skip
def test_bound_lets_ordinary_patterns_pass(pattern: str) -> None:
    text = "## Usage of things\n\n- some words in a line, see http://example.org/x\n" * 150
    cost = pattern_cost.Cost(pattern_cost.parse(pattern, re.MULTILINE))
    assert cost.steps(text) <= STEPS


def test_unknown_parse_tree_is_unbounded() -> None:
    assert pattern_cost.Cost(None).steps("x") == float("inf")


@given(st.text(alphabet="ab \n\t.é", max_size=50))
@settings(deadline=None)
def test_runs_are_measured(text: str) -> None:
    families = {
        CharacterRun.SPACE: " \n\t",
        CharacterRun.WORD: "abé",
        CharacterRun.INK: "abé.",
        CharacterRun.LINE: "ab \t.é",
    }
    for run, members in families.items():
        best = here = 0
        for char in text:
            here = here + 1 if char in members else 0
            best = max(best, here)
        assert longest_run(text, run) == best


ATOMS = st.sampled_from(
    ["a", "b", "é", " ", r"\n", ".", r"\w", r"\d", r"\s", r"\W", r"\D", r"\S", r"[^\S.]", r"[\D1]",
     r"[^\W_]", "[ab]", "[^a]", r"[\s-]", "[^b-z]",
     "^", "$", r"\b", r"\B", r"\A", r"\Z", r"\.", "-", "(?:)", "{x}", r"\x41", "A", "K"]
)  # fmt: skip


def repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    suffix = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?", "+?", "??", "{0,2}?", "{2,}"])
    return st.one_of(
        st.builds("(?:{0}){1}".format, inner, suffix),
        st.builds("({0}|{1})".format, inner, inner),
        st.builds("{0}{1}".format, inner, inner),
    )


PATTERNS = st.recursive(ATOMS, repeated, max_leaves=6)


@pytest.mark.long
@pytest.mark.skipif(not WITH_RE2, reason="google-re2 is not installed")
@given(PATTERNS, st.text(alphabet="abAK -.\n\x1céſ\u212a", max_size=12), st.booleans())
@example("a|ab", "ab", False)
@example(r"\s", "\x1c\x0b", False)
@example("(?s)a.b", "a\nb", False)
@example(r"(?s)\Aa.+\Z", "a\n\nb", False)
@example("(?s)a.+?b", "a\nb\nb", True)
@settings(deadline=None, max_examples=400)
def test_re2_finds_what_re_finds(pattern: str, text: str, ignore_case: bool) -> None:
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    other = pattern_re2.translate(pattern_cost.parse(pattern, flags), flags)
    assume(other is not None)
    assert other is not None
    spans = other.spans(text, 100)
    if spans is not None:
        assert spans == [match.span() for match in re.compile(pattern, flags).finditer(text)]


@pytest.mark.skipif(not WITH_RE2, reason="google-re2 is not installed")
@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "(?=a)b", "(?<!a)b", "(?i:a)b", "(?:a*)*", "a*+b", "(?>a)b", "a{201}"]
)
def test_what_re2_may_read_otherwise_is_left_to_re(pattern: str) -> None:
    assert pattern_re2.translate(pattern_cost.parse(pattern, re.MULTILINE), re.MULTILINE) is None


@pytest.mark.skipif(not WITH_RE2, reason="google-re2 is not installed")
def test_classes_beyond_ascii_are_left_to_re() -> None:
    other = pattern_re2.translate(pattern_cost.parse(r"\w", 0), 0)
    assert other is not None
    assert other.spans("é", 5) is None
    assert other.spans("e", 5) == [(0, 1)]


@given(PATTERNS, st.text(alphabet="ab -\né", max_size=12))
@settings(deadline=None, max_examples=100)
def test_child_finds_what_re_finds(pattern: str, text: str) -> None:
    flags = int(re.MULTILINE)
    spans = SEARCHES.spans(pattern, flags, text, 100, 10.0)
    assert spans == [match.span() for match in re.compile(pattern, flags).finditer(text)][:100]


@pytest.mark.long
@given(PATTERNS, st.text(alphabet="ab -\né", max_size=30), st.integers(1, 5))
@settings(deadline=None, max_examples=200)
def test_search_finds_what_re_finds(pattern: str, text: str, limit: int) -> None:
    spans = compile_pattern(pattern).spans(text, limit=limit, seconds=10)
    assert spans == [m.span() for m in re.compile(pattern, re.MULTILINE).finditer(text)][:limit]


@given(
    st.text(alphabet="aAéÉ.*\n", max_size=30), st.text(alphabet="aé.*\n", min_size=1, max_size=3)
)
@settings(deadline=None)
def test_text_is_found_as_it_stands(text: str, wanted: str) -> None:
    spans = compile_text(wanted, ignore_case=True).spans(text, limit=99, seconds=10)
    assert len(spans) == text.lower().count(wanted)
    assert len(compile_text(wanted).spans(text, limit=99, seconds=10)) == text.count(wanted)


def test_pattern_that_may_change_its_meaning_is_no_warning() -> None:
    assert compile_pattern("[[a]").spans("[", limit=1, seconds=1) == [(0, 1)]
