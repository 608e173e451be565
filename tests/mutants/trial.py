"""Trying mutants in one copy: `python -m tests.mutants.trial`, one request and one reply a line.

pytest and what the package needs of others are imported once; each trial is a fork of that, which
imports the package and the tests anew.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

SURVIVED, KILLED = "survived", "killed"

UNKNOWN = "unknown"
"""What killed it fails without it, too; it is tried again in the next run."""

IMPORT, TIMEOUT = "import", "timeout"
_WARM = (
    "pytest", "_pytest.pytester", "click", "jsonschema", "markdown_it", "platformdirs",
    "ruamel.yaml", "tabulate", "tomllib", "sqlite3", "asyncio", "difflib", "email.message",
)  # fmt: skip
_PASSED = 0
_OPTIONS = ("-x", "-q", "--no-header", "--tb=no", "-p", "no:randomly", "-p", "no:cacheprovider")


class _FirstFailure:
    """Writes the first test that fails into a pipe, at once."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            os.write(self.pipe, f"{report.nodeid}\n".encode())


def run(tests: list[str], seconds: float, options: tuple[str, ...] = _OPTIONS) -> tuple[int, str]:
    """Run tests in a fork; return pytest's exit status and what failed, or TIMEOUT."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        _in_child(tests, write, options)
    os.close(write)
    deadline, ended = time.monotonic() + seconds, 0
    try:
        while not ended and time.monotonic() < deadline:
            time.sleep(0.02)
            ended, status = os.waitpid(child, os.WNOHANG)
    finally:  # also where this process is told to end
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        if not ended:
            os.kill(child, signal.SIGKILL)  # before it led a group
            os.waitpid(child, 0)
    os.set_blocking(read, False)
    try:
        failed = os.read(read, 1 << 16).decode()
    except BlockingIOError:  # something that a test started still holds the other end
        failed = ""
    os.close(read)
    if not ended:
        return -1, TIMEOUT
    return os.waitstatus_to_exitcode(status), failed.strip()


def _in_child(tests: list[str], pipe: int, options: tuple[str, ...]) -> None:
    code = 99
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        import pytest

        code = int(pytest.main([*options, *tests], plugins=[_FirstFailure(pipe)]))
    finally:
        os._exit(code)


def trial(path: Path, source: str, mutated: str, turns: list[list[Any]]) -> dict[str, str]:
    """Write a mutated module, run the turns of tests until one fails, write the module back."""
    path.write_text(mutated, "utf-8")
    try:
        for tests, seconds in turns:
            status, failed = run(tests, seconds)
            if status != _PASSED:
                break
        else:
            return {"outcome": SURVIVED, "by": ""}
    finally:
        path.write_text(source, "utf-8")
    if not failed and (why := run(tests, seconds, (*_OPTIONS, "--collect-only"))[0]):
        return {"outcome": UNKNOWN, "by": f"pytest's status {why} of {tests[0]} and others"}
    return {"outcome": KILLED, "by": failed.partition("\n")[0] or IMPORT}


def failing(tests: list[str], seconds: float) -> dict[str, Any]:
    """Run tests on the copy as it is; return those that fail."""
    status, failed = run(tests, seconds, _OPTIONS[1:])
    return {"status": status, "failed": failed.split("\n") if failed else []}


def main(requests: TextIO, replies: TextIO) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for name in _WARM:
        importlib.import_module(name)
    for line in requests:
        request = json.loads(line)
        if "path" in request:
            reply: dict[str, Any] = trial(Path(request.pop("path")), **request)
        else:
            reply = failing(**request)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
