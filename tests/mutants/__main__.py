"""Mutation tests of the core: `python -m tests.mutants [--sample N] [--seed N] [--jobs N]`."""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB

from tests.mutants import copies, core, equivalents, lines, listing, report, session
from tests.mutants.core import MODULES
from tests.mutants.listing import Mutant
from tests.mutants.report import Result
from tests.mutants.trial import KILLED, UNKNOWN

_SLOWER = 4.0
_START = 20.0
"""How long a turn of tests may take: so many times what it took once, and so many seconds."""


@dataclass(slots=True)
class Trials:
    """The trials of one run: what is left to try, the results so far, and where they are kept."""

    database: WorkDB
    lines: lines.Lines
    tests: str
    results: dict[str, Result]
    total: int
    sources: dict[str, str]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def try_all(self, left: Sequence[Mutant], folders: Sequence[Path]) -> None:
        """Try mutants in as many copies as there are; each result is kept at once."""
        waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
        for mutant in left:
            waiting.put(mutant)
        # The workers end first, whatever ends this: then no thread waits for one.
        with ThreadPoolExecutor(len(folders)) as pool, ExitStack() as stack:
            workers = [stack.enter_context(_worker(folder)) for folder in folders]
            for ended in [pool.submit(self._work, waiting, worker) for worker in workers]:
                ended.result()

    def _work(self, waiting: queue.SimpleQueue[Mutant], worker: subprocess.Popen[str]) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            source = self.sources[mutant.module]
            new = listing.mutated(mutant, source)
            if new is None:
                result = Result(outcome=report.INVALID)
            else:
                result = self._tried(mutant, source, new, worker)
            with self.lock:
                self.keep(mutant, result)
                report.progress(len(self.results), self.total, mutant, result)

    def _tried(
        self, mutant: Mutant, source: str, new: str, worker: subprocess.Popen[str]
    ) -> Result:
        near = lines.lines_of(source, mutant.start[0], mutant.end[0])
        turns = self.lines.choose(mutant.module, near)
        started = time.monotonic()
        reply = _ask(
            worker,
            path=mutant.module,
            source=source,
            mutated=new,
            turns=[(turn, self._time_limit(turn)) for turn in turns],
        )
        return Result(
            **reply,
            change=listing.change(source, new),
            tests=sum(map(len, turns)),
            first=turns[0][0] if turns else "",
            seconds=time.monotonic() - started,
        )

    def _time_limit(self, turn: Sequence[str]) -> float:
        return _START + _SLOWER * sum(self.lines.seconds[test] for test in turn)

    def keep(self, mutant: Mutant, result: Result) -> None:
        """Keep a result in the session, so that an interrupt loses the one at hand alone."""
        self.results[mutant.job] = result
        session.keep(self.database, mutant.job, result, self.tests)

    def unsteady(self, folder: Path) -> list[str]:
        """Return those tests that killed a mutant and fail without one, too."""
        killed = [one for one in self.results.values() if one.outcome == KILLED]
        tests = sorted({one.killer for one in killed})
        if not tests:
            return []
        with _worker(folder) as worker:
            reply = _ask(worker, tests=tests, seconds=self._time_limit(tests))
        if reply["status"] not in (0, 1):
            raise SystemExit(f"the tests that killed mutants cannot be run: {reply}")
        return [str(test) for test in reply["failed"]]


@contextmanager
def _worker(folder: Path) -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as temporary:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.trial"],
            cwd=folder,
            env=copies.environment_of(folder) | {"TMPDIR": temporary},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield worker
        finally:
            worker.terminate()  # it ends what it runs
            worker.wait()


def _ask(worker: subprocess.Popen[str], **request: Any) -> dict[str, Any]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    line = ""
    with suppress(BrokenPipeError):
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    if not line:
        raise SystemExit(
            "a process that tries mutants has died; the same command goes on from here"
        )
    reply: dict[str, Any] = json.loads(line)
    return reply


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="how many (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default: 1)")
    options = parser.parse_args(argv)
    with copies.only_one():
        try:
            return _run(options.sample, options.seed, max(1, options.jobs))
        except KeyboardInterrupt:
            raise SystemExit("interrupted; the same command goes on from here") from None


def _run(size: int, seed: int, jobs: int) -> int:
    started = time.monotonic()
    tests = copies.digest([*core.test_files(), Path(core.__file__), Path(lines.__file__)])
    folders = [copies.renew(str(number)) for number in range(1, jobs + 1)]
    measured = lines.measured(folders[0], jobs)
    database = session.opened()
    every = listing.mutants(database)
    chosen = listing.sample(every, size, seed)
    old = session.known(database, tests, measured.seconds)
    before = {one.job: old[one.job] for one in chosen if one.job in old}
    sources = {module: (folders[0] / module).read_text("utf-8") for module in MODULES}
    trials = Trials(database, measured, tests, before, len(chosen), sources)
    print(f"{len(chosen)} of {len(every)} mutants, {len(before)} of them tried before", flush=True)
    trials.try_all([mutant for mutant in chosen if mutant.job not in before], folders)
    for test in trials.unsteady(folders[0]):
        for mutant in chosen:
            if trials.results[mutant.job].killer == test:
                trials.keep(mutant, Result(outcome=UNKNOWN, by=test))
    whole = report.Report(
        mutants=chosen, results=trials.results, table=equivalents.table(), every=every
    )
    print("\n".join(whole.lines(seed if size else None, time.monotonic() - started)))
    return 0 if whole.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
