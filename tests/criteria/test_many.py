"""Ten thousand rules in one file: all of them are read, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.criteria.writing import load, problems, rule, rules

pytestmark = pytest.mark.long

COUNT = 10_000


def test_f17_ten_thousand_rules_are_read_each_with_its_line(tmp_path: Path) -> None:
    text = rules(*(rule(f"a.x.n{number}") for number in range(COUNT)))
    found = load(tmp_path, text).rules
    lines = text.split("\n")
    assert len(found) == COUNT
    assert all(
        one.place and f"a.x.n{number}" in lines[one.place.line - 1]
        for number, one in enumerate(found)
    )


def test_f17_of_ten_thousand_faults_a_hundred_are_told(tmp_path: Path) -> None:
    told = problems(tmp_path, rules(*(rule(f"a.x.N{number}") for number in range(COUNT))))
    assert len(told) <= 102
    assert "a.x.N0" in told[0]
