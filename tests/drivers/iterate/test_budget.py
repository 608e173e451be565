"""A prompt is counted by its characters, or by whoever can do better."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_reflex.drivers.iterate.procedures import is_over, over_budget_text, tokens_of
from pytest_reflex.errors import UsageError


def hooks(answer: Any) -> Any:
    return SimpleNamespace(pytest_reflex_count_tokens=answer)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("äöüß", 1)]
)
def test_four_characters_are_a_token_and_the_rest_is_one_more(text: str, tokens: int) -> None:
    assert tokens_of(text) == tokens


def test_where_no_plugin_counts_the_characters_do() -> None:
    assert tokens_of("abcde", hooks(lambda text: None)) == 2


@pytest.mark.parametrize("answer", [-1, True, 2.5, "7"])
def test_what_is_no_count_is_refused(answer: Any) -> None:
    said = re.escape(f"pytest_reflex_count_tokens answered {answer!r}")
    with pytest.raises(UsageError, match=said):
        tokens_of("a", hooks(lambda text: answer))


def test_a_plugin_that_raises_is_named() -> None:
    def broken(text: str) -> int:
        raise KeyError("model")

    with pytest.raises(UsageError, match="pytest_reflex_count_tokens raised KeyError: 'model'"):
        tokens_of("a", hooks(broken))


@pytest.mark.parametrize(("tokens", "over"), [(99, False), (100, False), (101, True)])
def test_a_prompt_of_exactly_the_budget_is_within_it(tokens: int, over: bool) -> None:
    assert is_over(tokens, 100) is over


def test_the_warning_has_both_numbers() -> None:
    assert over_budget_text(120_000, 100_000) == "Prompt exceeds token budget: 120,000 > 100,000"
