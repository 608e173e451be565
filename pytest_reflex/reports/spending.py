"""What a run cost, in words, and which part of a budget cannot be held: pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pytest_reflex.model.plain import counted
from pytest_reflex.model.run import Spend


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
    return counted(number, "call")


def budget_text(budget: Mapping[str, float], spend: Spend) -> str:
    """Return how much of each part of a budget is used: "calls 3 of 10, usd 0.12 of 2"."""
    unknown = {"usd": spend.unknown, "tokens": spend.unknown_tokens}
    told = []
    for key, limit in budget.items():
        amount = f"{getattr(spend, key):g}"
        used = _known(amount, unknown.get(key, 0), spend.calls) if spend.calls else amount
        told.append(f"{key} {used or 'unknown'} of {limit:g}")
    return ", ".join(told)


def unknown_of(spend: Spend) -> list[str]:
    """Return the parts of a budget that some call of an agent did not report."""
    unknown = {"usd": spend.unknown, "tokens": spend.unknown_tokens}
    return [key for key, calls in unknown.items() if calls]


def not_held(budget: Mapping[str, float], unknown: Collection[str], others: Iterable[str]) -> str:
    """Return which parts of a budget cannot be held, and what can; empty where all can.

    `unknown` are the parts that tools do not report, `others` the limits beside the budget.
    """
    lost = [key for key in _WORDS if key in unknown and key in budget]
    if not lost:
        return ""
    told = " and ".join(_WORDS[key] for key in lost)
    kept = [*(key for key in budget if key not in lost), *others]
    holds = f"{', '.join(kept)} can" if kept else "no other limit is set"
    return f"{told} unknown: the budget in {' and '.join(lost)} cannot be held; {holds}"


_WORDS = {"usd": "cost", "tokens": "tokens"}
