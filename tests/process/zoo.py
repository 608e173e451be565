"""Children of every temper, and a look at which of them are still alive."""

from __future__ import annotations

import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_reflex.process.run import Finished, run

PYTHON = sys.executable
ON_LINUX = sys.platform.startswith("linux")


def shell(command: str, **options: Any) -> Finished:
    """Run a shell command with short times."""
    given: dict[str, Any] = {"cwd": "/", "env": dict(os.environ), "timeout": 20.0, "grace": 0.3}
    return run(["bash", "-c", command], **given | options)


def python(source: str, **options: Any) -> Finished:
    given: dict[str, Any] = {"cwd": "/", "env": dict(os.environ), "timeout": 20.0, "grace": 0.3}
    return run([PYTHON, "-I", "-S", "-c", source], **given | options)


@contextmanager
def signalled(*sent: tuple[int, Path]) -> Iterator[None]:
    """Send ourselves signals in turn, each when its file is there; none once the block is left."""
    left = threading.Event()

    def send() -> None:
        for number, file in sent:
            while not file.exists():
                if left.wait(0.01):
                    return
            os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        left.set()
        sender.join()


@contextmanager
def marked() -> Iterator[tuple[dict[str, str], Any]]:
    """Yield an environment and a function that lists the living processes that carry it."""
    name = f"ZOO_{uuid.uuid4().hex}"
    yield {**os.environ, name: "1"}, lambda: [*living_with(f"{name}=1".encode())]


def living_with(mark: bytes) -> Iterator[int]:
    """Yield the living processes that have NAME=VALUE in their environment."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            zombie = b") Z" in (entry / "stat").read_bytes()
            if not zombie and mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)
        except OSError:
            continue


def gone_within(seconds: float, living: Callable[[], Sequence[object]]) -> bool:
    """Wait until nothing is alive any more; return whether that came in time."""
    deadline = time.monotonic() + seconds
    while living():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
