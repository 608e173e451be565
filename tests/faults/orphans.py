"""Grandchildren, daemons, and our own death by kill -9: nothing goes on without us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.faults.driven import Driven, alive, wait_until
from tests.faults.figure import Figure, of_cases
from tests.process.zoo import gone_within, marked, shell

_LIMIT = 5.0  # seconds until an orphan must be gone, where nothing else runs
_DAEMON = "(setsid sh -c 'sleep 60 & sleep 60' </dev/null >/dev/null 2>&1 &)"
_PYTHON_DAEMON = (
    f"{sys.executable} -c 'import subprocess as s;"
    ' s.Popen(["sleep", "60"], start_new_session=True, stdout=-3, stderr=-3)\''
)
# What leaves its session, closes our pipes, and lets its parent end well.
ESCAPES = {
    "setsid": "setsid sleep 60 >/dev/null 2>&1 & exit 0",
    "nohup": "nohup sleep 60 >/dev/null 2>&1 & exit 0",
    "setsid nohup": "setsid nohup sleep 60 >/dev/null 2>&1 & exit 0",
    "double fork": f"{_DAEMON}; exit 0",
    "triple fork": "(setsid sh -c '(setsid sleep 60 &) &' </dev/null >/dev/null 2>&1 &); exit 0",
    "ignores signals": "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' >/dev/null 2>&1 & exit 0",
    "a whole family": "for i in $(seq 50); do setsid sleep 60 >/dev/null 2>&1 & done; exit 0",
    "from python": _PYTHON_DAEMON,
    "late": "(sleep 0.05; setsid sleep 60 >/dev/null 2>&1 &) & sleep 0.2; exit 0",
    "holding the pipe": "setsid sleep 60 & exit 0",
}
_OWNER = """
import os, sys
from pytest_reflex.process.run import run
run(["bash", "-c", sys.argv[1]], cwd="/", env=dict(os.environ), timeout=60)
"""
OWNED = {
    "hangs": "touch up; sleep 60",
    "ignores signals": "trap '' TERM INT HUP; touch up; while :; do sleep 0.05; done",
    "has a grandchild": "sleep 60 & touch up; wait",
    "has a daemon": f"{_DAEMON}; sleep 0.1; touch up; sleep 60",
    "is stopped": "touch up; kill -STOP $$",
}
_IN_LOOPS = ("PLAN", "PRODUCE", "EVALUATE", "CRITIQUE", "REFINE")

Case = tuple[str, Callable[[], list[str]]]


def figure(full: bool) -> Figure:
    """F20: 40 grandchildren that hold the pipe; F21: 10 escapes; F22: 10 kills of ourselves."""
    with tempfile.TemporaryDirectory() as folder:
        cases = list(_cases(Path(folder), repeats=20 if full else 1, full=full))
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda case: case[1](), cases))
    names = [name for name, _ in cases]
    return of_cases(zip(names, found, strict=True), note=_note(names))


def _cases(folder: Path, *, repeats: int, full: bool) -> Iterator[Case]:
    limit = _LIMIT if full else 12 * _LIMIT
    for number in range(repeats):
        yield f"F20 killed with its parent {number}", _killed_with_parent
        yield f"F20 left by its parent {number}", _left_by_parent
    for name, script in [*ESCAPES.items()][:: 1 if full else 3]:
        yield f"F21 {name}", partial(_escaped, script)
    for name, script in [*OWNED.items()][: len(OWNED) if full else 1]:
        yield f"F22 {name}", partial(_owner_killed, folder / name, script, limit)
    for step in _IN_LOOPS if full else ("EVALUATE",):
        yield f"F22 a loop in {step}", partial(_loop_killed, folder / step, step, limit)


def _note(names: list[str]) -> str:
    kinds = ("F20", "F21", "F22")
    return ", ".join(f"{sum(n.startswith(k) for n in names)} of {k}" for k in kinds)


def _killed_with_parent() -> list[str]:
    with marked() as (env, living):
        done = shell("sleep 60 & wait", timeout=0.3, env=env)
        return [*_unless(done.timed_out, "no time-out"), *_unless(not living(), "survivors")]


def _left_by_parent() -> list[str]:
    with marked() as (env, living):
        done = shell("sleep 60 & exit 0", env=env)
        told = (done.returncode, done.timed_out, done.left_children) == (0, False, True)
        return [*_unless(told, f"told as {done}"), *_unless(not living(), "survivors")]


def _escaped(script: str) -> list[str]:
    with marked() as (env, living):
        done = shell(script, env=env)
        told = (done.returncode, done.left_children) == (0, True)
        return [*_unless(told, f"told as {done}"), *_unless(not living(), "survivors")]


def _owner_killed(folder: Path, script: str, limit: float) -> list[str]:
    folder.mkdir()
    with marked() as (env, living):
        argv = [sys.executable, "-c", _OWNER, f"cd '{folder}'; {script}"]
        owner = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL)
        wait_until((folder / "up").exists)
        owner.kill()
        owner.wait()
        return _unless(gone_within(limit, living), f"alive after {limit} s: {living()}")


def _loop_killed(folder: Path, step: str, limit: float) -> list[str]:
    driven = Driven(folder)
    driven.hold(step)
    with marked() as (env, living):
        process = driven.start(env)
        held = driven.held()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        since = time.monotonic()
        wait_until(lambda: not alive(held), 60)
        seconds = time.monotonic() - since
        wrong = _unless(seconds < limit, f"its agent lived for {seconds:.1f} s")
        wrong += _unless(gone_within(limit, living), f"alive: {living()}")
    driven.release(step)
    done = driven.run("resume", "run", "--quiet")
    return wrong + _unless(done.returncode == 0, f"resume: {done.stderr[-200:]}")


def _unless(holds: bool, wrong: str) -> list[str]:
    return [] if holds else [wrong]
