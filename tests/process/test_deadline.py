"""A deadline that does not run while we are stopped."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time

import pytest

from pytest_reflex.process import deadline
from pytest_reflex.process.deadline import Cancel, Deadline
from tests.process.zoo import PYTHON

SLEEPS = """
import os, sys
from pytest_reflex.process.run import run
print("up", flush=True)
done = run(["sleep", "1.5"], cwd="/", env=dict(os.environ), timeout=3)
print(done.timed_out, done.returncode)
"""


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(deadline, "time", clock)
    return clock


def test_time_passes_while_we_wait(clock: Clock) -> None:
    one = Deadline(2.5)
    assert (one.pause(), one.has_passed()) == (1.0, False)
    clock.now += 2
    assert one.pause() == 0.5
    clock.now += 0.5
    assert one.has_passed()


def test_a_wait_that_ends_much_too_late_was_a_sleep(clock: Clock) -> None:
    one = Deadline(2.5)
    assert one.pause() == 1.0
    clock.now += 3600
    assert not one.has_passed()
    assert one.pause() == 1.0
    clock.now += 1.5
    assert one.has_passed()


def test_work_between_two_waits_counts(clock: Clock) -> None:
    one = Deadline(5)
    one.pause()
    assert not one.has_passed()
    clock.now += 5
    assert one.has_passed()


def test_without_a_limit_there_is_always_time(clock: Clock) -> None:
    one = Deadline(None, 0.1)
    clock.now += 1e9
    assert (one.pause(), one.has_passed()) == (0.1, False)


def test_f23_a_command_is_not_late_because_we_were_stopped() -> None:
    owner = subprocess.Popen([PYTHON, "-c", SLEEPS], stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    assert owner.stdout.readline() == "up\n"
    time.sleep(0.3)
    os.kill(owner.pid, signal.SIGSTOP)
    time.sleep(3.5)
    os.kill(owner.pid, signal.SIGCONT)
    assert owner.communicate(timeout=120)[0] == "False 0\n"


def _wakes(cancel: Cancel) -> bool:
    poll = select.poll()
    poll.register(cancel.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@pytest.mark.parametrize("asked_first", [True, False])
def test_who_waits_for_descriptors_is_woken(asked_first: bool) -> None:
    cancel = Cancel()
    if asked_first:
        assert not _wakes(cancel)
    cancel.set()
    cancel.set()
    assert _wakes(cancel)
    assert _wakes(cancel), "it wakes everybody, not the first one"


def test_its_descriptors_go_with_it() -> None:
    before = set(os.listdir("/dev/fd"))
    cancel = Cancel()
    cancel.fileno()
    assert len(set(os.listdir("/dev/fd")) - before) == 2
    del cancel
    assert set(os.listdir("/dev/fd")) == before


def test_without_descriptors_it_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", none_left)
    cancel = Cancel()
    assert cancel.fileno() == -1
    cancel.set()
    assert cancel.is_set()
