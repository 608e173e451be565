"""When a limit ends, as real tools write it."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pytest_reflex.agents.rate_limit import seconds_until_reset

NOW = datetime(2026, 11, 28, 21, 40, tzinfo=ZoneInfo("Europe/Berlin"))
HOUR = 3600.0
NAMED = {
    "Claude AI usage limit reached|1795900000": 1600.0,
    "You've hit your limit \u00b7 resets 11:30pm (Europe/Berlin)": 1 * HOUR + 50 * 60,
    "You've hit your session limit \u00b7 resets 4:40am (Asia/Dhaka)": 2 * HOUR,
    "Claude usage limit reached. Your limit will reset at 5pm (America/Bogota).": 80 * 60,
    "Limits will reset at 9:30 AM. View your usage details.": 11 * HOUR + 50 * 60,
    "You've hit your weekly limit \u00b7 resets Dec 2, 9pm (Europe/Berlin)": 95 * HOUR + 20 * 60,
    "resets Mon 3pm": 41 * HOUR + 20 * 60,
    "resets tomorrow at 3pm": 17 * HOUR + 20 * 60,
    "resets at 23:00 (UTC)": 2 * HOUR + 20 * 60,
    "or try again at Nov 30th, 2026 3:05 PM.": 41 * HOUR + 25 * 60,
    "purchase more credits or try again at 11:39 PM.": 119 * 60,
    "resets at 2026-11-29T01:00:00Z": 4 * HOUR + 20 * 60,
    "available again at 2026-11-28 23:39 UTC": 2 * HOUR + 59 * 60,
    "Please try again in 11.054s.": 11.054,
    "try again in 850ms": 0.85,
    "try again in 1h 5m": HOUR + 5 * 60,
    "try again in 2 hours 5 minutes": 2 * HOUR + 5 * 60,
    "in 3 days 5 hours": 77 * HOUR,
    "Your quota will reset after 4h32m3s.": 4 * HOUR + 32 * 60 + 3,
    "retry after 30 seconds": 30.0,
    "Please wait 20 minutes": 20 * 60.0,
    "resets 9:35pm": 0.0,
}
NOT_NAMED = [
    "",
    "Quota exceeded.",
    "try again later",
    "rate limit (429) at 5",
    "Limit 30000, Used 30000",
    "resets at 25:77",
    "resets Feb 31, 9pm",
    "1795900000",
]


@pytest.mark.parametrize(("text", "seconds"), NAMED.items(), ids=range(len(NAMED)))
def test_a_notice_says_when_its_limit_ends(text: str, seconds: float) -> None:
    assert seconds_until_reset(text, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize("text", NOT_NAMED, ids=range(len(NOT_NAMED)))
def test_a_text_that_names_no_time_has_none(text: str) -> None:
    assert seconds_until_reset(text, NOW) is None


def test_a_time_that_passed_long_ago_is_that_of_tomorrow() -> None:
    assert seconds_until_reset("resets 9pm", NOW) == 23 * HOUR + 20 * 60


def test_a_zone_that_does_not_exist_is_that_of_this_machine() -> None:
    assert seconds_until_reset("resets 11pm (Nowhere/Land)", NOW) == 80 * 60


def test_a_month_that_has_passed_is_that_of_the_next_year() -> None:
    december = NOW + timedelta(days=30)
    assert seconds_until_reset("resets Jan 2, 9pm", december) == 4 * 24 * HOUR + 23 * HOUR + 20 * 60


@pytest.mark.parametrize("word", ["in 1h ", "resets ", "12:30 ", "at 5 ", "| 1 "])
def test_a_repeated_word_costs_no_time(word: str) -> None:
    seconds_until_reset((word * 6000)[:10_000], NOW)
