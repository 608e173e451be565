"""A fork is followed to its end, whatever it does to its pipe, on any system."""

from __future__ import annotations

import os
import signal
import time

import pytest

from pytest_reflex.process.fork import Send, run_in_fork

TIMEOUT = 60.0


@pytest.fixture(params=["pidfd", "no pidfd"], autouse=True)
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    if request.param == "no pidfd":
        monkeypatch.setattr(os, "pidfd_open", missing)


def _tells(send: Send) -> int:
    send(b"one")
    send(b"two")
    return 7


def _closes_its_pipe(send: Send) -> int:
    send(b"one")
    os.closerange(3, 256)
    signal.sigtimedwait([], 0.1)
    return 7


def _leaves_its_pipe_to_a_child(send: Send) -> int:
    send(b"one")
    if os.fork() == 0:
        signal.pause()
    return 7


def test_its_lines_and_its_status_arrive() -> None:
    done = run_in_fork(_tells, seconds=TIMEOUT)
    assert (done.lines, done.status, done.timed_out) == ((b"one", b"two"), 7, False)


def test_each_line_is_heard_when_it_comes() -> None:
    heard: list[bytes] = []
    run_in_fork(_tells, seconds=TIMEOUT, hear=heard.append)
    assert heard == [b"one", b"two"]


def test_the_end_of_its_pipe_is_not_its_own() -> None:
    done = run_in_fork(_closes_its_pipe, seconds=TIMEOUT)
    assert (done.lines, done.status, done.timed_out) == ((b"one",), 7, False)


def test_a_pipe_that_stays_open_keeps_nobody_waiting() -> None:
    done = run_in_fork(_leaves_its_pipe_to_a_child, seconds=TIMEOUT)
    assert (done.lines, done.status, done.timed_out) == ((b"one",), 7, False)


def _goes_on_for_ever(send: Send) -> int:
    while True:  # a signal just before `pause` would leave it waiting for another one
        time.sleep(0.05)


def test_what_does_not_end_is_ended() -> None:
    done = run_in_fork(_goes_on_for_ever, seconds=0.5)
    assert done.timed_out
    assert done.status == 70, "asked to end, it raises KeyboardInterrupt"
