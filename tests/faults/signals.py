"""Signals in every step of a real loop: what each leaves behind, and that the run goes on."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

from tests.faults.driven import STEPS, Driven, alive, stopped, wait_until
from tests.faults.figure import Figure, of_cases

STATUS = {
    "SIGINT": 130,
    "SIGTERM": 143,
    "SIGHUP": 129,
    "SIGQUIT": 131,
    "double Ctrl-C": 130,
    "SIGTSTP": 0,
}
_PAUSE = 0.3
_GRACE = 100  # of a stubborn agent: nobody waits that long for the second signal
_TIMEOUT = 60
_ORPHANED = 5.0  # seconds


@dataclass(frozen=True, slots=True)
class Case:
    """A signal, the step in which it comes, and whether it comes once more."""

    signal: str
    step: str
    twice: bool

    def __str__(self) -> str:
        return f"{self.signal} in {self.step}{' twice' if self.twice else ''}"


SAMPLE = (
    Case("SIGHUP", "EVALUATE", False),
    Case("SIGTSTP", "PRODUCE", False),
)


def figure(full: bool) -> Figure:
    """Return how many cases came out as they must: all 72, or a few."""
    cases: tuple[Case, ...] = SAMPLE
    if full:
        cases = tuple(Case(*case) for case in product(STATUS, STEPS, (False, True)))
    with tempfile.TemporaryDirectory() as folder, heard():
        unbroken = Driven(Path(folder) / "unbroken", evaluator="core")
        unbroken.run(*unbroken.new()[4:])
        expected = _outcome(unbroken)
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(
                lambda numbered: _played(Path(folder) / str(numbered[0]), numbered[1], expected),
                enumerate(cases),
            )
            results = list(zip(map(str, cases), found, strict=True))
    slowest = max(seconds for _, (seconds, _) in results)
    return of_cases(
        ((name, wrong) for name, (_, wrong) in results),
        note=f"slowest end after the last signal {slowest:.1f} s",
    )


@contextmanager
def heard() -> Iterator[None]:
    """Let children hear what we may have been started to ignore, as in the background."""
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
    ignored = [n for n in numbers if signal.getsignal(n) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def _played(folder: Path, case: Case, expected: dict[str, Any]) -> tuple[float, list[str]]:
    """Play a case; return the seconds from the last signal to the end, and what was wrong."""
    # The evaluator that forks is the harder one, where its step is meant.
    evaluator = "pytest" if case.step == "EVALUATE" else "core"
    driven = Driven(folder, evaluator=evaluator, grace=_GRACE if case.twice else 2)
    if case.twice:
        (folder / "stubborn").touch()
    driven.hold(case.step)
    process = driven.start()
    try:
        return _judged(driven, process, case, expected)
    except (TimeoutError, TimeoutExpired, OSError) as error:
        return 0.0, [f"{type(error).__name__}, after {driven.log().splitlines()[-1:]}"]
    finally:
        process.kill()
        process.wait()


def _judged(
    driven: Driven, process: Popen[bytes], case: Case, expected: dict[str, Any]
) -> tuple[float, list[str]]:
    held = driven.held()
    wrong = list(_signalled(process, held, case))
    since = time.monotonic()
    if case.signal == "SIGTSTP":
        driven.release(case.step)
    status = process.wait(_TIMEOUT)
    seconds = time.monotonic() - since
    if status != STATUS[case.signal]:
        wrong.append(f"exit {status}, not {STATUS[case.signal]}: {driven.log()[-200:]}")
    try:
        wait_until(lambda: not alive(held), _ORPHANED)
    except TimeoutError:
        wrong.append("what it had started is alive")
    (driven.folder / "stubborn").unlink(missing_ok=True)
    driven.release(case.step)
    if case.signal != "SIGTSTP":
        wrong += _resumed(driven)
    if (outcome := _outcome(driven)) != expected:
        wrong.append(f"it ended as {outcome}")
    if "Traceback" in driven.log():
        wrong.append("a traceback")
    return seconds, wrong


def _signalled(process: Popen[bytes], held: int, case: Case) -> Iterator[str]:
    for number in range(2 if case.twice else 1):
        if number:
            time.sleep(_PAUSE)
        if case.signal == "double Ctrl-C":
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)
        elif case.signal == "SIGTSTP":
            yield from _paused(process, held, case)
        else:
            process.send_signal(signal.Signals[case.signal])


def _paused(process: Popen[bytes], held: int, case: Case) -> Iterator[str]:
    """Stop and continue, as Ctrl-Z and fg do."""
    process.send_signal(signal.SIGTSTP)
    wait_until(lambda: stopped(process.pid))
    try:
        wait_until(lambda: stopped(held), _TIMEOUT)
    except TimeoutError:
        yield "what it had started went on while it was stopped"
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: not stopped(process.pid) and not stopped(held))


def _resumed(driven: Driven) -> Iterator[str]:
    shown = driven.run("status").stdout
    if "running (interrupted)" not in shown:
        yield f"status says {shown[:200]!r}"
    done = driven.run("resume", "run", "--quiet")
    if done.returncode != 0:
        yield f"resume left with {done.returncode}: {done.stderr[-200:]}"


def _outcome(driven: Driven) -> dict[str, Any]:
    """What must be the same however often a run was interrupted."""
    state = driven.state()
    rows = [(r["id"], r["outcome"]) for r in state["evaluation"]["rule_results"]]
    keys = ("status", "iteration", "phase", "plan", "stop", "last_score_exact")
    return {**{key: state[key] for key in keys}, "rows": rows}
