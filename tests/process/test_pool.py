"""Commands that start early."""

from __future__ import annotations

import os
import threading
from concurrent.futures import CancelledError
from functools import partial

import pytest

from pytest_reflex.process.pool import Pool, default_workers
from pytest_reflex.process.run import Finished, run
from tests.process.zoo import ON_LINUX, marked


def test_results_come_by_key_in_any_order() -> None:
    with Pool[int, int](2) as pool:
        for number in range(10):
            pool.submit(number, partial(pow, number, 2))
        assert [pool.result(number) for number in reversed(range(10))] == [
            81, 64, 49, 36, 25, 16, 9, 4, 1, 0,
        ]  # fmt: skip


def test_no_more_than_the_workers_run_at_once() -> None:
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2, timeout=10)

    def call() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1

    with Pool[int, None](2) as pool:
        for number in range(6):
            pool.submit(number, call)
    assert most == 2


def test_what_a_call_raises_comes_with_its_result() -> None:
    with Pool[str, int](1) as pool:
        pool.submit("bad", partial(int, "x"))
        with pytest.raises(ValueError, match="'x'"):
            pool.result("bad")


def test_key_can_be_submitted_once() -> None:
    with Pool[str, int](1) as pool:
        pool.submit("a", int)
        with pytest.raises(KeyError, match="submitted twice: 'a'"):
            pool.submit("a", int)


@pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_no_command_outlives_a_pool_left_by_an_exception(error: type[BaseException]) -> None:
    cancel = threading.Event()

    def sleep(env: dict[str, str]) -> Finished:
        return run(["sleep", "60"], cwd="/", env=env, cancel=cancel)

    def leave(pool: Pool[int, Finished], env: dict[str, str]) -> None:
        with pool:
            for number in range(5):
                pool.submit(number, partial(sleep, env))
            raise error

    pool = Pool[int, Finished](2, cancel)
    with marked() as (env, living):
        with pytest.raises(error):
            leave(pool, env)
        assert living() == []
    assert pool.cancelled
    with pytest.raises(CancelledError):
        pool.result(4)


def test_there_are_two_workers_at_least() -> None:
    assert 2 <= default_workers() <= max(2, os.cpu_count() or 1)
