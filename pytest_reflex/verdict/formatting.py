"""Numbers as people read them: rounded down, so that a miss never looks like a hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from pytest_reflex.model.results import Evaluation, RuleResult

_MOST = 12  # digits that are shown
_TYPED = 50  # decimals that are read


def floor(value: Fraction, digits: int) -> str:
    """Return `value` (>= 0) with `digits` decimals, rounded down."""
    scaled = value.numerator * 10**digits // value.denominator
    whole, rest = divmod(scaled, 10**digits)
    return f"{whole}.{rest:0{digits}d}"


def plain(value: Fraction) -> str:
    """Return a value (>= 0) as it was typed: an exact decimal, else a fraction: 0.85, 2, 1/3.

    A fraction of many digits is a decimal, rounded down.
    """
    for digits in range(_TYPED):
        if (value * 10**digits).denominator == 1:
            return floor(value, digits) if digits else str(value.numerator)
    fraction = f"{value.numerator}/{value.denominator}"
    return fraction if len(fraction) <= _MOST + 1 else _short(value)


def _short(value: Fraction) -> str:
    """Return a decimal of at most 12 digits, rounded down, where there are places to leave out."""
    shown = floor(value, max(_MOST - len(str(value.numerator // value.denominator)), 1))
    return shown.rstrip("0").removesuffix(".")


def format_score(score: Fraction) -> str:
    """Return a score with 3 decimals; rounded down, it is never shown as a threshold it missed."""
    return floor(score, 3)


def arithmetic(evaluation: Evaluation) -> str:
    """Return the weight that was earned, of the weight that counts: "7 of 11"."""
    rows = evaluation.applicable
    earned = sum((r.rule.weight for r in rows if r.passed), Fraction(0))
    total = sum((r.rule.weight for r in rows), Fraction(0))
    parts = [(one, plain(one)) for one in (earned, total)]
    return " of ".join(text if len(text) <= _MOST + 1 else _short(one) for one, text in parts)


def same_causes(results: Iterable[RuleResult]) -> list[str]:
    """Return a line for each rule whose cause kept others from being measured: how many."""
    counts = Counter(row.same_cause for row in results)
    return [
        f"{count} more {'rule' if count == 1 else 'rules'} not measured: same cause as {rule_id}"
        for rule_id, count in counts.items()
        if rule_id
    ]


def rules_not_installed(results: Iterable[RuleResult]) -> dict[str, list[str]]:
    """Return the rules that were not measured for want of a distribution, by its name."""
    found: dict[str, list[str]] = {}
    for row in results:
        if row.needs:
            found.setdefault(row.needs, []).append(row.rule.id)
    return found


def gap(evaluation: Evaluation) -> str:
    """Return how far the score is from the threshold, rounded up: a gap never shows as none."""
    missing = max(evaluation.threshold - evaluation.score, Fraction(0))
    return floor(missing + (-missing * 1000 % 1) / 1000, 3)


def format_duration(seconds: float) -> str:
    """Return a duration: "45.2s" below a minute, else whole seconds: "2m16s", "1h0m5s"."""
    tenths = round(max(seconds, 0.0) * 10)
    if tenths < 600:
        return f"{tenths / 10:.1f}s"
    minutes, rest = divmod((tenths + 5) // 10, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"
