"""Signals end a program cleanly, with their own status; who asks twice does not wait."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from pytest_reflex.process.signals import Interruptions, interruptible
from tests.process.zoo import ON_LINUX, PYTHON, marked, shell, signalled

NUMBERS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129, "SIGQUIT": 131}


def received(*numbers: int, leaving: bool = False) -> Interruptions:
    """Return what became of signals, each of which interrupts."""
    with interruptible(leaving=leaving) as found:
        for number in numbers:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
    return found


@pytest.mark.parametrize("name", NUMBERS)
def test_f23_each_signal_interrupts_and_has_its_own_status(name: str) -> None:
    assert received(signal.Signals[name]).status() == NUMBERS[name]


def test_f23_the_first_signal_decides_on_the_status() -> None:
    assert received(signal.SIGTERM, signal.SIGINT).status() == 143


def test_a_third_signal_does_not_keep_us_from_clearing_up() -> None:
    with interruptible() as found:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert len(found.received) == 3


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    received(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_f23_a_late_signal_does_not_change_how_we_leave() -> None:
    before = {name: signal.getsignal(signal.Signals[name]) for name in [*NUMBERS, "SIGTSTP"]}
    try:
        found = received(signal.SIGTERM, leaving=True)
        signal.raise_signal(signal.SIGINT)
        assert found.status() == 143
        assert signal.SIGINT in signal.sigpending()
    finally:
        for name in before:
            signal.signal(signal.Signals[name], signal.SIG_IGN)  # what is pending goes
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.Signals[name] for name in before])
        for name, handler in before.items():
            signal.signal(signal.Signals[name], handler)


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as found:
            signal.raise_signal(signal.SIGHUP)
        assert found.received == []
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_leave_signals_alone() -> None:
    found: list[object] = []

    def look() -> None:
        with interruptible():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGINT), (signal.SIGQUIT,)])
def test_b103_who_asks_twice_or_quits_does_not_wait_for_the_command(
    tmp_path: Path, numbers: tuple[int, ...]
) -> None:
    up, asked = tmp_path / "up", tmp_path / "asked"
    command = f"trap 'touch {asked}' TERM INT; touch {up}; while :; do sleep 0.1; done"
    began = time.monotonic()
    with (
        interruptible(),
        pytest.raises(KeyboardInterrupt),
        signalled(*zip(numbers, (up, asked), strict=False)),
    ):
        shell(command, timeout=60, grace=50)
    assert time.monotonic() - began < 40  # else the grace was waited for


STOPS_ITSELF = """
import os, sys
from pytest_reflex.process.run import run
from pytest_reflex.process.signals import interruptible
with interruptible():
    done = run(["bash", "-c", "touch up; sleep 1"], cwd=sys.argv[1], env=dict(os.environ))
print(done.returncode)
"""


@pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")
def test_f23_ctrl_z_pauses_the_command_and_fg_lets_it_go_on(tmp_path: Path) -> None:
    def state(pid: int) -> str:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

    with marked() as (env, living):
        argv = [PYTHON, "-c", STOPS_ITSELF, str(tmp_path)]
        process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)
        while not (tmp_path / "up").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTSTP)
        while {state(pid) for pid in living()} - {"T", "D"}:
            time.sleep(0.01)
        process.send_signal(signal.SIGCONT)
        assert process.communicate(timeout=60)[0] == "0\n"


@pytest.mark.long
def test_f23_evaluate_lets_its_command_tidy_up_and_leaves_with_143(tmp_path: Path) -> None:
    command = "trap 'echo tidy > tidy; exit' TERM; touch up; sleep 60 & wait"
    rule = {"id": "a.x.r", "description": "d", "severity": "fail"}
    rule["check"] = {"type": "executable", "command": command}  # type: ignore[assignment]
    (tmp_path / "words.yaml").write_text(json.dumps({"name": "c", "rules": [rule]}))
    (tmp_path / "a.md").write_text("text\n")
    argv = [PYTHON, "-m", "pytest_reflex", "evaluate", "a.md", "--criteria", "words.yaml"]
    process = subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "up").exists() and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    assert process.communicate(timeout=60)[1].strip() == "pytest-reflex: interrupted"
    assert (process.returncode, (tmp_path / "tidy").read_text()) == (143, "tidy\n")


UNHEARD = """
import signal, sys, threading, time
from pytest_reflex.process.pool import Pool, iterate_done, await_all
from pytest_reflex.process.signals import interruptible

def call():
    begun.wait()
    time.sleep(0.3)
    # To this thread: the main one waits by now, and is not woken.
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    return cancel.wait(30)

cancel, begun = threading.Event(), threading.Event()
pool = Pool(1, cancel)
waits = {
    "a result": lambda: pool.result("key"),
    "all": lambda: await_all([future]),
    "each": lambda: list(iterate_done([future])),
}
with interruptible():
    future = pool.submit("key", call)
    try:
        begun.set()
        waits[sys.argv[1]]()
    except KeyboardInterrupt:
        pool.close(cancel=True)
print("heard while it ran:", future.result())
"""


@pytest.mark.parametrize("what", ["a result", "all", "each"])
def test_a_signal_that_does_not_end_a_wait_is_heard(what: str) -> None:
    ended = subprocess.run(
        [PYTHON, "-c", UNHEARD, what], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "heard while it ran: True\n"
