"""Notices of a limit as real tools print them, and reports of work that only look like one."""

from __future__ import annotations

import pytest

from pytest_reflex.contracts.limits import is_limit_notice, may_be_limit_notice

# As Claude Code, codex, gemini, copilot, cursor, aider, qwen, kiro and ollama have them.
NOTICES = [
    "You've hit your limit · resets 3pm (UTC)",
    "You have hit your limit, resets 5pm",
    "You've hit your session limit · resets 3:45pm",
    "You've hit your weekly limit · resets Mon 12:00am",
    "You’ve hit your Opus limit · resets Oct 9 at 10am",
    "Claude AI usage limit reached|1760000000",
    "Claude usage limit reached. Your limit will reset at 3pm (Europe/Berlin).",
    "5-hour limit reached ∙ resets 2am",
    "Weekly limit reached ∙ resets Oct 9 at 10am",
    "Spending cap reached resets 3pm",
    "You're out of extra usage · resets 3pm",
    "Credit balance is too low",
    "Your credit balance is too low to access the API.",
    (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & "
        "Billing to upgrade or purchase credits."
    ),
    "API Error: overloaded_error",
    "API Error: Rate limit reached",
    'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}',
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "API Error: Repeated 529 Overloaded errors",
    "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited",
    "You've reached your usage limit. Upgrade to Pro or try again at 5:00 PM.",
    (
        "You've hit your usage limit. Upgrade to Pro (https://example.com/pro), visit "
        "https://example.com/usage to purchase more credits or try again at 5:00 PM."
    ),
    (
        "You've hit your usage limit. To get more access now, send a request to your "
        "admin or try again at 5:00 PM."
    ),
    "stream error: exceeded retry limit, last status: 429 Too Many Requests",
    "exceeded retry limit, last status: 429 Too Many Requests, request id: 9a1b",
    'unexpected status 429 Too Many Requests: {"error": {"message": "slow down"}}',
    "You exceeded your current quota, please check your plan and billing details.",
    "Quota exceeded. Check your plan and billing details.",
    (
        "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): "
        "Limit 30000, Used 29000, Requested 5000. Please try again in 20s."
    ),
    "Selected model is at capacity. Please try a different model.",
    "[API Error: You have exhausted your daily quota on this model.]",
    "You have exhausted your capacity on this model. Your quota will reset after 3h2m1s.",
    "[API Error: Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'per day']",
    "⚡ You have reached your daily gemini-2.5-pro quota limit.",
    "Resource has been exhausted (e.g. check quota).",
    (
        "Sorry, you've hit a rate limit that restricts the number of Copilot model "
        "requests you can make within a specific time period. Please try again in 1 "
        "minute."
    ),
    "You've reached your monthly chat messages limit. Upgrade to continue.",
    "The API provider has rate limited you. Try again later or check your quotas.",
    "litellm.RateLimitError: Rate limit exceeded",
    "Error: 429 Too Many Requests",
    "Error code: 429 - {'error': {'message': 'You exceeded your current quota'}}",
    "Rate limit exceeded.",
    "Too Many Requests",
    "Qwen OAuth quota exceeded: Your free daily quota has been reached.",
    "Monthly request limit reached",
    "The monthly usage limit has been reached.",
    "you've reached your hourly usage limit, please upgrade to continue",
    "Insufficient credits. Add more at https://example.com/credits",
    "You're being rate limited. Please wait.",
]
WORK = [
    "Fixed issue #429.",
    "Done. 429 tests pass.",
    "Removed the overloaded constructor.",
    "The message limit is now 500 characters.",
    "Read the token limit from settings.",
    "Implemented the plan limits page.",
    "Bumped the memory cap at startup to the new limit.",
    "Rate limit reached errors are handled now.",
    "The rate limit is reached after 5 requests, then the client waits.",
    "The rate limit was reached in the test, so I raised it.",
    "I hit the line limit, so I split the function.",
    "We exceeded the budget of 200 lines, so the module is two now.",
    "Added a test for when the quota is exceeded.",
    "The API now returns HTTP 429 Too Many Requests.",
    "Too many requests now give 429.",
    "You have hit your limit message is shown now.",
    "Show 'Rate limit exceeded' on 429.",
    "Fixed: Rate limit exceeded was shown twice.",
    "Rate limit reached banner added.",
    'Users see "You\'ve hit your limit" on the page now.',
    "Renamed overloaded_error to BusyError.",
    "Raised the session limit to 30 minutes.",
    "Wait for the quota page before the upgrade.",
    "Moved the plan to docs/plan.md; see https://example.com.",
    "Reached the end of the list; out of budget checks are next.",
    "The request quota is exceeded only by the bulk import.",
    "Added the usage limit to the settings page. Try again works.",
    "Rate limit exceeded. I stopped and wrote it into notes.md.",
    "429",
    "Overloaded the plus operator.",
    "The credit balance is too low check is in place.",
    "Model limits are in config.toml now.",
    "Session limit reached dialog has a retry button.",
    "Rate limit exceeded for the wrong user is fixed.",
    "Rate limit exceeded tests pass.",
    "HTTP 429 is handled with a back-off.",
    "Weekly limit is 40 hours.",
    "Handled: You've hit your limit · resets 3pm",
    "Quota exceeded is an error of its own class.",
    "Spending limits are checked before each order.",
]
NEAR = "Rate limit exceeded. I stopped and wrote it into notes.md."


@pytest.mark.parametrize("notice", NOTICES)
def test_b084_a_notice_that_a_tool_prints_is_one(notice: str) -> None:
    assert is_limit_notice(notice)
    assert may_be_limit_notice(notice)


@pytest.mark.parametrize("report", WORK)
def test_b084_a_report_of_work_on_limits_is_none(report: str) -> None:
    assert not is_limit_notice(report)


@pytest.mark.parametrize("text", [NEAR, "it broke: HTTP 429", "Upstream: too many requests, bye"])
def test_what_has_the_words_of_a_notice_may_be_one(text: str) -> None:
    assert may_be_limit_notice(text)
    assert not is_limit_notice(text)


@pytest.mark.parametrize("text", ["", *WORK[:3], "rate limit exceeded " * 100])
def test_what_has_not_its_words_or_too_many_may_not(text: str) -> None:
    assert not may_be_limit_notice(text)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mYou've hit your limit\x1b[0m · resets 3pm",
        "\ufeffRate limit exceeded.\x00\n",
        "\x1b]0;claude\x07Too Many Requests\x1b[0m\n\x1b[2K",
    ],
    ids=["colour", "marks", "title"],
)
def test_a_notice_is_seen_through_what_a_terminal_eats(text: str) -> None:
    assert is_limit_notice(text)


@pytest.mark.parametrize("word", ["gpt-5-on-", ".error", "http status  ", "openai ", "claude-"])
def test_a_repeated_word_costs_no_time(word: str) -> None:
    assert not is_limit_notice((word * 600)[:590] + "!x")
