"""A warm child with deadlines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_reflex.process.worker import DiedError, LateError, Worker, worker_command
from pytest_reflex.process.worker_child import MEMORY
from tests.process.zoo import ON_LINUX, gone_within, marked

ECHO = """
import os, time
def read(n):
    data = b""
    while len(data) < n:
        chunk = os.read(0, n - len(data))
        if not chunk:
            raise SystemExit
        data += chunk
    return data
while True:
    body = read(int.from_bytes(read(8), "big"))
    if body == b"die":
        break
    if body == b"hang":
        time.sleep(60)
    answer = len(body).to_bytes(8, "big") + body
    while answer:
        answer = answer[os.write(1, answer):]
"""


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker([sys.executable, "-I", "-S", "-c", ECHO], env=dict(os.environ))
    yield worker
    worker.close()


def test_worker_answers_many_questions(worker: Worker) -> None:
    questions = [b"", b"one", os.urandom(1_000_000)]
    assert [worker.ask(question, 10) for question in questions] == questions


def test_late_answer_costs_the_worker_its_life(worker: Worker) -> None:
    with pytest.raises(LateError):
        worker.ask(b"hang", 0.2)
    assert not worker.usable


def test_worker_that_reads_nothing_is_late_too(worker: Worker) -> None:
    with pytest.raises(LateError):
        worker.ask(b"hang", 0.2)
    with pytest.raises((DiedError, LateError, ValueError, OSError)):
        worker.ask(b"more", 0.2)


def test_dead_worker_is_told(worker: Worker) -> None:
    with pytest.raises(DiedError):
        worker.ask(b"die", 10)
    assert not worker.usable


OWNER = """
import os, sys
from pytest_reflex.process.worker import Worker
worker = Worker([sys.executable, "-I", "-S", "-c", sys.argv[1]], env=dict(os.environ))
print("up", flush=True)
worker.ask(b"hang", 60)
"""


@pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")
def test_f22_a_busy_worker_goes_with_an_owner_that_was_killed() -> None:
    with marked() as (env, living):
        argv = [sys.executable, "-c", OWNER, ECHO]
        owner = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)
        assert owner.stdout
        owner.stdout.readline()
        assert len(living()) == 2
        owner.kill()
        owner.communicate()
        assert gone_within(30, living)


def test_closing_twice_is_fine(worker: Worker) -> None:
    worker.close()
    worker.close()
    assert not worker.usable


SERVED = """
import resource
IDLE_SECONDS = 60.0
def serve(arguments):
    memory = resource.getrlimit(resource.RLIMIT_AS)[0]
    return lambda payload: [arguments, payload.decode(), memory]
"""


def test_a_module_is_served_under_a_bound_of_memory(tmp_path: Path) -> None:
    (tmp_path / "served.py").write_text(SERVED)
    worker = Worker(
        worker_command(str(tmp_path / "served.py"), "a b", site=False), env=dict(os.environ)
    )
    assert json.loads(worker.ask(b"x" * 3_000_000, 30)) == [["a b"], "x" * 3_000_000, MEMORY]
    assert json.loads(worker.ask(b"", 30)) == {}
    assert [path.name for path in tmp_path.iterdir()] == ["served.py"]
    worker.close()


def test_a_served_module_ends_when_it_was_idle(tmp_path: Path) -> None:
    (tmp_path / "served.py").write_text(SERVED.replace("60.0", "0.0"))
    worker = Worker(worker_command(str(tmp_path / "served.py")), env=dict(os.environ))
    with pytest.raises(DiedError):
        worker._receive(1, time.monotonic() + 30)
    worker.close()


BUSY = """
import os, time
def read(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data)) or exit()
    return data
while True:
    seconds = float(read(int.from_bytes(read(8), "big")))
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    os.write(1, (2).to_bytes(8, "big") + b"ok")
"""


@pytest.fixture
def busy() -> Iterator[Worker]:
    worker = Worker([sys.executable, "-I", "-S", "-c", BUSY], env=dict(os.environ))
    worker.ask(b"0", 60)
    yield worker
    worker.close()


@pytest.mark.long
@pytest.mark.skipif(not ON_LINUX, reason="the processor's time of a child is read from /proc")
@pytest.mark.parametrize("seconds", [0.2, 0.5])
def test_a_question_has_its_seconds_of_the_processor(busy: Worker, seconds: float) -> None:
    """A child that gets a fraction of the processor answers late by the clock, and is heard."""
    with slowed(busy._process.pid):
        assert busy.ask(b"%g" % seconds, seconds + 0.3) == b"ok"


@pytest.mark.long
def test_a_question_gets_no_more_of_the_processor_than_that(busy: Worker) -> None:
    with pytest.raises(LateError):
        busy.ask(b"600", 0.3)


@contextmanager
def slowed(pid: int) -> Iterator[None]:
    """Let a process have a tenth of the time, as on a machine with ten times the work."""
    over = threading.Event()

    def hold() -> None:
        while not over.wait(0.01):
            os.kill(pid, signal.SIGSTOP)
            over.wait(0.09)
            os.kill(pid, signal.SIGCONT)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        yield
    finally:
        over.set()
        holder.join()
