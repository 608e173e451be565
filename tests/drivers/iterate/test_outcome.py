"""What an iteration came to: the agent's end, its answer, its signals, and the gates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.decide import (
    IterationOutcome,
    Promise,
    doubt,
    outcome_of_answer,
    outcome_with_gates,
    parse_promise,
    unread_feedback,
)
from pytest_reflex.drivers.iterate.model import FailureCause, GateResult, IterationGate
from pytest_reflex.model.plain import strip_ansi
from pytest_reflex.model.steps import Reply

YES, NO = "<promise>SUCCESS</promise>", "<promise>FAILURE</promise>"


def reply(text: str = "did it", error: str = "", **details: object) -> Reply:
    return Reply(text=text, agent="tool", error=error, details=details)


@pytest.mark.parametrize(
    ("answer", "cause", "detail"),
    [
        (reply(), None, ""),
        (
            reply(end="timed out", error="no answer within 2 s"),
            FailureCause.TIMED_OUT,
            "within 2 s",
        ),
        (
            reply(end="not started", error="no such program"),
            FailureCause.SPAWN_ERROR,
            "no such program",
        ),
        (reply(end="exit", exit=1, error="it left"), FailureCause.EXIT, "exit 1"),
        (reply(end="exit", exit=-9, error="it left"), FailureCause.EXIT, "signal 9"),
        (
            reply(end="exit", exit=1, limited=True, error="a limit"),
            FailureCause.LIMIT_NOTICE,
            "a limit",
        ),
        (reply(end="timed out", limited=True, error="529"), FailureCause.LIMIT_NOTICE, "529"),
        (reply(text=" \n", error=""), FailureCause.EMPTY, ""),
        (reply(text="", error="it answered nothing", silent=True), FailureCause.EMPTY, ""),
        (reply(error="its answer is not UTF-8"), FailureCause.UNUSABLE, "not UTF-8"),
        (
            reply(end="stopped", error="it wrote more than"),
            FailureCause.UNUSABLE,
            "it wrote more than",
        ),
        (reply(limited=True, error="the tool ran into a limit: x"), FailureCause.LIMIT_NOTICE, "x"),
        (reply(text=f"no way\n{NO}\n"), FailureCause.PROMISED_FAILURE, "no way"),
        (reply(text=f"first\nno key\n\n{YES}\n{NO}\n"), FailureCause.PROMISED_FAILURE, "no key"),
        (reply(text=NO), FailureCause.PROMISED_FAILURE, ""),
        (
            reply(text=f"no key\n{NO}\nor so\n{YES}"),
            FailureCause.PROMISED_FAILURE,
            "no key (followed by SUCCESS",
        ),
        (reply(text="\x1b[0m\x1b[2K"), FailureCause.EMPTY, ""),
        (reply(text="\0\0\n\u200b"), FailureCause.EMPTY, ""),
        (reply(text="\x1b[31mRate limit exceeded\x1b[0m"), FailureCause.LIMIT_NOTICE, "Rate limit"),
        (reply(text="Fixed issue #429."), None, ""),
    ],
    ids=lambda value: str(value) if isinstance(value, FailureCause) else "",
)
def test_an_answer_fails_for_a_cause(
    answer: Reply, cause: FailureCause | None, detail: str
) -> None:
    found = outcome_of_answer(answer, offers_success=True)
    assert found.cause is cause
    assert detail in found.detail


def test_b084_a_limit_notice_with_exit_0_is_a_failure() -> None:
    found = outcome_of_answer(reply("You have hit your limit, resets 5pm"), offers_success=True)
    assert found.cause is FailureCause.LIMIT_NOTICE
    assert "resets 5pm" in found.detail


@pytest.mark.parametrize(
    ("text", "changed", "told"),
    [
        ("Rate limit exceeded. I stopped.", False, True),
        ("Rate limit exceeded. I stopped.", None, True),
        ("Rate limit exceeded. I stopped.", True, False),
        ("Fixed issue #429.", False, False),
    ],
)
def test_b084_where_nothing_was_done_a_near_notice_is_told(
    text: str, changed: bool | None, told: bool
) -> None:
    line = f"The answer may be a notice of a limit, and counts as work: {text}"
    assert doubt(text, changed=changed) == (line if told else "")


def test_b086_a_timeout_is_a_timeout_whatever_was_echoed() -> None:
    answer = reply(
        "the 5-hour limit was reached", end="timed out", error="no answer", limited=False
    )
    assert outcome_of_answer(answer, offers_success=True).cause is FailureCause.TIMED_OUT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (YES, Promise.SUCCESS),
        (f"all done\n\n  {YES}  \r\n\n", Promise.SUCCESS),
        (NO, Promise.FAILURE),
        (f"{YES}\n{NO}", Promise.FAILURE),
        (f"{NO}\n{YES}", Promise.FAILURE),
        (f"{NO}\nI was wrong\n{YES}", Promise.FAILURE),
        (f"I give no {NO} yet\n{YES}", Promise.SUCCESS),
        (f"{NO}\nI was wrong", None),
        (f"\x1b[31m{NO}\x1b[0m", Promise.FAILURE),
        (f"\x1b[32m{YES}\x1b[0m\n\x1b[0m\n", Promise.SUCCESS),
        (f"\ufeff{YES}\u200b\x00", Promise.SUCCESS),
        (f"{YES}\n\x1b[0m\x1b[2K", Promise.SUCCESS),
        (f"done {YES}", None),
        (f"{YES}.", None),
        (f"`{YES}`", None),
        (f"```\n{YES}\n```", None),
        (f"{YES}\nAnything else?", None),
        ("<promise>success</promise>", None),
        (f"{YES} {YES}", None),
        ("", None),
    ],
)
def test_a_signal_counts_alone_at_the_end(text: str, said: Promise | None) -> None:
    assert parse_promise(text) is said


@settings(deadline=None, max_examples=50)
@given(st.text(), st.text(min_size=1).filter(lambda text: strip_ansi(text).strip()))
def test_what_stands_before_prose_is_no_signal(before: str, prose: str) -> None:
    assert parse_promise(f"{before}\n{YES}\n{prose}") is None


@pytest.mark.parametrize(
    ("last", "near"),
    [
        (f"`{YES}`", True),
        (f"**{NO}**", True),
        (f'"{YES}".', True),
        (YES, False),
        (f"I give no {YES}", False),
        ("**done**", False),
        ("", False),
    ],
)
def test_a_signal_in_quotes_is_none_and_is_noticed(last: str, near: bool) -> None:
    answer = f"did it\n\n{last}\n \n"
    told = f"The last line of the answer is not a signal, as it is not bare: {last}"
    assert unread_feedback(answer, offers_success=True) == (told if near else "")
    assert parse_promise(answer) is (Promise.SUCCESS if last == YES else None)


def test_success_is_heard_only_where_it_was_offered() -> None:
    assert outcome_of_answer(reply(YES), offers_success=True).promised_success
    assert outcome_of_answer(reply(YES), offers_success=False) == IterationOutcome()


def gate(name: str, outcome: str, *, required: bool = True) -> GateResult:
    wanted = IterationGate(name=name, command="true", required=required)
    return GateResult(gate=wanted, outcome=outcome, summary="exit 1", seconds=0.1)


@pytest.mark.parametrize("outcome", ["fail", "error"])
def test_a_required_gate_takes_the_promise_back(outcome: str) -> None:
    answer = IterationOutcome(promised_success=True)
    found = outcome_with_gates(answer, [gate("tests", outcome), gate("lint", "pass")], {})
    assert found == IterationOutcome(
        cause=FailureCause.GATE, detail="tests: exit 1", failing=("tests",)
    )


def test_a_gate_that_is_not_required_decides_nothing() -> None:
    answer = IterationOutcome(promised_success=True)
    assert outcome_with_gates(answer, [gate("lint", "fail", required=False)], {}) == answer


def test_without_quality_gates_the_answer_alone_decides() -> None:
    assert outcome_with_gates(IterationOutcome(), [], {}) == IterationOutcome()


def test_what_an_agent_wrote_is_shown_in_a_line_of_200_characters() -> None:
    answer = outcome_of_answer(reply(error="one\n" * 100, exit=1), offers_success=True)
    signal = outcome_of_answer(reply(f"{'w' * 300}\n{Promise.FAILURE}"), offers_success=True)
    assert (len(answer.detail), answer.detail[-1]) == (200, "…")
    assert (len(signal.detail), signal.detail[-1]) == (200, "…")
