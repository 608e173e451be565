"""Checks of type content on one text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.errors import CriteriaError, Place
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.targets import CheckContext
from tests.checks.building import content, document, search
from tests.checks.text_table import ARTIFACTS, TextCase

MARKDOWN = """# Title

Words and TODO.

## Usage

Call it.

```yaml
kind: one
```

### Details

TODO here.

## End

```yaml
kind: two
```
"""

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR


@pytest.mark.parametrize(
    ("params", "outcome"),
    [
        pytest.param({"search": "^## Usage"}, PASS, id="multi-line"),
        pytest.param({"search": "^Usage"}, FAIL, id="anchored"),
        pytest.param({"search": "usage|begin"}, FAIL, id="case counts"),
        pytest.param({"search": "usage", "ignore_case": True}, PASS, id="case ignored"),
        pytest.param({"search": "(?i)usage"}, PASS, id="case ignored in the pattern"),
        pytest.param({"search": "[b-d]nd", "negate": True}, PASS, id="negated"),
        pytest.param({"search": "TODO", "negate": True}, FAIL, id="negated but there"),
        pytest.param({"search": "TODO", "min_count": 2}, PASS, id="enough"),
        pytest.param({"search": "TODO", "min_count": 3}, FAIL, id="too few"),
        pytest.param({"search": "TODO", "max_count": 2}, PASS, id="not too many"),
        pytest.param({"search": "TODO", "max_count": 1}, FAIL, id="too many"),
        pytest.param({"search": "absent", "max_count": 1}, PASS, id="none is not too many"),
        pytest.param({"search": "absent", "min_count": 0, "max_count": 1}, PASS, id="0 to 1"),
        pytest.param({"search": "TODO", "min_count": 2, "max_count": 2}, PASS, id="exactly two"),
        pytest.param({"search": "TODO", "min_count": 1, "max_count": 1}, FAIL, id="exactly one"),
        pytest.param({"search": "TODO", "section": "Usage"}, PASS, id="in a section below"),
        pytest.param({"search": "Words", "section": "Usage"}, FAIL, id="outside the section"),
        pytest.param({"search": "Words", "section": "# title"}, PASS, id="section with level"),
        pytest.param({"search": "Words", "section": "## Title"}, FAIL, id="another level"),
        pytest.param({"search": "two", "block": "yaml"}, PASS, id="in a block"),
        pytest.param({"search": "two", "block": "yml"}, PASS, id="in a block by another word"),
        pytest.param({"search": "Call", "block": "YAML"}, FAIL, id="outside the blocks"),
        pytest.param(
            {"search": "two", "block": "yaml", "section": "Usage"}, FAIL, id="block of a section"
        ),
        pytest.param({"search": "TODO", "section": "Gone"}, FAIL, id="no such section"),
        pytest.param(
            {"search": "TODO", "section": "Gone", "negate": True}, ERROR, id="negated, no section"
        ),
        pytest.param({"search": "x", "block": "json", "max_count": 3}, ERROR, id="no such block"),
    ],
)
def test_options_mean_what_they_say(params: dict[str, Any], outcome: Outcome) -> None:
    assert search(MARKDOWN, **params).outcome is outcome


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"search": "Words", "section": "Usage"}, "pattern not found in section 'Usage'"),
        ({"search": "Words", "block": "yaml"}, "pattern not found in blocks of yaml"),
        ({"search": "x", "section": "Gone"}, "there is no section 'Gone'"),
        ({"search": "x", "block": "json"}, "there is no fenced block of the language json"),
        (
            {"search": "TODO", "min_count": 3},
            "pattern found 2 times, first at line 3; at least 3 are wanted",
        ),
        ({"search": "Call", "min_count": 2, "max_count": 4}, "at line 7; 2 to 4 are wanted"),
        ({"search": "Call", "negate": True}, "pattern found at line 7; it must not be there"),
    ],
)
def test_message_tells_what_is_wrong_and_where(params: dict[str, Any], message: str) -> None:
    result = search(MARKDOWN, **params)
    assert message in result.message
    assert result.pattern == ("" if message.startswith("there is no") else params["search"])


def test_message_and_evidence_tell_what_was_found() -> None:
    result = search(MARKDOWN, search="TODO", max_count=1)
    assert result.message == "pattern found 2 times, first at line 3; at most 1 are wanted"
    assert result.pattern == "TODO"
    assert result.evidence == "3 | Words and TODO.\n15 | TODO here."
    assert result.location == Place("a.md", 3, 11)


@pytest.mark.parametrize(
    ("params", "count", "told"),
    [
        pytest.param({"negate": True}, 5000, "at least 1001 times", id="not there"),
        pytest.param({"max_count": 0}, 1000, "1000 times", id="none, the last that is counted"),
        pytest.param({"max_count": 0}, 1001, "at least 1001 times", id="none, one more"),
        pytest.param({"max_count": 2}, 1002, "1002 times", id="two, the last that is counted"),
        pytest.param({"max_count": 2}, 1003, "at least 1003 times", id="two, one more"),
        pytest.param({"min_count": 3}, 1002, "1002 times", id="three, the last that is counted"),
        pytest.param({"min_count": 3}, 9999, "at least 1003 times", id="three, many more"),
    ],
)
def test_counting_ends_a_thousand_beyond_what_decides(
    params: dict[str, Any], count: int, told: str
) -> None:
    message = search("x" * count, search="x", **params).message
    assert message.partition(";")[0] == f"pattern found {told}, first at line 1"


@pytest.mark.parametrize("literal", [False, True])
def test_one_match_is_enough_where_their_number_does_not_matter(literal: bool) -> None:
    result = search(MARKDOWN, search="kind", block="yaml", literal=literal)
    shown = "'kind'" if literal else "pattern"
    assert result.message == f"{shown} found at line 10"
    assert result.location == Place("a.md", 10, 1)


@pytest.mark.parametrize("params", [{"min_count": 2}, {"max_count": 1}])
def test_the_place_is_that_of_the_first_of_several_blocks(params: dict[str, int]) -> None:
    result = search(MARKDOWN, search="kind", block="yaml", **params)
    assert result.message.startswith("pattern found 2 times, first at line 10")
    assert result.location == Place("a.md", 10, 1)


@pytest.mark.long
@pytest.mark.parametrize("text", ["a" * 40 + "b", "```c\n" + "a" * 40 + "b\n```\n"])
def test_a_pattern_that_would_never_end_is_stopped(text: str) -> None:
    spec = content(search=r"(a+)+\1$", **({"block": "c"} if "```" in text else {}))
    result = ContentCheck().compile(spec, {})(
        document(text), CheckContext(root=Path("/"), pattern_seconds=0.3)
    )
    assert result.outcome is ERROR
    assert result.message.startswith("the search ran longer than 0.")


def test_a_text_that_was_sought_is_shown_up_to_80_characters() -> None:
    assert search("", search="x" * 80, literal=True).message == f"'{'x' * 80}' not found"
    assert "x" * 80 not in search("", search="x" * 81, literal=True).message


@pytest.mark.parametrize("wanted", [r"\bday \d+", r"^\s*\d", "no special character"])
def test_a_pattern_is_no_part_of_a_message(wanted: str) -> None:
    result = search(MARKDOWN, search=wanted, section="End")
    assert (result.outcome, result.pattern) == (FAIL, wanted)
    assert result.message == "pattern not found in section 'End'"


@pytest.mark.parametrize("name", ["min_count", "max_count"])
def test_a_count_goes_up_to_a_million(name: str) -> None:
    assert list(ContentCheck().problems(content(search="x", **{name: 1_000_000}))) == []
    (problem,) = ContentCheck().problems(content(search="x", **{name: 1_000_001}))
    assert f"{name} must be a whole number from 0 to 1000000, not 1000001" in str(problem)


def test_place_in_a_block_of_a_section_is_that_in_the_document() -> None:
    result = search(MARKDOWN, search="one", section="Usage", block="yaml")
    assert result.location == Place("a.md", 10, 7)
    assert result.evidence == "10 | kind: one"


def test_near_miss_is_shown() -> None:
    assert search(MARKDOWN, search="## USAGE").evidence == "nearest: 5 | ## Usage"


def test_a_near_miss_of_several_lines_is_shown_by_its_first() -> None:
    result = search(MARKDOWN, search="## USAGE\n\nCall", literal=True)
    assert result.evidence == "nearest: 5 | ## Usage"


@pytest.mark.parametrize(("size", "shown"), [(1_000_000, True), (1_000_001, False)])
def test_a_near_miss_is_sought_in_up_to_a_million_characters(size: int, shown: bool) -> None:
    result = search("Wanted\n".ljust(size, "-"), search="wanted")
    assert result.outcome is FAIL
    assert result.evidence == ("nearest: 1 | Wanted" if shown else "")


@pytest.mark.parametrize("size", [200, 800, 2000])
def test_a_near_miss_that_takes_too_long_is_not_shown(size: int) -> None:
    # RE2 does not take an É of any case, and Python's `re` takes too long.
    result = search("w" * 999_999, search="W" * size + "É", literal=True)
    assert (result.outcome, result.evidence) == (FAIL, "")
    assert "not found" in result.message


def test_a_near_miss_is_found_behind_a_block_in_which_it_takes_too_long() -> None:
    wanted = "W" * 200 + "É"
    text = f"```a\n{'w' * 999_000}\n```\n\n```a\n{wanted.lower()}\n```\n"
    result = search(text, search=wanted, literal=True, block="a")
    assert result.outcome is FAIL
    assert result.evidence.startswith("nearest: 6 | www")


@pytest.mark.parametrize("length", [60, 61])
@pytest.mark.parametrize("where", ["block", "section"])
def test_a_place_is_named_by_up_to_60_characters(where: str, length: int) -> None:
    name = "n" * length
    result = search(f"## {name}\n\n```{name}\n```\n", search="gone", **{where: name})
    assert ("n" * 60 in result.message) is (length == 60)
    words = {"block": " in blocks of nnn", "section": " in section 'nnn"}
    assert result.message.startswith(f"pattern not found{words[where]}")


@pytest.mark.parametrize("text", ["Hello {{ name }} {% if %}", "{0} {!r} %d", r"\d+ [x", "$HOME"])
def test_b023_text_is_matched_as_it_stands(text: str) -> None:
    assert search(f"before {text} after", search=text, literal=True).outcome is PASS


def test_b026_failure_text_with_braces_is_ordinary() -> None:
    result = search("see {0} {!r} %d\n", search="{0} {!r} %d", literal=True, negate=True)
    assert result.outcome is FAIL
    assert result.evidence == "1 | see {0} {!r} %d"
    assert "{0} {!r} %d" in result.message


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$"])
def test_b027_runaway_pattern_never_passes(pattern: str) -> None:
    result = search("a" * 50 + "b", search=pattern)
    assert result.outcome in (FAIL, ERROR)


def test_b030_final_newline_of_a_block_scalar_is_dropped() -> None:
    assert search("some mid words here", search="mid words\n", literal=True).outcome is PASS
    assert search("some mid words\n\nhere", search="words\n\n", literal=True).outcome is PASS
    assert search("some mid words\nhere", search="words\n\n", literal=True).outcome is PASS
    assert search("some mid words here", search="words\n\n", literal=True).outcome is FAIL


@pytest.mark.parametrize(("text", "wanted"), [("0\n", "0"), ("false\n", "false"), (" ", " ")])
def test_b032_falsy_texts_are_texts(text: str, wanted: str) -> None:
    assert search(text, search=wanted, literal=True).outcome is PASS


@pytest.mark.parametrize("negate", [True, False])
def test_b032_empty_artifact_is_a_text_without_matches(negate: bool) -> None:
    outcome = search(b"", search="x", negate=negate).outcome
    assert outcome is (PASS if negate else FAIL)


def test_b034_columns_count_code_points() -> None:
    result = search("first\n🇩🇪 नमस्ते here\n", search="here")
    assert result.location == Place("a.md", 2, 11)
    assert result.evidence == "2 | 🇩🇪 नमस्ते here"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0", "is binary: a NUL byte at offset 8", id="png"),
        pytest.param(b"caf\xe9", "is not UTF-8 text: byte 0xe9 at offset 3", id="latin-1"),
    ],
)
@pytest.mark.parametrize("negate", [True, False])
def test_b062_what_is_no_text_cannot_be_judged(data: bytes, message: str, negate: bool) -> None:
    result = search(data, search="caf", literal=True, negate=negate)
    assert result.outcome is ERROR
    assert message in result.message


@pytest.mark.parametrize("case", ARTIFACTS, ids=[case.name for case in ARTIFACTS])
def test_line_ends_and_marks_are_normalised(case: TextCase) -> None:
    assert search(case.data, **case.params).outcome is (PASS if case.passes else FAIL)


@given(st.text(alphabet="ab.*{}\\ \né", max_size=30), st.text(alphabet="ab.*{}\\é", min_size=1))
@settings(deadline=None)
def test_literal_check_agrees_with_in(text: str, wanted: str) -> None:
    passed = search(text, search=wanted, literal=True).outcome is PASS
    assert passed == (wanted in text)


@pytest.mark.long
@given(st.binary(max_size=200))
@settings(deadline=None)
def test_no_bytes_make_a_check_raise(data: bytes) -> None:
    for params in ({"search": "a+"}, {"search": "x", "negate": True}, {"search": "y", "raw": True}):
        assert search(data, **params).outcome in Outcome


@pytest.mark.parametrize(
    ("params", "message"),
    [
        pytest.param({}, "needs the key 'search'", id="no search"),
        pytest.param({"search": ""}, "search must be a non-empty string, not ''", id="empty"),
        pytest.param({"search": 3}, "search must be a non-empty string, not 3", id="number"),
        pytest.param(
            {"search": "x", "serach": "y"},
            r"'serach' is not a key .* content \(did you mean search\?\)",
            id="unknown key",
        ),
        pytest.param({"search": "x", "negate": "no"}, "negate must be true or false", id="word"),
        pytest.param(
            {"search": "x", "min_count": -1}, r"min_count must be .* not -1", id="below zero"
        ),
        pytest.param({"search": "x", "min_count": True}, r"min_count .* not true", id="bool"),
        pytest.param({"search": "x", "max_count": 1.5}, r"max_count .* not 1.5", id="half"),
        pytest.param({"search": "x", "min_count": 0}, "min_count 0 holds for every", id="vacuous"),
        pytest.param(
            {"search": "x", "min_count": 3, "max_count": 2},
            "min_count is 3, more than max_count, which is 2",
            id="crossed",
        ),
        pytest.param(
            {"search": "x", "negate": True, "max_count": 2},
            "negate cannot be combined with min_count and max_count",
            id="both",
        ),
        pytest.param({"search": "x", "files": []}, r"files must be .* not \[\]", id="no globs"),
    ],
)
def test_wrong_parameters_are_problems_and_not_compiled(
    params: dict[str, Any], message: str
) -> None:
    spec = content(**params)
    (problem,) = ContentCheck().problems(spec)
    with pytest.raises(CriteriaError, match=message) as caught:
        ContentCheck().compile(spec, {})
    assert str(problem) == str(caught.value)
    assert problem.place == spec.place


@pytest.mark.parametrize("pattern", ["(", "[a", "*", r"(?P<x", "a{2}{3}", r"\p{L}", "(?<=a+)b"])
def test_invalid_pattern_is_refused_with_a_way_out(pattern: str) -> None:
    with pytest.raises(CriteriaError) as caught:
        ContentCheck().compile(content(search=pattern), {})
    text = str(caught.value)
    assert text.startswith("rules.yaml:3:5: search is not a valid pattern: ")
    assert pattern in text.replace("\\\\", "\\")
    assert "literal: true" in text


def test_deeply_nested_pattern_is_refused_in_one_line() -> None:
    with pytest.raises(CriteriaError, match="search is not a valid pattern: ") as caught:
        ContentCheck().compile(content(search="(" * 5000 + ")" * 5000), {})
    assert len(str(caught.value)) < 300
