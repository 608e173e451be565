"""What is said before a loop begins: how many calls it may take."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.drivers.reflex.driver import ReflexLoop
from pytest_reflex.model.enums import Step
from pytest_reflex.model.run import Limits
from pytest_reflex.reports.proposal import most_calls, proposal_text
from tests.drivers.reflex.histories import RULES
from tests.drivers.reflex.stage import Script, Stage, history_of, issues
from tests.verdict.sets import criteria

PAID = dict.fromkeys(Step, "writer")


@pytest.mark.parametrize(("produce", "count", "saved"), [("always", 14, 3), ("first", 11, 0)])
def test_calls_are_counted_and_what_is_saved_is_said(produce: str, count: int, saved: int) -> None:
    text = proposal_text(criteria(*RULES), Limits(produce=produce), PAID)
    assert f"Calls: up to {count} without retries" in text
    assert (f"--produce first saves {saved}" in text) == bool(saved)


def test_nothing_is_said_of_calls_that_are_free() -> None:
    assert "Calls:" not in proposal_text(criteria(*RULES), Limits(), dict.fromkeys(Step, "offline"))


@pytest.mark.parametrize("produce", ["always", "first"])
def test_a_loop_to_its_limit_takes_as_many_calls_as_were_said(produce: str, tmp_path: Path) -> None:
    texts = [f"{word}\n" for word in "abcdefghijkl"]
    script = Script(produce=texts[::2], refine=texts[1::2], critique=issues("a.x.alpha"))
    flags = {"loop.produce": produce, "loop.blocker_stagnation": 0}
    with Stage(tmp_path).begin(script, flags) as loop:
        list(history_of(loop))
        assert len(script.requests) == said(loop)


def said(loop: ReflexLoop) -> int:
    return most_calls(loop.state.criteria, loop.state.limits, PAID)
