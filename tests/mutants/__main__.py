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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

from tests.mutants import copies, core, equivalents, lines, listing, report
from tests.mutants.core import MODULES
from tests.mutants.listing import Mutant
from tests.mutants.report import Result
from tests.mutants.trial import IMPORT, KILLED, SURVIVED, TIMEOUT, UNKNOWN

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

    def try_all(self, left: Sequence[Mutant], folders: Sequence[Path]) -> None:
        """Try mutants in as many copies as there are; each result is kept at once."""
        waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
        for mutant in left:
            waiting.put(mutant)
        with ExitStack() as stack:
            workers = [stack.enter_context(_worker(folder)) for folder in folders]
            lock = threading.Lock()
            threads = [
                threading.Thread(target=self._work, args=(waiting, worker, lock), daemon=True)
                for worker in workers
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # an interrupt comes through

    def _work(
        self,
        waiting: queue.SimpleQueue[Mutant],
        worker: subprocess.Popen[str],
        lock: threading.Lock,
    ) -> None:
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
            with lock:
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
            turns=[(turn, self._patience(turn)) for turn in turns],
        )
        return Result(
            **reply,
            change=listing.change(source, new),
            tests=sum(map(len, turns)),
            first=turns[0][0] if turns else "",
            seconds=time.monotonic() - started,
        )

    def _patience(self, turn: Sequence[str]) -> float:
        return _START + _SLOWER * sum(self.lines.seconds[test] for test in turn)

    def keep(self, mutant: Mutant, result: Result) -> None:
        """Keep a result in the session, so that an interrupt loses the one at hand alone."""
        self.results[mutant.job] = result
        self.database.set_result(mutant.job, kept(result, self.tests))

    def unsteady(self, folder: Path) -> list[str]:
        """Return those tests that killed a mutant and fail without one, too."""
        killers = {
            result.first if result.by in (IMPORT, TIMEOUT) else result.by
            for result in self.results.values()
            if result.outcome == KILLED
        } & self.lines.seconds.keys()
        tests = sorted(killers)
        if not tests:
            return []
        with _worker(folder) as worker:
            reply = _ask(worker, tests=tests, seconds=self._patience(tests))
        if reply["status"] not in (0, 1):
            raise SystemExit(f"the tests that killed mutants cannot be run: {reply}")
        return [str(test) for test in reply["failed"]]


def kept(result: Result, tests: str) -> WorkResult:
    """Return a result as a session of cosmic-ray keeps it; `tests` is the digest of the tests."""
    invalid, tried = result.outcome == report.INVALID, result.outcome in (KILLED, SURVIVED)
    return WorkResult(
        worker_outcome=WorkerOutcome.SKIPPED if invalid else WorkerOutcome.NORMAL,
        test_outcome=TestOutcome(result.outcome if tried else TestOutcome.INCOMPETENT),
        output=json.dumps({"tests": tests, "result": result.to_json()}),
        diff=result.diff,
    )


def known(database: WorkDB, tests: str) -> dict[str, Result]:
    """Return what an earlier run found out: a kill stays, survivors are tried by changed tests."""
    found = {}
    for job, row in database.results:
        note = json.loads(row.output or "null")
        if not note:
            continue
        result = Result.of_json(note["result"])
        if result.outcome in (KILLED, report.INVALID) or (
            result.outcome == SURVIVED and note["tests"] == tests
        ):
            found[job] = result
    return found


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
            worker.kill()
            worker.wait()


def _ask(worker: subprocess.Popen[str], **request: Any) -> dict[str, Any]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(request) + "\n")
    worker.stdin.flush()
    reply: dict[str, Any] = json.loads(worker.stdout.readline())
    return reply


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="how many (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default: 1)")
    options = parser.parse_args(argv)
    with copies.only_one():
        return _run(options.sample, options.seed, max(1, options.jobs))


def _run(size: int, seed: int, jobs: int) -> int:
    started = time.monotonic()
    folders = [copies.renew(str(number)) for number in range(1, jobs + 1)]
    measured = lines.measured(folders[0], jobs)
    tests = copies.digest(core.test_files())
    database = listing.session()
    every = listing.mutants(database)
    chosen = listing.sample(every, size, seed)
    jobs_chosen = {mutant.job for mutant in chosen}
    before = {job: row for job, row in known(database, tests).items() if job in jobs_chosen}
    sources = {module: (folders[0] / module).read_text("utf-8") for module in MODULES}
    trials = Trials(database, measured, tests, before, len(chosen), sources)
    print(f"{len(chosen)} of {len(every)} mutants, {len(before)} of them tried before", flush=True)
    trials.try_all([mutant for mutant in chosen if mutant.job not in before], folders)
    for test in trials.unsteady(folders[0]):
        for mutant in chosen:
            if test in (trials.results[mutant.job].by, trials.results[mutant.job].first):
                trials.keep(mutant, Result(outcome=UNKNOWN, by=test))
    whole = report.Report(
        mutants=chosen, results=trials.results, table=equivalents.table(), every=every
    )
    print("\n".join(whole.lines(seed if size else None, time.monotonic() - started)))
    return 0 if whole.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
