"""Waiting where a tool ran into a rate limit, and trying again.

Promises: a wait ends at once when the run is ending; tries and waits are bounded; what was waited
and what refused tries cost is in the answer. Limits: a wait is not durable: whoever resumes a run
that ended in one begins the step anew, with nothing paid twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Event
from typing import Any

from pytest_reflex.model.plain import counted, one_line
from pytest_reflex.model.steps import Question, Reply

# Returns whether the run is ending; a test has one that does not wait.
Pause = Callable[[float, Event], bool]

NO_WAIT = "no_wait"  # in the details: a limit that no time brings back, such as credit
_SHOWN = 160
_LISTEN = 1.0
_LONG_WAIT = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait: `first` seconds, then twice as long each time, never above `longest`.

    `tries` counts the first one too. A tool that says when its limit ends is waited for until then,
    but not at all where that is longer than `longest_reset`: it would refuse again.
    """

    tries: int = 6
    first: float = 30.0
    longest: float = 900.0
    longest_reset: float = 21_600.0

    def wait(self, refusals: int, asked: float | None) -> float | None:
        """Return the seconds to wait after some refusals (at least one), None to give up."""
        if refusals >= self.tries:
            return None
        if asked is not None and asked > self.longest_reset:
            return None
        own = min(self.first * 2.0 ** (refusals - 1), self.longest)
        if not asked:  # it did not say, or its limit should have ended
            return own
        return max(asked, 1.0)


def patiently(
    ask: Callable[[Question], Reply], question: Question, patience: Patience, pause: Pause
) -> Reply:
    """Ask until there is no limit in the way, the patience is used up, or the run is ending.

    `Reply.details["limited"]` of what `ask` returns says that the tool was refused, `retry_after`
    what it asks to wait. The answer has the tries before it in `details["refused"]`, each with its
    price and the seconds waited after it; where the last one was refused too, it stays `limited`.
    """
    refused: list[dict[str, Any]] = []
    while True:
        reply = ask(question)
        if not reply.details.get("limited") or question.cancel.is_set():
            return _with(reply, refused)
        tries = len(refused) + 1
        asked = reply.details.get("retry_after")
        seconds = None if reply.details.get(NO_WAIT) else patience.wait(tries, asked)
        if seconds is None or _too_long(seconds, reply, refused, question):
            return _with(replace(reply, error=_given_up(reply, tries)), refused)
        why = one_line(reply.error, _SHOWN)
        following = f"try {tries + 1} of {patience.tries}"
        question.tell(f"{reply.agent}: {why}; waiting {_wait_text(seconds)}, then {following}")
        if pause(seconds, question.cancel):
            error = "the wait for a rate limit was ended because the run is ending"
            return _with(replace(reply, error=error), refused)
        price = {"seconds": reply.seconds, "usd": reply.usd, "tokens": reply.tokens}
        refused.append({**price, "waited": seconds})


def _wait_text(seconds: float) -> str:
    """Return a wait as people read it: a long one has the time of day when it ends."""
    if seconds < _LONG_WAIT:
        return f"{seconds:g} s"
    ends = datetime.now().astimezone() + timedelta(seconds=seconds)
    return f"{round(seconds / 60)} min (until {ends:%H:%M})"


def wait_or_cancel(seconds: float, cancel: Event) -> bool:
    """Wait; return at once, and whether the run is ending, where it is."""
    until = time.monotonic() + seconds
    # In short waits: a signal that comes in the moment before one is heard after it.
    while not cancel.is_set() and (left := until - time.monotonic()) > 0:
        cancel.wait(min(left, _LISTEN))
    return cancel.is_set()


def _too_long(
    seconds: float, reply: Reply, refused: list[dict[str, Any]], question: Question
) -> bool:
    """Return whether a wait goes beyond what is left of the budget in seconds."""
    if question.seconds_left is None:
        return False
    spent = reply.seconds + sum(one["seconds"] + one["waited"] for one in refused)
    return bool(spent + seconds >= question.seconds_left)


def _given_up(reply: Reply, tries: int) -> str:
    asked = reply.details.get("retry_after")
    wanted = f"; it asks to wait {asked:g} s" if asked else ""
    if reply.details.get(NO_WAIT):
        wanted = "; no wait ends it"
    many = counted(tries, "try", "tries")
    return f"{reply.error} ({many}{wanted})"


def _with(reply: Reply, refused: list[dict[str, Any]]) -> Reply:
    if not refused:
        return reply
    return replace(reply, details={**reply.details, "refused": refused})
