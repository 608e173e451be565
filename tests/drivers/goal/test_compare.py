"""Comparisons, and the number that an output has for one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from pytest_reflex.drivers.goal.claims import number_in, parse_comparison
from pytest_reflex.errors import UsageError


@pytest.mark.parametrize(
    ("text", "name", "op", "number", "unit"),
    [
        ("p95 < 100 ms", "p95", "<", 100, "ms"),
        ("p95<100ms", "p95", "<", 100, "ms"),
        (">= 90", "", ">=", 90, ""),
        ("coverage ≥ 92.5 %", "coverage", "≥", Fraction(185, 2), "%"),
        ("rows == 1,000,000", "rows", "==", 1_000_000, ""),
        ("error rate <= 1e-3", "error rate", "<=", Fraction(1, 1000), ""),
        ("drift > -2", "drift", ">", -2, ""),
        ("failures = 0", "failures", "=", 0, ""),
        ("failures != 3", "failures", "!=", 3, ""),
    ],
)
def test_a_comparison_is_read(text: str, name: str, op: str, number: Any, unit: str) -> None:
    found = parse_comparison(text)
    assert (found.name, found.op, found.number, found.unit) == (name, op, number, unit)


@pytest.mark.parametrize("text", ["", "fast", "p95 100 ms", "< ms", "p95 < many", "a < b < 3 4"])
def test_what_compares_nothing_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="p95 < 100 ms"):
        parse_comparison(text)


@pytest.mark.parametrize(
    ("compare", "output", "number"),
    [
        ("p95 < 100 ms", "p50: 12 ms\np95: 87 ms\np99: 240 ms\n", 87),
        ("p95 < 100 ms", "p95 = 0.087 s", 87),
        ("p95 < 100 ms", "p95: 87", 87),
        ("p95 < 100 ms", "P95 latency is 87 ms (of 1,000 requests)", 87),
        ("p95 < 100 ms", "p95: 120 ms\nwarm\np95: 80 ms", 80),
        ("p95 < 100 ms", "87\n", 87),
        ("p95 < 100 ms", "p950: 87 ms", None),
        ("p95 < 100 ms", "all is well", None),
        ("p95 < 100 ms", "12 requests, 87 of them fast", None),
        ("p95 < 100 ms", "p95: 87 MB", None),
        (">= 90 %", "TOTAL 120 10 92%", 92),
        (">= 90", "", None),
        (">= 90", "version v3 of 91", 91),
        ("size < 2 MB", "size: 1500 KB", Fraction(3, 2)),
        ("drift > -2", "drift: -1.5", Fraction(-3, 2)),
        ("rows >= 5", "rows: 1,234,567", 1_234_567),
    ],
)
def test_the_number_of_an_output(compare: str, output: str, number: Fraction | None) -> None:
    assert number_in(output, parse_comparison(compare)) == number


@pytest.mark.parametrize(
    ("compare", "below", "equal", "above"),
    [
        ("< 5", True, False, False),
        ("<= 5", True, True, False),
        ("≤ 5", True, True, False),
        ("> 5", False, False, True),
        (">= 5", False, True, True),
        ("≥ 5", False, True, True),
        ("== 5", False, True, False),
        ("!= 5", True, False, True),
    ],
)
def test_each_operator_at_its_boundary(compare: str, below: bool, equal: bool, above: bool) -> None:
    wanted = parse_comparison(compare)
    assert [wanted.holds(Fraction(n)) for n in (4, 5, 6)] == [below, equal, above]
