"""The killable search: what happens to its child."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_reflex.process.worker import Worker, worker_command
from pytest_reflex.search import search_child
from pytest_reflex.search.search_process import SEARCHES, SearchError, SearchProcess
from tests.process.zoo import ON_LINUX, marked

pytestmark = pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SearchProcess, Callable[[], int]]]:
    """Yield a search process, and a function that returns the id of its only child."""
    found = SearchProcess()
    with marked() as (env, living):

        def child() -> int:
            (pid,) = living()
            return int(pid)

        monkeypatch.setattr("os.environ", env)
        yield found, child
        found.close()
        assert living() == []


Searches = tuple[SearchProcess, Callable[[], int]]


def ticks_of(pid: int) -> int:
    """Return how much of a processor a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_child_stays_for_the_next_search(searches: Searches) -> None:
    search, child = searches
    assert search.spans("a", 0, "xa", 5, 10) == [(1, 2)]
    pid = child()
    assert search.spans("x", 0, "xa", 5, 10) == [(0, 1)]
    assert search.spans("é", 0, "xé", 5, 10) == [(1, 2)]
    assert child() == pid


def test_child_that_is_gone_is_replaced(searches: Searches) -> None:
    search, child = searches
    search.spans("a", 0, "xa", 5, 10)
    os.kill(child(), signal.SIGKILL)
    assert search.spans("a", 0, "xa", 5, 10) == [(1, 2)]


@pytest.mark.long
def test_child_that_dies_while_it_searches_is_told(searches: Searches) -> None:
    search, child = searches

    def kill() -> None:
        """Kill the child when it has used more of a processor than its start takes."""
        while True:
            with suppress(ValueError, OSError):  # it is not there yet
                if ticks_of(pid := child()) > 30:
                    return os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with pytest.raises(SearchError, match="the process that searched died"):
        search.spans("(a+)+$", 0, "a" * 60 + "-", 5, 30)
    killer.join()


def test_search_without_memory_is_told() -> None:
    limited = (
        f"ulimit -v 200000; exec {shlex.join(worker_command(search_child.__file__, site=False))}"
    )
    worker = Worker(["bash", "-c", limited], env=dict(os.environ))
    head = {"pattern": "(?:ab|a|b)*c", "flags": 0, "limit": 1, "keep": False}
    answer = worker.ask(json.dumps(head).encode() + b"\n" + b"ab" * 5_000_000, 30)
    assert json.loads(answer) == {"error": "the search needed too much memory"}
    worker.close()


def test_fork_has_a_child_of_its_own() -> None:
    SEARCHES.spans("a", 0, "xa", 5, 10)
    fork = os.fork()
    if fork == 0:
        found = SEARCHES.spans("x", 0, "xa", 5, 10)
        SEARCHES.close()
        os._exit(0 if found == [(0, 1)] else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert SEARCHES.spans("a", 0, "xa", 5, 10) == [(1, 2)]
    SEARCHES.close()
