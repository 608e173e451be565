"""Rate limits of an AI tool: how one is recognised, when it ends, and waiting for that.

Understood are seconds since 1970 (`|1753088400`), a span (`try again in 1h 5m`), a time of day with
or without a day and a time zone (`resets Jul 12, 9pm (Europe/Paris)`), and ISO 8601.

`limit` of an agent maps places to the values that mean one; a text between slashes is a pattern
over a field that carries an error message. It is looked at only where the tool says that it failed.

Promises: a wait ends at once when the run is ending; tries and waits are bounded; what was waited
and what refused tries cost is in the answer. Limits: a wait is not durable: whoever resumes a run
that ended in one begins the step anew, with nothing paid twice.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

from pytest_reflex.agents.answers import STRUCTURED, Output, OutputSource, source, values
from pytest_reflex.model.plain import one_line, pluralize
from pytest_reflex.model.steps import Question, Reply
from pytest_reflex.search.patterns import SearchError, compile_pattern

_JUST_PASSED = timedelta(minutes=10)  # a time that was named to the minute, asked about after it
_LONGEST = timedelta(days=400)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_EPOCH = re.compile(r"\|\s*(\d{10})(?:\d{3})?\b")
_ISO = re.compile(
    r"\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z\b|UTC\b|[+-]\d\d:?\d\d)?"
)
_AMOUNT = r"(\d+(?:\.\d+)?)\s*({unit})(?![a-z])"
_UNITS = {
    "days": r"days?|d",
    "hours": r"hours?|hrs?|h",
    "minutes": r"minutes?|mins?|m",
    "seconds": r"seconds?|secs?|s",
    "milliseconds": r"milliseconds?|ms",
}
_SPAN = re.compile(
    r"\b(?:in|after|for|wait)\W+(?:about\s+|approximately\s+|another\s+|~\s*)?"
    r"((?:\d+(?:\.\d+)?\s*(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|"
    r"milliseconds?|ms)(?![a-z])[\s,]*(?:and\s+)?)+)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"""\b(?:resets?|again|until|available|renews?|back|on|at)\b\W*(?:\b(?:at|on)\b\W*)?
    (?:(?P<month>{"|".join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?
        (?:,?\s+(?P<year>\d{{4}}))?(?:,|\s)\s*(?:at\s+)?
    | (?P<weekday>{"|".join(_DAYS)})[a-z]*,?\s+(?:at\s+)?
    | (?P<tomorrow>tomorrow)\s*,?\s*(?:at\s+)?)?
    (?P<hour>\d{{1,2}})(?::(?P<minute>\d\d))?(?::\d\d)?\s*(?P<half>[ap]\.?m\b\.?)?
    (?:\s*\(?(?P<zone>[A-Z][A-Za-z_]+/[A-Za-z_/+-]+|UTC|GMT)\)?)?""",
    re.IGNORECASE | re.VERBOSE,
)


def seconds_until_reset(text: str, now: datetime) -> float | None:
    """Return the seconds until a notice says that its limit ends; None where it does not say.

    A time that has just passed is 0. `now` has a time zone, which is that of times without one.
    """
    for read in (_epoch, _iso, _clock):
        if (at := read(text, now)) is not None:
            left = at - now
            return None if left > _LONGEST else max(float(math.ceil(left.total_seconds())), 0.0)
    return _span(text)


def _epoch(text: str, now: datetime) -> datetime | None:
    found = _EPOCH.search(text)
    return datetime.fromtimestamp(int(found[1]), UTC) if found else None


def _iso(text: str, now: datetime) -> datetime | None:
    found = _ISO.search(text)
    if not found:
        return None
    try:
        at = datetime.fromisoformat(f"{found[1]}T{found[2]}")
        zone = found[3] or ""
        if zone in ("Z", "UTC"):
            return at.replace(tzinfo=UTC)
        return at.replace(tzinfo=datetime.strptime(zone, "%z").tzinfo if zone else now.tzinfo)
    except ValueError:
        return None


def _span(text: str) -> float | None:
    if not (found := _SPAN.search(text)):
        return None
    parts: dict[str, float] = {}
    for name, unit in _UNITS.items():
        for amount in re.finditer(_AMOUNT.format(unit=unit), found[1], re.IGNORECASE):
            parts[name] = parts.get(name, 0.0) + float(amount[1])
    try:
        return timedelta(**parts).total_seconds()
    except OverflowError:
        return None


def _clock(text: str, now: datetime) -> datetime | None:
    for found in _CLOCK.finditer(text):
        is_time = found["half"] or found["minute"]
        if is_time and (at := _at(found, now)) is not None:
            return at
    return None


def _at(found: re.Match[str], now: datetime) -> datetime | None:
    """Return the next time that a time of day, and a day where there is one, means."""
    here = now.astimezone(_zone(found["zone"]) or now.tzinfo)
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    try:
        at = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if found["month"]:
            month = _MONTHS.index(found["month"].lower()) + 1
            at = at.replace(year=int(found["year"] or at.year), month=month, day=int(found["day"]))
            if not found["year"] and at < here - timedelta(days=180):
                at = at.replace(year=at.year + 1)
            return at
    except ValueError:
        return None
    if found["weekday"]:
        ahead = (_DAYS.index(found["weekday"].lower()) - at.weekday()) % 7
        at += timedelta(days=ahead)
        return at if at > here - _JUST_PASSED else at + timedelta(days=7)
    if found["tomorrow"]:
        return at + timedelta(days=1)
    return at if at > here - _JUST_PASSED else at + timedelta(days=1)


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    try:
        return UTC if name.upper() in ("UTC", "GMT") else ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # no such zone, or no data of zones on this machine
        return None


_MOST_SECONDS = 1e9
_MOST_SEARCHED = 10_000
_SEARCH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class LimitMark:
    """A place, and the values there that mean that a limit was reached."""

    place: OutputSource
    wanted: tuple[int | str, ...]

    def matches(self, output: Output) -> bool:
        return any(
            _is(found, wanted) for found in values(self.place, output) for wanted in self.wanted
        )

    def texts(self, output: Output) -> Iterator[str]:
        """Yield the values at the place that are meant; of one with a group, what that holds."""
        for found in values(self.place, output):
            wanted = [one for one in self.wanted if _is(found, one)]
            if wanted:
                yield _part(str(found), wanted[0])


def read_marks(value: Any, kinds: tuple[str, ...] = STRUCTURED) -> tuple[LimitMark, ...]:
    """Read `limit` of an agent's table; raises ValueError with what it must be."""
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a table of places with values, not {value!r}")
    return tuple(
        LimitMark(source(place, kinds), _parse_values(found)) for place, found in value.items()
    )


def _parse_values(value: Any) -> tuple[int | str, ...]:
    found = value if isinstance(value, list) else [value]
    for item in found:
        if isinstance(item, bool) or not isinstance(item, int | str) or item == "":
            raise ValueError(f"must have numbers or texts as values, not {item!r}")
        if isinstance(item, str) and (pattern := _pattern(item)) is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"has a pattern that is none: {item!r}: {error}") from None
    if not found:
        raise ValueError("needs at least one value for each place")
    return tuple(found)


def _is(found: Any, wanted: int | str) -> bool:
    if isinstance(found, bool):
        return False
    if isinstance(wanted, str) and (pattern := _pattern(wanted)) is not None:
        return isinstance(found, str) and _search_text(pattern, found) is not None
    return bool(found == wanted)


def _part(found: str, wanted: int | str) -> str:
    pattern = _pattern(wanted) if isinstance(wanted, str) else None
    grouped = pattern and re.compile(pattern).groups
    return (_search_text(pattern, found, r"\1") if pattern and grouped else None) or found


def _search_text(pattern: str, text: str, template: str = "") -> str | None:
    """Return what a pattern finds first, None for nothing, also where it takes too long."""
    try:
        found = compile_pattern(pattern).expand(
            text[:_MOST_SEARCHED], template, limit=1, seconds=_SEARCH_SECONDS
        )
    except SearchError:
        return None
    return found[0][2] if found else None


def _pattern(wanted: str) -> str | None:
    return wanted[1:-1] if len(wanted) > 2 and wanted[0] == wanted[-1] == "/" else None


def retry_after(places: tuple[OutputSource, ...], output: Output) -> float | None:
    """Return how many seconds a tool asks to wait, None where it does not say."""
    for place in places:
        for found in values(place, output):
            try:
                seconds = float(found) if isinstance(found, int | float | str) else -1.0
            except ValueError:
                continue
            if not isinstance(found, bool) and 0 <= seconds <= _MOST_SECONDS:
                return seconds
    return None


# Returns whether the run is ending; a test has one that does not wait.
Pause = Callable[[float, Event], bool]

NO_WAIT = "no_wait"  # in the details: a limit that no time brings back, such as credit
_SHOWN = 160
_LISTEN = 1.0
_LONG_WAIT = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
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


def ask_with_retries(
    ask: Callable[[Question], Reply], question: Question, retry: RetryPolicy, pause: Pause
) -> Reply:
    """Ask until there is no limit in the way, the tries are used up, or the run is ending.

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
        seconds = None if reply.details.get(NO_WAIT) else retry.wait(tries, asked)
        if seconds is None or _too_long(seconds, reply, refused, question):
            return _with(replace(reply, error=_give_up_message(reply, tries)), refused)
        why = one_line(reply.error, _SHOWN)
        following = f"try {tries + 1} of {retry.tries}"
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
    # In short waits: a signal that arrives just before a wait is handled after it.
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


def _give_up_message(reply: Reply, tries: int) -> str:
    asked = reply.details.get("retry_after")
    wanted = f"; it asks to wait {asked:g} s" if asked else ""
    if reply.details.get(NO_WAIT):
        wanted = "; no wait ends it"
    many = pluralize(tries, "try", "tries")
    return f"{reply.error} ({many}{wanted})"


def _with(reply: Reply, refused: list[dict[str, Any]]) -> Reply:
    if not refused:
        return reply
    return replace(reply, details={**reply.details, "refused": refused})
