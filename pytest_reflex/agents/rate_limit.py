"""When a limit ends, as the notice of a tool says it: pure.

Understood are seconds since 1970 (`|1753088400`), a span (`try again in 1h 5m`), a time of day with
or without a day and a time zone (`resets Jul 12, 9pm (Europe/Paris)`), and ISO 8601.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

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
