"""Whatever the artifact is, a structure check gives an outcome and never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.checks.structure.openapi import ASPECTS
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.results import CheckResult
from tests.structure.judging import judge

CHECKS: dict[str, dict[str, Any]] = {
    "path": {"path": "a.b", "equals": 1},
    "headings": {"headings": {"required": ["/x/", "y"], "levels": True, "single_title": True}},
    "links": {"links": True},
    "code_blocks": {"code_blocks": {"parse": True, "tagged": True}},
    "prose": {"prose": {"max_average_sentence": 9, "opening": 3, "one_style": True}},
    **{aspect: {"openapi": aspect} for aspect in ASPECTS},
}

ARTIFACTS: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \r\n\t\n",
    "only a mark": b"\xef\xbb\xbf",
    "marked": b"\xef\xbb\xbf# T\r\n\r\n- a\r\n",
    "lone CR": b"# T\r\rtext\r",
    "no-break space": "# T\u00a0\n\u00a0text".encode(),
    "line separator": "# T\u2028text\n".encode(),
    "deep lists": b"- " * 5000,
    "deep quotes": b"> " * 5000 + b"x",
    "deep flow": b"openapi: " + b"[" * 5000,
    "deep JSON": b'{"openapi": ' * 5000,
    "long line": b"word " * 20_000,
    "openapi null": b"openapi:\n",
    "openapi list": b"- openapi: 3.1.0\n",
    "two documents": b"openapi: 3.1.0\npaths: {}\n---\nopenapi: 3.0.0\npaths: {}\n",
    "open fence": b"```yaml\nopenapi: 3.1.0\n",
    "open comment": b"<!-- <h1> <!--" * 100,
}


def is_judged(result: CheckResult) -> bool:
    """Whether a check says something of a text; what is no API gives an aspect no subject."""
    if result.outcome is Outcome.NOT_MEASURED:
        return bool(result.message)
    return True


@pytest.mark.parametrize("data", ARTIFACTS.values(), ids=ARTIFACTS)
@pytest.mark.parametrize("params", CHECKS.values(), ids=CHECKS)
def test_odd_text_has_an_outcome_and_one_line(params: dict[str, Any], data: bytes) -> None:
    result = judge(data, params)
    assert is_judged(result)
    assert len(result.message.splitlines()) == 1


@pytest.mark.parametrize("params", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("data", [b"\x89PNG\0", b"caf\xe9"], ids=["binary", "latin-1"])
def test_b062_what_is_no_text_is_an_error(params: dict[str, Any], data: bytes) -> None:
    result = judge(data, params)
    assert result.outcome is Outcome.ERROR
    assert result.message.startswith("a.md is ")


@pytest.mark.long
@pytest.mark.parametrize("check", ["path", "headings", "operations"])
def test_text_of_a_hundred_megabytes_passes_nothing(check: str) -> None:
    result = judge(b"# openapi: of text\n" * 5_500_000, CHECKS[check])
    assert result.outcome in (Outcome.ERROR, Outcome.FAIL)


WORDS = """
openapi info paths webhooks components schemas securitySchemes security parameters responses
requestBody content application/json schema example examples properties items allOf type name in
operationId description summary get post callbacks $ref 200 default /a /a/{b} x-y
"""
KEYS = st.sampled_from(WORDS.split())
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["3.1.0", "3.0.0", "array", "query", "#/paths", "#/components/schemas/a", ""]),
    st.text(max_size=5),
)
NODES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(st.dictionaries(KEYS, NODES, max_size=5), st.sampled_from(sorted(ASPECTS)))
def test_any_json_like_document_has_an_outcome(document: dict[str, Any], aspect: str) -> None:
    text = json.dumps({"openapi": "3.1.0", **document})
    result = judge(text, {"openapi": aspect}, "a.json")
    assert result.outcome is not Outcome.ERROR
    assert is_judged(result)


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            ["# ", "## ", "```", "~~~", "yaml", "\n", "\n\n", "- ", "* ", "> ", "[a](b)", "[a][b]",
             "a: 1", "{", "}", "<p>", "<!--", "| a |\n|---|\n", "text. ", "\t", "&amp;", "\\", "`"]
        ),
        max_size=25,
    ).map("".join),
    st.sampled_from(sorted(CHECKS)),
)  # fmt: skip
def test_any_markdown_has_an_outcome(text: str, check: str) -> None:
    result = judge(text, CHECKS[check])
    assert result.outcome is not Outcome.ERROR
    assert is_judged(result)
