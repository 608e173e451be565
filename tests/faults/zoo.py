"""The process zoo: commands of every temper, many of each, and then nothing is left of them."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.process.guard import GUARD
from pytest_reflex.process.run import Finished, run
from tests.faults.figure import Figure
from tests.process.zoo import marked

TIMEOUT, GRACE = 0.3, 0.2
FULL_RUNS, SAMPLE_RUNS = 10_000, 48
AT_ONCE = 4
WORST_OVERRUN = 1.5


@dataclass(frozen=True, slots=True)
class Temper:
    """A command, and what has to be true of how it ended."""

    script: str
    holds: Callable[[Finished], bool]
    stubborn: bool = False


def _ends(status: int) -> Callable[[Finished], bool]:
    return lambda done: (
        (done.returncode, done.stopped, done.left_children)
        == (
            status,
            False,
            False,
        )
    )


def _left(done: Finished) -> bool:
    return (done.returncode, done.stopped, done.left_children) == (0, False, True)


def _returns(done: Finished) -> bool:
    # What it leaves may end by itself before we are done with reading, or not.
    return (done.returncode, done.stopped) == (0, False)


def _late(done: Finished) -> bool:
    return done.timed_out


TEMPERS = {
    "ok": Temper("exit 0", _ends(0)),
    "fail": Temper("exit 3", _ends(3)),
    "hang": Temper("sleep 60", _late),
    "ignore-term": Temper("trap '' TERM INT HUP; while :; do sleep 0.05; done", _late, True),
    "fork-keep-pipe": Temper("sleep 60 & exit 0", _left),
    "daemonise": Temper("(setsid sh -c 'sleep 60 & sleep 60' >/dev/null 2>&1 </dev/null &)", _left),
    "setsid": Temper("setsid sleep 60 >/dev/null 2>&1 & exit 0", _left),
    "flood": Temper("yes | head -c 3000000", lambda d: d.stdout_total == 3_000_000),
    "flood-no-newline": Temper("head -c 3000000 /dev/zero", lambda d: d.stdout_total == 3_000_000),
    "endless": Temper("yes", lambda d: d.overflow or d.timed_out),
    "binary": Temper("head -c 5000 /dev/urandom", lambda d: len(d.stdout) == 5_000),
    "nul": Temper(r"printf '\0\0\0'", lambda d: d.stdout == b"\0\0\0"),
    "slow-drip": Temper("while :; do echo x; sleep 0.1; done", _late),
    "stop-self": Temper("kill -STOP $$; exit 0", _late),
    "read-stdin": Temper("cat; exit 5", _ends(5)),
    "die-by-signal": Temper("kill -SEGV $$", lambda d: d.signal == signal.SIGSEGV),
    "zombie-maker": Temper(
        "(for i in 1 2 3; do (exit 0) & done; exec sleep 0.1) & exit 0", _returns
    ),
}


def figure(full: bool) -> Figure:
    """Run them, a few at a time; how late the last one was is judged where all of them run."""
    runs = FULL_RUNS if full else SAMPLE_RUNS
    names = [name for name in TEMPERS for _ in range(runs // len(TEMPERS) + 1)][:runs]
    random.Random(7).shuffle(names)
    GUARD.mark()  # one process and one pipe that stay
    worst = 0.0
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder, _temporary_files_in(folder):
        before = held(folder)
        with marked() as (env, living):
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for late, wrong in pool.map(lambda name: _one(name, env, full), names):
                    worst = max(worst, late)
                    failures += wrong
            left = living()
        good = runs - len(failures)
        if left:
            failures.append(f"left running: {len(left)} processes")
        if (after := held(folder)) != before:
            failures.append(f"held before {before}, after {after}")
    note = f"worst overrun of a deadline {worst:.2f} s; left: {len(left)} processes"
    return Figure(good=good if len(failures) == runs - good else 0, total=runs, note=note,
                  failures=tuple(failures))  # fmt: skip


def _one(name: str, env: dict[str, str], strict: bool) -> tuple[float, list[str]]:
    temper = TEMPERS[name]
    done = _run(temper, env)
    late = _lateness(temper, done)
    if temper.holds(done) and (late < WORST_OVERRUN or not strict):
        return late, []
    how = f"timed out: {done.timed_out}, left children: {done.left_children}"
    return late, [f"{name}: status {done.returncode}, {late:.2f} s late, {how}"]


def _lateness(temper: Temper, done: Finished) -> float:
    if not done.timed_out:
        return 0.0
    return done.seconds - TIMEOUT - (GRACE if temper.stubborn else 0)


@contextmanager
def _temporary_files_in(folder: str) -> Iterator[None]:
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _run(temper: Temper, env: dict[str, str]) -> Finished:
    return run(
        ["sh", "-c", temper.script],
        cwd="/",
        env=env,
        # What ends by itself has all the time of a busy machine.
        timeout=TIMEOUT if temper.holds is _late else 60,
        grace=GRACE,
        head=10_000,
        tail=10_000,
        hard_cap=50_000_000,
    )


def held(temporary: str) -> dict[str, object]:
    """Return what this process has: children, descriptors, threads, temporary files."""
    tasks = Path("/proc/self/task").iterdir()
    return {
        "children": sorted(c for t in tasks for c in (t / "children").read_text().split()),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "temporary files": sorted(os.listdir(temporary)),
    }
