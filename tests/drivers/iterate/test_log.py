"""The log of the iteration loop: the seed's lines, volumes, JSON lines, and foreign text."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from subprocess import run

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.drivers.iterate.log import Log, local_time
from pytest_reflex.drivers.iterate.logfile import LogFile, Verbosity, log_path
from pytest_reflex.drivers.iterate.messages import end_text, failure_text, last_words
from pytest_reflex.drivers.iterate.model import (
    Bounds,
    FailureCause,
    GateResult,
    Iteration,
    IterationGate,
    Status,
)
from pytest_reflex.model.stop import StopReason
from pytest_reflex.verdict.formatting import format_duration
from tests.drivers.iterate.tape import Tape, state


def _result(
    gate: IterationGate, outcome: str, summary: str, seconds: float, output: str = ""
) -> GateResult:
    return GateResult(gate=gate, outcome=outcome, summary=summary, seconds=seconds, output=output)


def test_example_1_limited_iterations() -> None:
    tape = Tape()
    tape.log.report_start(Bounds(max_iterations=3))
    for number, seconds in enumerate((45.2, 38.7, 52.1), 1):
        tape.round(number, 3, seconds)
    tape.log.report_end(StopReason.LIMIT, state(45.2, 38.7, 52.1, total=3))
    assert tape.lines == [
        "[10:00:00] Starting procedure: build (max 3 iterations)",
        "[10:00:00] Iteration 1/3 starting...",
        "[10:00:45] Iteration 1/3 completed in 45.2s",
        "[10:00:45] Iteration 2/3 starting...",
        "[10:01:23] Iteration 2/3 completed in 38.7s",
        "[10:01:23] Iteration 3/3 starting...",
        "[10:02:16] Iteration 3/3 completed in 52.1s",
        "[10:02:16] Reached max iterations: 3 (total: 2m16s)",
    ]


def test_example_2_consecutive_failures_abort() -> None:
    tape = Tape()
    elapsed = (42.0, 36.0, 37.0, 15.0, 12.0, 13.0)
    for number, seconds in enumerate(elapsed, 1):
        tape.round(number, 10, seconds, failures=max(number - 3, 0))
    ended = state(*elapsed, failures=3, status=Status.ABORTED)
    tape.log.report_end(StopReason.FAILURES, ended)
    assert tape.lines[5:] == [
        "[10:01:55] Iteration 3/10 completed in 37.0s",
        "[10:01:55] Iteration 4/10 starting...",
        "[10:02:10] WARNING: AI CLI failed (exit 1), consecutive failures: 1/3",
        "[10:02:10] Iteration 4/10 completed in 15.0s",
        "[10:02:10] Iteration 5/10 starting...",
        "[10:02:22] WARNING: AI CLI failed (exit 1), consecutive failures: 2/3",
        "[10:02:22] Iteration 5/10 completed in 12.0s",
        "[10:02:22] Iteration 6/10 starting...",
        "[10:02:35] WARNING: AI CLI failed (exit 1), consecutive failures: 3/3",
        (
            "[10:02:35] ERROR: Aborting after 3 consecutive failures "
            "(6 iterations completed, total: 2m35s)"
        ),
    ]


def test_example_3_interrupted_and_resumed_at_the_iteration_that_was_not_finished() -> None:
    tape = Tape()
    stopped = state(60, 70, 65, 75, status=Status.INTERRUPTED)
    tape.wait(300)
    tape.log.round_starts(5, 10)
    tape.wait(12)
    tape.log.report_end(StopReason.INTERRUPTED, stopped)
    tape.wait(288)
    tape.log.report_resume(stopped, Bounds(max_iterations=10))
    tape.log.round_starts(5, 10)
    assert tape.lines == [
        "[10:05:00] Iteration 5/10 starting...",
        "[10:05:12] Interrupted. State saved. Resume with: pytest-reflex iterate resume build",
        "[10:10:00] Resuming procedure: build from iteration 5 (max 10)",
        "[10:10:00] Previous session: 4 iterations completed in 4m30s",
        "[10:10:00] Iteration 5/10 starting...",
    ]


def test_example_5_unlimited_iterations_with_recovery() -> None:
    tape = Tape()
    tape.log.report_start(Bounds(max_iterations=0, wall_time=8 * 3600, stop_unchanged=True))
    tape.wait(115)
    tape.round(3, 0, 15.0, failures=1)
    tape.round(4, 0, 42.0)
    assert tape.lines == [
        "[10:00:00] Starting procedure: build (unlimited iterations)",
        "[10:00:00] It also ends after 8h0m0s of wall time; --no-caps lifts that",
        "[10:01:55] Iteration 3 starting...",
        "[10:02:10] WARNING: AI CLI failed (exit 1), consecutive failures: 1/3",
        "[10:02:10] Iteration 3 completed in 15.0s",
        "[10:02:10] Iteration 4 starting...",
        "[10:02:52] Iteration 4 completed in 42.0s",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0s"), (0.04, "0.0s"), (45.2, "45.2s"), (59.94, "59.9s"), (59.96, "1m0s"),
        (136, "2m16s"), (119.5, "2m0s"), (3600, "1h0m0s"), (3725, "1h2m5s"), (-1, "0.0s"),
    ],
)  # fmt: skip
def test_a_duration_is_told_as_in_the_seed(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("cause", "detail", "text"),
    [
        (FailureCause.EXIT, "exit 7", "AI CLI failed (exit 7)"),
        (FailureCause.TIMED_OUT, "after 5 s", "AI CLI failed (timed out: after 5 s)"),
        (FailureCause.EMPTY, "", "AI CLI failed (empty answer)"),
        (FailureCause.GATE, "tests: exit 1", "Quality gates failed: tests, lint"),
        (None, "", ""),
    ],
)
def test_a_failure_is_told_by_its_cause(cause: FailureCause | None, detail: str, text: str) -> None:
    failing = ("tests", "lint") if cause is FailureCause.GATE else ()
    ended = Iteration(number=1, seconds=1, cause=cause, detail=detail, failing=failing)
    assert failure_text(ended) == text


@pytest.mark.parametrize(
    ("cause", "detail", "output", "said"),
    [
        (FailureCause.EXIT, "exit 1", "first\n\x1b[31mno key\x1b[0m\n\n", "no key"),
        (FailureCause.EMPTY, "", "no key", "no key"),
        (FailureCause.TIMED_OUT, "no answer within 1 s", "still at it", "still at it"),
        (FailureCause.EXIT, "exit 1", "x" * 900, "x" * 199 + "…"),
        (FailureCause.EXIT, "exit 1", "\x1b[0m \n", ""),
        (FailureCause.UNUSABLE, "its output has no json:a: no key", "no key", ""),
        (FailureCause.PROMISED_FAILURE, "no key", "no key\nNO", ""),
        (FailureCause.GATE, "tests: exit 1", "", ""),
    ],
    ids=range(8),
)
def test_the_last_words_of_a_tool_stand_below_a_failure(
    cause: FailureCause, detail: str, output: str, said: str
) -> None:
    ended = Iteration(number=1, seconds=1, cause=cause, detail=detail, output=output)
    assert last_words(ended) == said


@pytest.mark.parametrize(
    ("volume", "shown"),
    [
        (Verbosity.QUIET, ["twoo"]),
        (Verbosity.NORMAL, ["twoo"]),
        (Verbosity.VERBOSE, ["one", "twoo"]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_without_verbose_only_the_last_line_of_a_failed_tool_is_shown(
    volume: Verbosity, shown: list[str]
) -> None:
    lines: list[str] = []
    ended = Iteration(
        number=1, seconds=1, cause=FailureCause.EXIT, detail="exit 1", output="one\ntwoo"
    )
    Log("build", lines.append, volume=volume, hidden={"twoo": "$KEY"}).report_iteration(
        ended, 3, failures=1, threshold=3
    )
    assert lines[0].split("\n    | ")[1:] == [line.replace("twoo", "$KEY") for line in shown]


@pytest.mark.parametrize(
    ("ending", "failures", "status", "saved", "text"),
    [
        (StopReason.SUCCESS, 0, Status.COMPLETED, True,
         "Success signal in iteration 2 (total: 3.0s)"),
        (StopReason.LIMIT, 1, Status.COMPLETED, True,
         "Reached max iterations: 10 (total: 3.0s)"),
        (StopReason.FAILURES, 1, Status.ABORTED, True,
         "Aborting after 1 failure (2 iterations completed, total: 3.0s)"),
        (StopReason.WALL_TIME, 0, Status.INTERRUPTED, True,
         ("Reached the wall time (2 iterations completed, total: 3.0s). "
          "Resume with: pytest-reflex iterate resume build")),
        (StopReason.UNCHANGED, 0, Status.ABORTED, True,
         ("Stopping: the working tree does not change any more "
          "(2 iterations completed, total: 3.0s)")),
        (StopReason.INTERRUPTED, 0, Status.INTERRUPTED, False,
         "Interrupted. The state could NOT be saved"),
    ],
)  # fmt: skip
def test_each_ending_has_its_line(
    ending: StopReason, failures: int, status: Status, saved: bool, text: str
) -> None:
    ended = state(1, 2, failures=failures, status=status)
    assert end_text(ending, ended, seconds=3.0, saved=saved) == text


def test_a_run_without_caps_says_so() -> None:
    tape = Tape()
    tape.log.report_start(Bounds(max_iterations=0))
    assert "No caps: it ends by failures, by its success signal, or by Ctrl-C" in tape.lines[1]


def test_a_run_without_a_limit_that_goes_on_says_again_what_ends_it() -> None:
    tape = Tape()
    endless = Bounds(max_iterations=0, wall_time=60.0)
    tape.log.report_resume(state(1, 2, total=0), endless)
    assert tape.lines[0].endswith("from iteration 3 (unlimited iterations)")
    assert tape.lines[2].endswith("It also ends after 1m0s of wall time; --no-caps lifts that")


def test_a_run_that_ends_on_unchanged_rounds_says_after_how_many() -> None:
    tape = Tape()
    tape.log.report_start(Bounds(max_iterations=0, unchanged=10, stop_unchanged=True))
    assert "after 10 iterations in a row without a change of the working tree" in tape.lines[1]


def test_unchanged_rounds_are_a_warning() -> None:
    tape = Tape(volume=Verbosity.QUIET)
    tape.log.report_unchanged(3, 10)
    told = "The working tree is as it was before: unchanged iterations: 3/10"
    assert tape.lines == [f"[10:00:00] WARNING: {told}"]


def test_quiet_leaves_warnings_errors_and_the_end() -> None:
    tape = Tape(volume=Verbosity.QUIET)
    tape.log.report_start(Bounds(max_iterations=3))
    tape.round(1, 3, 1.0)
    tape.round(2, 3, 1.0, failures=1)
    tape.log.info("nobody hears this")
    tape.log.error("the state could not be written")
    tape.log.report_end(StopReason.LIMIT, state(1, 1, total=2))
    assert [line.partition("] ")[2] for line in tape.lines] == [
        "WARNING: AI CLI failed (exit 1), consecutive failures: 1/3",
        "ERROR: the state could not be written",
        "Reached max iterations: 2 (total: 2.0s)",
    ]


def test_verbose_has_the_statistics_of_the_rounds() -> None:
    tape = Tape(volume=Verbosity.VERBOSE)
    tape.log.report_end(StopReason.LIMIT, state(2, 4, 4, 4, 5, 5, 7, 9))
    assert tape.lines[0] == (
        "[10:00:00] Statistics: 8 iterations, min 2.0s, max 9.0s, mean 5.0s, stddev 2.0s"
    )


def test_verbose_has_what_a_gate_wrote() -> None:
    tape = Tape(volume=Verbosity.VERBOSE)
    gate = IterationGate(name="lint", command="lint")
    tape.log.report_gate(1, _result(gate, "fail", "exit 1", 1.26, output="a.py\r\n::error::x\n"))
    assert tape.text == (
        "[10:00:00] Quality gate lint failed (1.3s): exit 1\n"
        "    | a.py\n    | \\x3a:error::x\n    | "
    )


def test_a_failed_gate_that_is_not_required_is_a_warning() -> None:
    tape = Tape()
    gate = IterationGate(name="lint", command="lint", required=False)
    tape.log.report_gate(1, _result(gate, "error", "no such program", 0))
    told = "Quality gate lint could not be evaluated (0.0s, not required): no such program"
    assert tape.lines == [f"[10:00:00] WARNING: {told}"]


def test_json_lines_say_what_a_round_came_to() -> None:
    tape = Tape(as_json=True)
    tape.wait(0.25)
    tape.round(2, 5, 45.2)
    assert tape.documents[1] == {
        "time": "2026-02-06T10:00:45.450Z",
        "level": "info",
        "event": "iteration_completed",
        "procedure": "build",
        "iteration": 2,
        "phase": "agent",
        "outcome": "success",
        "seconds": 45.2,
        "changed": None,
        "files_changed": None,
        "usd": None,
        "tokens": None,
        "message": "Iteration 2/5 completed in 45.2s",
    }


def test_json_lines_say_why_a_round_failed() -> None:
    tape = Tape(as_json=True)
    gate = IterationGate(name="tests", command="pytest")
    failed = _result(gate, "fail", "exit 1", 2.0)
    ended = Iteration(
        number=1,
        seconds=3,
        cause=FailureCause.GATE,
        detail="tests: exit 1",
        gates=(failed,),
        failing=("tests",),
    )
    tape.log.report_iteration(ended, 5, failures=1, threshold=3)
    warning, completed = tape.documents
    assert (warning["event"], warning["level"], warning["cause"]) == ("failure", "warning", "gate")
    assert (warning["message"], warning["detail"]) == (
        "Quality gates failed: tests", "tests: exit 1",
    )  # fmt: skip
    assert completed["gates"] == {"tests": "fail"}
    assert (completed["outcome"], completed["phase"]) == ("failure", "gates")
    assert completed["detail"] == "tests: exit 1"


def test_foreign_text_can_neither_act_on_a_terminal_nor_begin_a_line() -> None:
    for as_json in (False, True):
        tape = Tape(as_json=as_json)
        tape.log.warning("AI said \x1b[2J\u202eno\n[10:00:00] Reached max iterations: 1\r")
        assert len(tape.text.split("\n")) == 1
        assert tape.text.isprintable()


@given(st.text(), st.text(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_t06_no_text_acts_on_a_terminal_or_makes_a_line_of_its_own(
    summary: str, output: str, as_json: bool
) -> None:
    tape = Tape(as_json=as_json, volume=Verbosity.VERBOSE)
    gate = IterationGate(name="lint", command="lint", required=False)
    tape.log.report_gate(1, _result(gate, "fail", summary, 1, output=output))
    lines = tape.text.split("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", tape.text.replace("\t", ""))
    assert all(line.startswith("    | ") for line in lines[1:])


def test_secrets_are_in_no_line() -> None:
    hidden = {"s3cr3t-value": "$API_KEY"}
    for as_json in (False, True):
        tape = Tape(as_json=as_json, hidden=hidden, volume=Verbosity.VERBOSE)
        gate = IterationGate(name="lint", command="lint")
        tape.log.report_gate(1, _result(gate, "fail", "s3cr3t-value", 1, output="s3cr3t-value"))
        assert "s3cr3t-value" not in tape.text
        assert tape.text.count("$API_KEY") == 2


def test_the_clock_of_people_is_their_own() -> None:
    assert local_time().utcoffset() is not None


def test_the_log_file_has_everything_in_json_lines_whatever_is_told(tmp_path: Path) -> None:
    path = log_path(tmp_path / ".rooda", "build", "2026-02-06T10:00:00Z")
    tape = Tape(volume=Verbosity.QUIET, file=LogFile(path, pytest.fail))
    tape.round(1, 0, 15.0, failures=3)
    tape.log.report_end(StopReason.FAILURES, state(15, failures=3, status=Status.ABORTED))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert path == tmp_path / ".rooda/log/build/20260206T100000Z.jsonl"
    assert [row["event"] for row in rows] == [
        "iteration_started", "failure", "iteration_completed", "statistics", "ended",
    ]  # fmt: skip
    assert path.stat().st_mode & 0o777 == 0o600


def test_b109_a_line_that_was_cut_short_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"event": "started"}\n{"eve')
    told: list[str] = []
    file = LogFile(path, told.append)
    file.append('{"event": "resumed"}')
    file.close()
    assert path.read_text() == '{"event": "started"}\n{"event": "resumed"}\n'
    assert (tmp_path / "log.jsonl.torn-1").read_text() == '{"eve'
    assert told == [
        f"the log {path} has a last line that was cut short: a copy is kept as log.jsonl.torn-1"
    ]


def test_b109_a_whole_line_without_its_end_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"event": "started"}')
    LogFile(path, pytest.fail).append("{}")
    assert path.read_text() == '{"event": "started"}\n{}\n'


def test_b109_a_line_without_an_end_in_sight_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    os.truncate(path, 16_000_001)
    told: list[str] = []
    LogFile(path, told.append).append("{}")
    assert "its last line has more than 16,000,000 bytes" in told[0]
    assert path.stat().st_size == 16_000_001


@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_a_log_that_is_gone_is_told_once_and_made_again(tmp_path: Path, how: str) -> None:
    path = tmp_path / "log" / "log.jsonl"
    told: list[str] = []
    file = LogFile(path, told.append)
    for number in range(3):
        file.append(str(number))
        if how == "removed":
            shutil.rmtree(path.parent)
        else:
            path.rename(tmp_path / f"moved-{number}")
            if how == "replaced":
                path.touch()
    file.append("3")
    assert path.read_text() == "3\n"
    assert told == [f"the log {path} was removed while it was written: it goes on in a new file"]


def test_a_log_that_cannot_be_written_is_told_once_and_the_run_goes_on() -> None:
    told: list[str] = []
    tape = Tape(file=LogFile(Path("/dev/full/log.jsonl"), told.append))
    tape.round(1, 1, 1.0)
    assert len(tape.lines) == 2
    assert told == ["the log /dev/full/log.jsonl could not be written (File exists): going on"]


FULL = """
import resource, signal, sys
from pathlib import Path
from pytest_reflex.drivers.iterate.logfile import LogFile
from pytest_reflex.verdict.formatting import format_duration
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30, 1 << 20))
log = LogFile(Path(sys.argv[1]), print)
log.append('{"seq": 1}')
for number in range(5):
    log.append('{"seq": 2, "much": "more than there is room for %d"}' % number)
log.append('{"seq": 3}')
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
log.append('{"seq": 4}')
"""


def test_a_full_disk_is_told_once_and_later_lines_stand_on_their_own(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    ran = run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    told = ran.stdout.splitlines()
    assert told == [f"the log {path} could not be written (File too large): going on"]
    assert os.listdir(tmp_path) == ["log.jsonl"]
    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 3, 4]


def test_a_log_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "mine")
    LogFile(tmp_path / "log.jsonl", told.append).append("{}")
    assert "Too many levels of symbolic links" in told[0]
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("name", [".rooda", ".rooda/log", ".rooda/log/build"])
def test_b116_a_link_in_the_place_of_a_folder_of_logs_is_not_followed(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "victim").mkdir()
    link = tmp_path / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "victim")
    told: list[str] = []
    path = log_path(tmp_path / ".rooda", "build", "2026-02-06T10:00:00Z")
    LogFile(path, told.append, root=tmp_path / ".rooda").append("{}")
    assert f"could not be written ({link} is a symbolic link): going on" in told[0]
    assert not list((tmp_path / "victim").iterdir())


def test_nothing_is_written_before_the_first_line(tmp_path: Path) -> None:
    LogFile(tmp_path / "a" / "log.jsonl", pytest.fail).close()
    assert list(tmp_path.iterdir()) == []
