"""A warm child with deadlines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pytest_reflex.process.worker import DiedError, LateError, Worker
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
