"""L1 to L5: a killed holder frees its run, two never hold it, and no text in a file is a lock."""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pytest_reflex.errors import LockedError
from pytest_reflex.storage.journal import Journal, is_locked
from tests.faults.figure import Figure, of_cases
from tests.faults.memory import memory_folder
from tests.faults.warm import ROOT

KILLS, ATTEMPTS, HOLDERS = 1_000, 10_000, 4
SAMPLE = 20


def figure(full: bool) -> Figure:
    """Run the cases in a process of their own, which may fork."""
    argv = [sys.executable, "-m", "tests.faults.locks", *(["full"] if full else [])]
    ran = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    cases = [(str(name), [str(why) for why in wrong]) for name, wrong in found["cases"]]
    return of_cases(cases, note=found["note"])


def _main(full: bool) -> dict[str, object]:
    kills, attempts = (KILLS, ATTEMPTS) if full else (SAMPLE, 10 * SAMPLE)
    with memory_folder() as folder:
        path = folder / "run" / "history.jsonl"
        path.parent.mkdir()
        Journal.create(path).close()
        cases = [(f"kill {number}", _killed(path)) for number in range(kills)]
        cases.append(("two holders", _contended(path, attempts)))
        cases += [(name, case(path)) for name, case in _CASES.items()]
    note = f"{kills} killed holders, {attempts} attempts of {HOLDERS} at once"
    return {"cases": cases, "note": note}


def _child(work: Callable[[], None]) -> int:
    if pid := os.fork():
        return pid
    try:
        work()
    finally:
        os._exit(0)


def _holding(path: Path) -> tuple[int, int]:
    """Return a process that holds a journal, and the pipe on which it said so."""
    near, far = os.pipe()

    def hold() -> None:
        with Journal.open(path):
            os.write(far, b"!")
            time.sleep(60)

    pid = _child(hold)
    os.close(far)
    os.read(near, 1)
    return pid, near


def _killed(path: Path) -> list[str]:
    """A run is held by a process that is killed: the next one holds it at once."""
    pid, pipe = _holding(path)
    wrong = []
    if not is_locked(path):
        wrong.append("the holder does not hold it")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(pipe)
    try:
        Journal.open(path).close()
    except LockedError as error:
        wrong.append(str(error))
    return wrong


def _contended(path: Path, attempts: int) -> list[str]:
    """Several processes open and close; each says in shared memory that it is inside."""
    inside = mmap.mmap(-1, 2 * HOLDERS)

    def work(number: int) -> None:
        dice = random.Random(number)
        for _ in range(attempts // HOLDERS):
            try:
                with Journal.open(path):
                    inside[number] = 1
                    if sum(inside[:HOLDERS]) != 1:
                        inside[HOLDERS + number] = 1
                    time.sleep(dice.random() / 10_000)
                    inside[number] = 0
            except LockedError:
                continue

    children = [_child(partial(work, number)) for number in range(HOLDERS)]
    for pid in children:
        os.waitpid(pid, 0)
    return ["two held it at once"] * any(inside[HOLDERS:])


def _forged(path: Path) -> list[str]:
    """L2, L3: what a file says of a living process, of another host or boot, is not a lock."""
    for name in ("run.json.lock", "history.jsonl.lock", ".lock"):
        forged = {"pid": os.getppid(), "host": "elsewhere", "boot_id": "0", "status": "running"}
        path.with_name(name).write_text(json.dumps(forged))
    Journal.open(path).close()
    return ["it counts as held"] * is_locked(path)


def _other_descriptor(path: Path) -> list[str]:
    """L5: the holder opens and closes the file another time, and still holds it."""
    pid, pipe = -1, -1
    with Journal.open(path):
        path.read_bytes()
        os.close(os.open(path, os.O_RDWR))
        near, far = os.pipe()

        def try_it() -> None:
            try:
                Journal.open(path).close()
            except LockedError:
                os.write(far, b"locked")

        pid, pipe = _child(try_it), near
        os.close(far)
        said = os.read(pipe, 100)
    os.waitpid(pid, 0)
    os.close(pipe)
    return [] if said == b"locked" else ["closing another descriptor gave the lock away"]


def _inherited(path: Path) -> list[str]:
    """L5: neither a fork nor a program that the holder started keeps the lock of a dead holder."""
    near, far = os.pipe()

    def hold() -> None:
        with Journal.open(path):
            os.set_inheritable(far, True)
            sleeper = subprocess.Popen(["sleep", "60"], close_fds=False)
            forked = _child(lambda: time.sleep(60))
            os.write(far, f"{sleeper.pid} {forked}".encode())
            time.sleep(60)

    pid = _child(hold)
    os.close(far)
    left = [int(word) for word in os.read(near, 100).split()]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    deadline = time.monotonic() + 5  # the fork lets go of it as its first act
    while (held := is_locked(path)) and time.monotonic() < deadline:
        time.sleep(0.01)
    for child in left:
        os.kill(child, signal.SIGKILL)
    os.close(near)
    return ["what the holder left keeps its lock"] * held


_CASES: dict[str, Callable[[Path], list[str]]] = {
    "forged": _forged,
    "another descriptor": _other_descriptor,
    "inherited": _inherited,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(_main(sys.argv[1:] == ["full"])))
