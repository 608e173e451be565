"""Texts with thousands of parts: the work grows with their number, not with its square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pytest_reflex.drivers.reflex.scope_guard import RefineInput, outside, scope_of
from pytest_reflex.storage.parts import find_moved, merge
from tests.drivers.reflex.histories import RULES
from tests.verdict.sets import criteria

ISSUE = {"rule_id": "a.x.must", "problem": "Part 3 is thin", "fix_instruction": "more"}


def text(count: int, more: str = "") -> str:
    return "# T\n\n" + "".join(f"## Part {n}\n\ntext {more}{n}\n\n" for n in range(count))


def steps_of(work: Callable[[], object]) -> int:
    """Return how many lines of our own code are run; each turn of a loop is one at least."""
    count = 0

    def trace(frame: FrameType, kind: str, argument: Any) -> Any:
        nonlocal count
        count += kind == "line"
        return trace if "pytest_reflex" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def guard(count: int) -> None:
    old, new = text(count), text(count, "x")
    said = RefineInput(issues=[ISSUE], feedback=(), evaluation=None, criteria=criteria(*RULES))
    named = scope_of(said, old, new).named
    assert len(outside(old, new, named)) == count - len(named)
    merged = merge(old, new, named)
    assert merged is not None
    assert "text x3\n" in merged


def test_the_guard_does_twice_the_work_for_twice_the_parts() -> None:
    guard(4)  # imports
    assert steps_of(lambda: guard(200)) < 2.5 * steps_of(lambda: guard(100))


@pytest.mark.parametrize(
    ("order", "gone"), [("78135", "78"), ("21", "2"), ("12345678", ""), ("8213", "82")]
)
def test_as_few_parts_as_there_can_be_count_as_moved(order: str, gone: str) -> None:
    old = "".join(f"# H{n}\n\nx\n\n" for n in sorted(order))
    new = "".join(f"# H{n}\n\nx\n\n" for n in order)
    assert len(find_moved(old, new, ())) == len(gone)
