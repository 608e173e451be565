"""Tones of what drivers tell: where the colours are, and that they are nothing but colours."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.common.console import style_lines
from pytest_reflex.drivers.iterate.log import Log
from pytest_reflex.drivers.iterate.logfile import Verbosity
from pytest_reflex.drivers.iterate.model import FailureCause, Iteration, State, Status
from pytest_reflex.drivers.reflex.named_files import not_written
from pytest_reflex.model.events import EventKind
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import StopReason
from pytest_reflex.reports import iteration
from pytest_reflex.reports.lines import Line, lines_of, plain, wrap_lines
from tests.drivers.reflex.histories import History

GREEN, RED, YELLOW, BOLD, OFF = "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
STOPPED = {"reason": "iteration_limit", "passed": False, "detail": ""}


def ended(*failing: str, passed: bool = False) -> RunState:
    history = History().round(*failing)
    return history.add(EventKind.STOPPED, {**STOPPED, "passed": passed}).state


def told(state: RunState) -> str:
    """Return a block, a critique, a summary and the verdict as a terminal gets them."""
    assert state.evaluation
    lines = [
        *iteration.block(state, state.evaluation, "a.md"),
        *iteration.critique_lines(state.evaluation, None),
        *iteration.guard_lines({"outside": ["x", "y"], "reverted": ["y"], "unguarded": "why"}),
        *iteration.summary(state, not_written(" to b.md: the gate did not pass")),
        iteration.verdict_line(state, "a.md"),
    ]
    return style_lines(lines)


FAILED = {
    "the title": f"{RED}{BOLD}── Iteration 1/4 | Phase A | Score: 0.000 | FAIL ──{OFF}",
    "blockers": f"{RED}{BOLD}Failed: a.x.must{OFF}",
    "warnings": f"{YELLOW}Warnings: a.x.should{OFF}",
    "a critique": f"\n{BOLD}  - a.x.must:{OFF} ",
    "outside": f"{YELLOW}Outside: x (changed although the critique did not name it){OFF}",
    "reverted": f"{YELLOW}Reverted: y (the critique did not name it){OFF}",
    "unguarded": f"{YELLOW}Not guarded: changes outside",
    "the summary": f"{BOLD}── Final summary ──{OFF}",
    "the distance": f"{BOLD}Distance to success:{OFF}",
    "advice": f"{BOLD}Next:{OFF} pytest-reflex loop extend courses",
    "the result": f"{YELLOW}Not written to b.md: the gate did not pass{OFF}",
    "the gate": f"{RED}{BOLD}Gate: NOT passed{OFF}",
    "the gate again": f"{RED}{BOLD}Gate: NOT passed, score 0.000, iteration_limit; artifact: a.md",
    "other words": "\nHash: 11111111\n",
}


@pytest.mark.parametrize("line", FAILED.values(), ids=FAILED.keys())
def test_what_a_failed_run_tells_has_the_colours_of_its_meaning(line: str) -> None:
    assert line in told(ended("a.x.must", "a.x.should"))


PASSED = {
    "the title": f"{GREEN}{BOLD}── Iteration 1/4 | Phase A | Score: 1.000 | PASS ──{OFF}",
    "no blockers": "\nFailed: none\n",
    "no warnings": "\nWarnings: none\n",
    "the gate": f"{GREEN}{BOLD}Gate: passed{OFF}",
    "the gate again": f"{GREEN}{BOLD}Gate: passed, score 1.000, ",
}


@pytest.mark.parametrize("line", PASSED.values(), ids=PASSED.keys())
def test_what_a_run_that_passed_tells_has_them_too(line: str) -> None:
    assert line in told(ended(passed=True))


def log_lines(volume: Verbosity = Verbosity.NORMAL) -> tuple[Log, list[str]]:
    lines: list[str] = []
    return Log("build", lines.append, volume=volume, render=style_lines), lines


def stood(**more: object) -> State:
    found = State(procedure_name="build", max_iterations=3, failure_threshold=3, started_at="")
    return replace(found, iteration=3, **more)  # type: ignore[arg-type]


ENDS = {
    "the limit": (StopReason.LIMIT, 0, GREEN + BOLD),
    "the limit by a failure": (StopReason.LIMIT, 1, YELLOW),
    "the signal": (StopReason.SUCCESS, 0, GREEN + BOLD),
    "too many failures": (StopReason.FAILURES, 3, RED + BOLD),
    "no change": (StopReason.UNCHANGED, 0, YELLOW),
    "a client that was not allowed to work": (StopReason.DENIED, 0, RED + BOLD),
    "a person": (StopReason.USER_STOP, 0, ""),
}


@pytest.mark.parametrize(("ending", "failures", "colour"), ENDS.values(), ids=ENDS.keys())
def test_the_end_of_an_iteration_loop_has_the_colour_of_its_meaning(
    ending: StopReason, failures: int, colour: str
) -> None:
    log, lines = log_lines()
    log.report_end(ending, stood(consecutive_failures=failures, status=Status.ABORTED))
    assert lines[-1].startswith(f"{colour}[")
    assert lines[-1].endswith(OFF) == bool(colour)


@pytest.mark.parametrize("volume", [Verbosity.NORMAL, Verbosity.VERBOSE])
def test_what_an_agent_says_below_a_warning_goes_on_in_its_colour(volume: Verbosity) -> None:
    log, lines = log_lines(volume)
    failed = Iteration(
        number=1, seconds=1.0, cause=FailureCause.EXIT, detail="exit 1", output="no\nERROR: x"
    )
    log.report_iteration(failed, 3, failures=1, threshold=3)
    first, *rest = lines[0].split("\n")
    assert first.startswith(f"{YELLOW}[")
    assert rest[-1] == f"{YELLOW}    | ERROR: x{OFF}"
    assert lines[1].startswith("[")


def test_a_line_that_goes_on_goes_on_in_its_colour() -> None:
    lines: list[Line] = [[("Failed: a.x.one, a.x.two", "bad")], [("Hash: 1", "")]]
    assert style_lines(lines, 20).split("\n") == [
        f"{RED}{BOLD}Failed: a.x.one,{OFF}",
        f"{RED}{BOLD}    a.x.two{OFF}",
        "Hash: 1",
    ]


def test_only_the_rule_of_an_issue_is_bold_wherever_its_line_is_broken() -> None:
    line: Line = [("  - a.x.one:", "strong"), (" it is missing here", "")]
    assert style_lines([line]) == f"{BOLD}  - a.x.one:{OFF} it is missing here"
    assert style_lines([line], 20).split("\n") == [
        f"{BOLD}  - a.x.one:{OFF} it is",
        "    missing here",
    ]


def test_what_could_act_on_a_terminal_is_shown() -> None:
    assert style_lines([[("\x1b[2J", "bad")]]) == f"{RED}{BOLD}\\x1b[2J{OFF}"


TONES = st.sampled_from(["", "good", "bad", "mild", "strong", "faint"])
PIECES = st.lists(st.tuples(st.text(alphabet="ab  -\t─é\n", max_size=30), TONES), max_size=4)


@pytest.mark.long
@given(st.lists(PIECES, max_size=3), st.integers(20, 40))
@settings(deadline=None, max_examples=100)
def test_nothing_but_colours_is_added_and_nothing_is_lost(lines: list[Line], width: int) -> None:
    whole = plain(lines)
    assert click.unstyle(style_lines(lines)) == whole
    shown = list(wrap_lines(lines, width))
    assert click.unstyle(style_lines(lines, width)) == plain(shown)
    assert plain(shown).split() == whole.split()
    toned = [char for line in lines for text, tone in line if tone == "bad" for char in text]
    kept = [char for line in shown for text, tone in line if tone == "bad" for char in text]
    assert [c for c in kept if not c.isspace()] == [c for c in toned if not c.isspace()]


@given(st.text(alphabet=st.sampled_from("ab \n"), max_size=120))
@settings(deadline=None, max_examples=50)
def test_no_line_is_longer_than_the_width_where_it_can_be_broken(text: str) -> None:
    for line in plain(wrap_lines(lines_of(text), 30)).split("\n"):
        assert len(line) <= 30 or len(line.split()) == 1
