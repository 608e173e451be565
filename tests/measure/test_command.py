"""A command as a measurement: by its exit status, or by what a reader finds in its output."""

from __future__ import annotations

import re
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from threading import Event

import pytest

from pytest_reflex.drivers.common.measure import (
    Attempt,
    CommandMeasure,
    Measurement,
    MeasurementStatus,
    failure,
    run_measure,
)
from pytest_reflex.errors import ReflexError, UsageError
from pytest_reflex.process.run import Finished
from tests.process.zoo import gone_within, marked

PYTHON = shlex.quote(sys.executable)


def measure(folder: Path, command: str | tuple[str, ...], timeout: float = 60) -> Measurement:
    return run_measure(CommandMeasure(command, folder=folder, timeout=timeout), Attempt())


@pytest.mark.parametrize(
    ("command", "status", "value", "summary"),
    [
        ("true", "passed", 0, "exit status 0"),
        (("sh", "-c", "exit 0"), "passed", 0, "exit status 0"),
        ("exit 3", "failed", 3, "exit status 3"),
        ("echo 2 tests failed; exit 1", "failed", 1, "exit status 1: 2 tests failed"),
        (("sh", "-c", "echo no >&2; exit 2"), "failed", 2, "exit status 2: no"),
        ("no-such-program-xyz", "error", None, "exit status 127: a command was not found"),
        ("kill -9 $$", "error", None, "it was ended by SIGKILL"),
        (("./not-there",), "error", None, "cannot start ./not-there"),
    ],
)
def test_a_command_passes_by_exit_status_0_alone(
    tmp_path: Path, command: str | tuple[str, ...], status: str, value: int | None, summary: str
) -> None:
    found = measure(tmp_path, command)
    assert (found.status, found.value, found.passed) == (status, value, status == "passed")
    assert found.summary.startswith(summary)
    assert found.seconds > 0
    assert found.cost is None


def test_what_runs_too_long_is_an_error_with_what_it_wrote(tmp_path: Path) -> None:
    with marked() as (environment, living):
        slow = CommandMeasure("echo step 1; sleep 60", folder=tmp_path, timeout=2)
        found = run_measure(slow, Attempt(environment))
        assert gone_within(60, living)
    assert (found.status, found.evidence) == ("error", "step 1")
    assert "it ran longer than 2 s and was stopped" in found.summary


def test_what_a_command_leaves_behind_is_killed_and_told(tmp_path: Path) -> None:
    with marked() as (environment, living):
        leaving = CommandMeasure("sleep 60 & exit 0", folder=tmp_path, timeout=60)
        found = run_measure(leaving, Attempt(environment))
        assert gone_within(60, living)
    assert (found.status, found.left_children) == ("passed", True)
    assert "were killed" in found.summary


def test_a_flood_of_output_is_bounded_and_visible(tmp_path: Path) -> None:
    found = measure(tmp_path, "yes | head -c 3000000; printf 'a\\033[2Jb\\377'; exit 1")
    assert found.status == "failed"
    assert found.evidence.endswith("a\\x1b[2Jb\\xff")
    assert len(found.evidence) < 10_000


def test_a_secret_of_the_environment_is_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-value-123")
    found = measure(tmp_path, f"{PYTHON} -c 'print(\"sk-very-secret-value-123\")'; exit 1")
    assert "sk-very-secret-value-123" not in found.evidence + found.summary


def test_variables_reach_the_command(tmp_path: Path) -> None:
    look = CommandMeasure('test "$ITEM" = 7', folder=tmp_path, timeout=60)
    assert run_measure(look, Attempt({"ITEM": "7"})).passed
    assert run_measure(look, Attempt({"ITEM": "8"})).status == "failed"


@pytest.mark.parametrize("command", ["", "  ", (), ("",), "a\0b", ("a", "b\0")])
def test_a_command_that_is_none_is_refused(tmp_path: Path, command: str | tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="its command is empty, or holds a NUL byte"):
        CommandMeasure(command, folder=tmp_path, timeout=1)


def test_a_program_that_is_not_there_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no program 'no-such-program-xyz'"):
        CommandMeasure(("no-such-program-xyz", "--all"), folder=tmp_path, timeout=1)


def p95(finished: Finished) -> Measurement:
    """Read `p95 = 87.5 ms`, and hold it against `p95 < 100 ms`."""
    found = re.search(rb"p95 = (\S+) (\w+)", finished.stdout)
    if not found:
        return failure("there is no p95 in the output")
    value = Fraction(found[1].decode())
    passed = value < 100
    return Measurement(
        status=MeasurementStatus.PASSED if passed else MeasurementStatus.FAILED,
        summary=f"p95 = {found[1].decode()}",
        value=value,
        unit=found[2].decode(),
    )


@pytest.mark.parametrize(
    ("output", "status", "value", "unit"),
    [
        ("p95 = 87.5 ms", "passed", Fraction("87.5"), "ms"),
        ("p95 = 100 ms", "failed", Fraction(100), "ms"),
        ("p50 = 1 ms", "error", None, ""),
    ],
)
def test_a_reader_takes_a_number_and_its_unit_from_the_output(
    tmp_path: Path, output: str, status: str, value: Fraction | None, unit: str
) -> None:
    look = CommandMeasure(("echo", output), folder=tmp_path, timeout=60, read=p95)
    found = run_measure(look, Attempt())
    assert (found.status, found.value, found.unit) == (status, value, unit)


@pytest.mark.parametrize("command", ["echo p95 = 1 ms; kill -9 $$", "echo p95 = 1 ms; sleep 60"])
def test_a_reader_is_not_asked_of_what_did_not_come_to_its_end(
    tmp_path: Path, command: str
) -> None:
    look = CommandMeasure(command, folder=tmp_path, timeout=2, read=p95)
    assert (found := run_measure(look, Attempt())).status == "error"
    assert found.value is None


def test_nothing_is_measured_once_the_run_was_stopped(tmp_path: Path) -> None:
    stop = Event()
    stop.set()
    look = CommandMeasure("touch made", folder=tmp_path, timeout=60)
    found = run_measure(look, Attempt(cancel=stop))
    assert (found.status, found.passed) == ("not_measured", False)
    assert not (tmp_path / "made").exists()


def test_what_a_measure_raises_is_an_error() -> None:
    def broken(attempt: Attempt) -> Measurement:
        raise ReflexError("the file\nis gone")

    assert run_measure(broken, Attempt()).summary == "the file\\nis gone"
    assert run_measure(broken, Attempt()).status == "error"


def test_a_measurement_is_json_with_an_exact_value() -> None:
    third = Measurement(
        status=MeasurementStatus.PASSED, summary="one third", value=Fraction(1, 3), unit="of all"
    )
    assert third.to_json() == {
        "status": "passed", "summary": "one third", "value": 1 / 3, "value_exact": "1/3",
        "unit": "of all", "evidence": "", "seconds": 0.0, "cost": None,
    }  # fmt: skip
    assert failure("why").to_json()["value"] is None
