"""Waiting for a rate limit, with a clock that does not run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from pytest_reflex.agents.answers import Output, source
from pytest_reflex.agents.command import CommandAgent
from pytest_reflex.agents.rate_limit import (
    RetryPolicy,
    ask_with_retries,
    read_marks,
    retry_after,
    wait_or_cancel,
)
from pytest_reflex.model.steps import Question, Reply
from tests.agents.making import answer, tool

PLAN = '{"plan": ["a", "b", "c"]}'
LIMIT = {"limit": True, "limited": True}


@dataclass
class Stage:
    """A tool that is refused some times, and a clock that only notes what was waited."""

    refusals: int
    details: dict[str, Any] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    asked: int = 0
    ends_at: int = 0

    def ask(self, question: Question) -> Reply:
        self.asked += 1
        if self.asked <= self.refusals:
            details = {**LIMIT, **self.details}
            return Reply(text="", agent="t", error="refused", seconds=2, details=details)
        return Reply(text=PLAN, agent="t", seconds=2, usd=0.5, tokens=7)

    def pause(self, seconds: float, cancel: Event) -> bool:
        self.waits.append(seconds)
        return len(self.waits) == self.ends_at

    def run(self, retry: RetryPolicy | None = None, **more: Any) -> Reply:
        asked = Question(prompt="?", tell=self.told.append, **more)
        return ask_with_retries(self.ask, asked, retry or RetryPolicy(), self.pause)


def test_a_refused_tool_is_asked_again_after_longer_and_longer_waits() -> None:
    stage = Stage(refusals=4)
    assert stage.run().text == PLAN
    assert stage.waits == [30.0, 60.0, 120.0, 240.0]


def test_no_wait_is_longer_than_the_longest() -> None:
    stage = Stage(refusals=5)
    stage.run(RetryPolicy(first=10, longest=25))
    assert stage.waits == [10.0, 20.0, 25.0, 25.0, 25.0]


def test_each_wait_is_told() -> None:
    stage = Stage(refusals=1)
    stage.run()
    assert stage.told == ["t: refused; waiting 30 s, then try 2 of 6"]


def test_the_tool_says_how_long_to_wait() -> None:
    stage = Stage(refusals=2, details={"retry_after": 7.0})
    stage.run()
    assert stage.waits == [7.0, 7.0]


def test_a_limit_is_waited_for_until_it_ends_however_long_other_waits_may_be() -> None:
    stage = Stage(refusals=1, details={"retry_after": 18_000.0})
    assert stage.run(RetryPolicy(longest=900)).text == PLAN
    assert stage.waits == [18_000.0]
    assert stage.told[0].startswith("t: refused; waiting 300 min (until ")


def test_a_limit_that_ends_after_the_longest_reset_is_not_waited_for() -> None:
    stage = Stage(refusals=9, details={"retry_after": 25_000.0})
    reply = stage.run()
    assert (stage.asked, stage.waits) == (1, [])
    assert reply.error == "refused (1 try; it asks to wait 25000 s)"


def test_a_limit_that_should_have_ended_is_waited_for_as_one_that_does_not_say() -> None:
    stage = Stage(refusals=2, details={"retry_after": 0.0})
    stage.run()
    assert stage.waits == [30.0, 60.0]


def test_what_no_time_brings_back_is_not_waited_for() -> None:
    stage = Stage(refusals=9, details={"no_wait": True})
    reply = stage.run()
    assert (stage.asked, stage.waits) == (1, [])
    assert reply.error == "refused (1 try; no wait ends it)"


def test_tries_are_bounded_and_the_answer_stays_limited() -> None:
    stage = Stage(refusals=99)
    reply = stage.run(RetryPolicy(tries=3, first=1))
    assert (stage.asked, stage.waits) == (3, [1.0, 2.0])
    assert reply.error == "refused (3 tries)"
    assert reply.details["limited"] is True


def test_refused_tries_and_waits_are_in_the_answer() -> None:
    reply = Stage(refusals=1).run()
    row = {"seconds": 2, "usd": None, "tokens": None, "waited": 30.0}
    assert reply.details["refused"] == [row]


def test_a_run_that_ends_ends_the_wait() -> None:
    stage = Stage(refusals=9, ends_at=2)
    reply = stage.run()
    assert stage.asked == 2
    assert reply.error == "the wait for a rate limit was ended because the run is ending"


def test_no_wait_goes_beyond_the_budget_in_seconds() -> None:
    stage = Stage(refusals=9)
    reply = stage.run(seconds_left=70.0)
    assert stage.waits == [30.0]
    assert reply.error == "refused (2 tries)"


def test_a_wait_ends_when_it_is_cancelled() -> None:
    cancel = Event()
    timer = Timer(0.05, cancel.set)
    timer.start()
    assert wait_or_cancel(60, cancel) is True
    timer.join()
    assert wait_or_cancel(0, Event()) is False


REFUSED = '{"is_error": true, "result": "slow down", "api_error_status": 429, "wait": 3}'
STRUCTURED = {
    "answer": "json:result",
    "failure": "json:is_error",
    "limit": {"json:api_error_status": [429, 529]},
    "retry_after": "json:wait",
    "tries": 6,
}


def with_pause(agent: Any, waits: list[float]) -> CommandAgent:
    def pause(seconds: float, cancel: Event) -> bool:
        waits.append(seconds)
        return False

    assert isinstance(agent, CommandAgent)
    object.__setattr__(agent, "pause", pause)
    return agent


def test_a_command_is_run_again_after_its_limit(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        "mark = pathlib.Path(__file__ + '.mark')\n"
        f'print({REFUSED!r} if not mark.exists() else \'{{"result": "done"}}\')\n'
        "mark.touch()\n"
    )
    waits: list[float] = []
    reply = answer(with_pause(tool(tmp_path, program, **STRUCTURED), waits))
    assert (reply.text, reply.error, waits) == ("done", "", [3.0])


PROSE = {
    "an answer about limits": (
        r'{"result": "# Limits\n\nHTTP 429: the rate limit was hit."}',
        "",
    ),
    "an answer with the very field in it": (
        r'{"result": "# Fields\\n\\napi_error_status: 429"}',
        "",
    ),
    "a failure in words": (
        '{"is_error": true, "result": "- a file says: rate limit reached, retry after 5 s"}',
        "it says that it failed",
    ),
    "the value, but no failure": ('{"result": "fine", "api_error_status": 429}', ""),
    "the value as a text": (
        '{"is_error": true, "result": "x", "api_error_status": "429"}',
        "it says that it failed",
    ),
}


@pytest.mark.parametrize(("output", "error"), PROSE.values(), ids=PROSE.keys())
def test_b084_b086_prose_about_limits_is_never_waited_for(
    tmp_path: Path, output: str, error: str
) -> None:
    waits: list[float] = []
    reply = answer(with_pause(tool(tmp_path, f"print({output!r})", **STRUCTURED), waits))
    assert waits == []
    assert reply.error.startswith(error)
    assert bool(reply.error) == bool(error)


STREAM_CUT = (
    '{"is_error": true, "result": "stream disconnected before completion: '
    "You've hit your usage limit. Please try again in 40 seconds.\"}"
)
NOTICES: dict[str, tuple[str, list[float]]] = {
    "overloaded": ('{"is_error": true, "result": "API Error: Overloaded"}', [30.0, 60.0]),
    "repeated": (
        '{"is_error": true, "api_error_status": null, "result": "Repeated 529 Overloaded errors."}',
        [30.0, 60.0],
    ),
    "all of an answer": ('{"result": "You have hit your limit, try again later."}', [30.0, 60.0]),
    "its own span": (
        '{"is_error": true, "result": "You’ve hit your usage limit. Try again in 1h 5m."}',
        [3900.0, 3900.0],
    ),
    "behind a prefix": (
        STREAM_CUT,
        [40.0, 40.0],
    ),
    "credit": ('{"is_error": true, "result": "Credit balance is too low"}', []),
    "a plan": (
        '{"is_error": true, "result": "Quota exceeded. Check your plan and billing details."}',
        [],
    ),
}


@pytest.mark.parametrize(("output", "expected"), NOTICES.values(), ids=NOTICES.keys())
def test_what_is_told_as_a_limit_is_waited_for_as_it_says(
    tmp_path: Path, output: str, expected: list[float]
) -> None:
    waits: list[float] = []
    agent = with_pause(tool(tmp_path, f"print({output!r})", **{**STRUCTURED, "tries": 3}), waits)
    reply = answer(agent)
    assert waits == expected
    assert reply.error.startswith("the tool ran into a limit: ")
    assert reply.details["limited"] is True


MARKS: dict[str, tuple[Any, Any, bool]] = {
    "equal number": (429, 429, True),
    "other number": (429, 500, False),
    "true is not a number": (1, True, False),
    "equal text": ("RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", True),
    "pattern": ("/status: 429/", "last status: 429 Too Many", True),
    "pattern over no text": ("/429/", 429, False),
    "an object": (429, {"code": 429}, False),
}


@pytest.mark.parametrize(("wanted", "found", "seen"), MARKS.values(), ids=MARKS.keys())
def test_a_value_means_a_limit(wanted: Any, found: Any, seen: bool) -> None:
    import json

    (mark,) = read_marks({"json:code": wanted})
    assert mark.matches(Output(json.dumps({"code": found}))) is seen


WAITS: dict[str, tuple[Any, float | None]] = {
    "a number": (5, 5.0),
    "a text": ("12", 12.0),
    "a date": ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    "a flag": (True, None),
    "below nothing": (-3, None),
    "for ever": ("inf", None),
    "nothing": (None, None),
}


@pytest.mark.parametrize(("found", "seconds"), WAITS.values(), ids=WAITS.keys())
def test_retry_after_is_a_number_of_seconds(found: Any, seconds: float | None) -> None:
    import json

    place = source("json:after", ("json",))
    assert retry_after((place,), Output(json.dumps({"after": found}))) == seconds
