"""What a run cost, in words, and which part of a budget cannot be held: pure."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reflex.model.run import Limits, Spend


def spend_text(spend: Spend) -> str:
    """Return calls, time, price and tokens of the agents, in one line."""
    if not spend.calls:
        return "no agent was paid"
    calls = _calls(spend.calls)
    price = _known(f"${spend.usd:.4f}", spend.unknown, spend.calls) or "unknown cost"
    tokens = _known(f"{spend.tokens} tokens", spend.unknown_tokens, spend.calls)
    return ", ".join(filter(None, (calls, f"{spend.seconds:.1f} s", price, tokens)))


def _known(amount: str, unknown: int, calls: int) -> str:
    """Return an amount, and for how many calls it is unknown; empty where for all."""
    if unknown >= calls:
        return ""
    return f"{amount} (unknown for {_calls(unknown)})" if unknown else amount


def _calls(number: int) -> str:
    return f"{number} call" + ("s" if number != 1 else "")


def not_held(limits: Limits, spend: Spend) -> str:
    """Return which limits cannot be held because tools do not tell, and which can; else ""."""
    unknown: Mapping[str, int] = {"usd": spend.unknown, "tokens": spend.unknown_tokens}
    words = {"usd": "cost", "tokens": "tokens"}
    lost = [key for key in words if unknown[key] and key in limits.budget]
    if not lost:
        return ""
    kept = [key for key in limits.budget if key not in lost]
    kept += ["max_iterations", *(["wall_time"] if limits.wall_time else [])]
    told = " and ".join(words[key] for key in lost)
    return (
        f"{told} unknown: the budget in {' and '.join(lost)} cannot be held; {', '.join(kept)} can"
    )
