"""A warm child with deadlines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from pytest_reflex.process.worker import DiedError, LateError, Worker

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


def test_closing_twice_is_fine(worker: Worker) -> None:
    worker.close()
    worker.close()
    assert not worker.usable
