"""A call at intervals without a thread; whoever else uses the alarm has it for themselves."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from pytest_reflex.process.deadline import interval_timer
from pytest_reflex.process.fork import can_fork


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_it_ticks_while_something_else_blocks() -> None:
    ticks: list[bool] = []
    with interval_timer(0.01, lambda: ticks.append(can_fork())):
        time.sleep(0.1)
    seen = len(ticks)
    time.sleep(0.05)
    assert 1 < seen == len(ticks)
    assert all(ticks) == can_fork()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_an_alarm_of_somebody_else_is_left_alone() -> None:
    rang: list[int] = []
    signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    with interval_timer(0.01, lambda: rang.append(0)):
        signal.alarm(1)
        signal.pause()
    assert rang == [signal.SIGALRM]


def test_who_takes_the_alarm_later_keeps_it() -> None:
    def theirs(number: int, frame: object) -> None:
        pass

    with interval_timer(0.01, lambda: None):
        signal.signal(signal.SIGALRM, theirs)
        signal.alarm(60)
    assert signal.getsignal(signal.SIGALRM) is theirs
    assert signal.alarm(0) > 50


def test_another_thread_has_no_ticks() -> None:
    ticks: list[int] = []

    def work() -> None:
        with interval_timer(0.01, lambda: ticks.append(1)):
            time.sleep(0.05)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ticks == []


def test_an_interruption_ends_the_ticks() -> None:
    with pytest.raises(KeyboardInterrupt), interval_timer(0.01, lambda: None):
        raise KeyboardInterrupt
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
