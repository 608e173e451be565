"""A warm interpreter that runs our command lines, each in a fork: as real, ten times faster.

``python -m tests.faults.warm`` is its far side: a request per line on stdin, an answer on stdout.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from tests.faults.intercepted import Fault, Faulty, Intercepted
from tests.faults.read_side import ReadSide

ROOT = Path(__file__).parent.parent.parent
NO_FAULT = Fault()
NOBODY = 65534
TIMEOUT = 60  # seconds; a command line that takes longer hangs


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command line without the program's name; one that begins with "pytest" is pytest's own.

    `below` is the folder whose calls are met.

    With `reads` it is the calls that read which are met. `delay` are seconds to wait before it
    begins, beside others; `ordinary` has it run as an ordinary user where we are root.
    """

    argv: Sequence[str]
    cwd: Path
    below: Path | None = None
    fault: Fault = NO_FAULT
    delay: float = 0.0
    ordinary: bool = False
    reads: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "argv": list(self.argv),
            "cwd": str(self.cwd),
            "below": str(self.below) if self.below else "",
            "fault": self.fault.to_json(),
            "delay": self.delay,
            "ordinary": self.ordinary,
            "reads": self.reads,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command line ended: exit status (-n: by signal n), output, and the calls it made."""

    status: int
    stdout: str
    stderr: str
    calls: tuple[str, ...] = ()


class Warm:
    """The near side. Use it with `with`; `run` gives the results of jobs that run side by side."""

    def __init__(self) -> None:
        quiet = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE_", "COV_"))}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**quiet, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": os.devnull},
        )

    def run(self, *jobs: Job) -> list[Ran]:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps([job.to_json() for job in jobs]).encode() + b"\n")
        self._server.stdin.flush()
        answers = json.loads(self._server.stdout.readline())
        return [Ran(**{**answer, "calls": tuple(answer["calls"])}) for answer in answers]

    def one(self, argv: Sequence[str], cwd: Path, **more: Any) -> Ran:
        return self.run(Job(argv=argv, cwd=cwd, **more))[0]

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            self._server.communicate(timeout=TIMEOUT)


@cache
def warm_interpreter() -> Warm:
    """Return the one that all figures of this process share; it ends with the process."""
    warm = Warm()
    atexit.register(warm.__exit__)
    return warm


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until there are none."""
    for line in requests:
        answers.write(json.dumps(_run_all(json.loads(line))).encode() + b"\n")
        answers.flush()


def _run_all(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if any(job["ordinary"] for job in jobs):
        _import_all()  # our folder may be closed to others
    gate, starter = os.pipe()
    with contextlib.ExitStack() as stack:
        files = [[stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)] for _ in jobs]
        children = []
        for job, outputs in zip(jobs, files, strict=True):
            if not (pid := os.fork()):
                os.close(starter)
                _child(job, gate, *(file.fileno() for file in outputs))
            children.append(pid)
        os.close(gate)
        os.close(starter)  # all of them go
        return [_result(pid, *outputs) for pid, outputs in zip(children, files, strict=True)]


def _result(pid: int, stdout: IO[bytes], stderr: IO[bytes], calls: IO[bytes]) -> dict[str, Any]:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    texts = []
    for file in (stdout, stderr, calls):
        file.seek(0)
        texts.append(file.read().decode("utf-8", "backslashreplace"))
    return {
        "status": status,
        "stdout": texts[0],
        "stderr": texts[1],
        "calls": texts[2].splitlines(),
    }


def _child(job: Mapping[str, Any], gate: int, stdout: int, stderr: int, calls: int) -> None:
    status = 70
    try:
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        os.chdir(job["cwd"])
        signal.alarm(TIMEOUT)
        if job["ordinary"] and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        os.read(gate, 1)
        time.sleep(job["delay"])
        watch = Faulty(Fault.from_json(job["fault"]))
        with _met(job["below"], watch, reads=job["reads"]):
            status = _command_line(job["argv"])
        os.write(calls, "\n".join(watch.seen).encode())
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _command_line(argv: Sequence[str]) -> int:
    """Run a command line of ours; one that begins with "pytest" is pytest's own."""
    if argv[:1] == ["pytest"]:
        import pytest

        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        return int(pytest.main(list(argv[1:])))
    from pytest_reflex.cli.main import main

    return main(list(argv))


@contextlib.contextmanager
def _met(below: str, watch: Faulty, *, reads: bool) -> Iterator[None]:
    if not below:
        yield
        return
    with (ReadSide if reads else Intercepted)(below, watch):
        yield


def _import_all() -> None:
    import pytest_reflex

    for module in pkgutil.walk_packages(pytest_reflex.__path__, "pytest_reflex."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _warm_up() -> None:
    """Import what the verbs of a loop import, by running one and looking at it."""
    from pytest_reflex.cli.main import main
    from tests.faults.project import Project

    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        project = Project(Path(folder) / "warm")
        os.chdir(project.folder)
        try:
            with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                main(project.new())
                main(["loop", "status"])
        finally:
            os.chdir(here)


if __name__ == "__main__":
    near, far = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    _warm_up()
    serve(near, far)
