"""Numbers as people read them: rounded down, so that a miss never looks like a hit."""

from __future__ import annotations

from fractions import Fraction

from pytest_reflex.model.results import Evaluation


def floor(value: Fraction, digits: int) -> str:
    """Return `value` (>= 0) with `digits` decimals, rounded down."""
    scaled = value.numerator * 10**digits // value.denominator
    whole, rest = divmod(scaled, 10**digits)
    return f"{whole}.{rest:0{digits}d}"


def plain(value: Fraction) -> str:
    """Return an exact decimal where there is a short one, else a fraction: 0.85, 2, 1/3."""
    for digits in range(13):
        if (value * 10**digits).denominator == 1:
            return floor(value, digits) if digits else str(value.numerator)
    return f"{value.numerator}/{value.denominator}"


def shown_score(score: Fraction) -> str:
    """Return a score with 3 decimals; rounded down, it is never shown as a threshold it missed."""
    return floor(score, 3)


def arithmetic(evaluation: Evaluation) -> str:
    """Return how the score came about, in weights: "7/11"."""
    earned = sum((r.rule.weight for r in evaluation.results if r.passed), Fraction(0))
    total = sum((r.rule.weight for r in evaluation.results), Fraction(0))
    return f"{plain(earned)}/{plain(total)}"


def gap(evaluation: Evaluation) -> str:
    """Return how far the score is from the threshold, rounded up: a gap never shows as none."""
    missing = max(evaluation.threshold - evaluation.score, Fraction(0))
    return floor(missing + (-missing * 1000 % 1) / 1000, 3)
