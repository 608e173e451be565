"""How many tokens a prompt is counted as: estimated from its length, unless a plugin counts."""

from __future__ import annotations

from typing import Any

from pytest_reflex.errors import UsageError

_CHARACTERS = 4


def tokens_of(text: str, hooks: Any = None) -> int:
    """Return the tokens of a text: a quarter of its characters, rounded up.

    With `hooks` (of a host) the first plugin that answers `pytest_reflex_count_tokens` counts.
    Raises UsageError where it raises, or answers what is not a count.
    """
    counted = _by_plugin(text, hooks) if hooks is not None else None
    return -(-len(text) // _CHARACTERS) if counted is None else counted


def is_over(tokens: int, budget: int) -> bool:
    """Return whether to warn; a prompt of exactly the budget is within it."""
    return tokens > budget


def over_budget_text(tokens: int, budget: int) -> str:
    """Return the warning for a prompt that is larger than the budget."""
    return f"Prompt exceeds token budget: {tokens:,} > {budget:,}"


def _by_plugin(text: str, hooks: Any) -> int | None:
    name = "pytest_reflex_count_tokens"
    try:
        counted = getattr(hooks, name)(text=text)
    except Exception as error:  # a plugin may raise anything
        raise UsageError(
            f"{name} raised {type(error).__name__}: {error}", hint="fix the plugin"
        ) from error
    if counted is None:
        return None
    if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
        raise UsageError(f"{name} answered {counted!r}", hint="answer a whole number, or None")
    return counted
