"""A bash that is talked to: one command at a time, its output and exit status come back."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.docs.pages import ROOT

SECONDS = 60.0

# Plugins that happen to be in the test environment; a reader has only pytest-reflex and xdist.
_STRANGERS = ("randomly", "hypothesispytest", "anyio", "pytest_cov", "platformdirs")
_DEAD_END = "http://127.0.0.1:9"


def environment(home: Path) -> dict[str, str]:
    """Return what a reader's shell would have: the tools first on the path, 80 columns, no net."""
    dropped = (
        "PYTEST",
        "PYTHON",
        "COVERAGE",
        "CI",
        "GITHUB",
        "FORCE_COLOR",
        "XDG_CACHE",
        "XDG_STATE",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "CHECKOUT": str(ROOT),
        "COLUMNS": "80",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "PYTEST_ADDOPTS": " ".join(f"-p no:{name}" for name in _STRANGERS),
        "PIP_NO_INDEX": "1",
        "http_proxy": _DEAD_END,
        "https_proxy": _DEAD_END,
    }


class Shell:
    """A session: `cd`, `export` and `$?` work from one command to the next."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._script = folder.parent / "command.sh"
        self._status = 0
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def run(self, command: str) -> tuple[str, int]:
        """Return what a command printed, standard error included, and its exit status."""
        self._script.write_text(f"(exit {self._status})\n{command}\n", encoding="utf-8")
        mark = f"\x01{time.monotonic_ns()} "
        assert self._process.stdin is not None
        order = f". {str(self._script)!r} < /dev/null\nprintf '{mark}%d\\n' $?\n"
        self._process.stdin.write(order.encode())
        self._process.stdin.flush()
        output, _, status = self._until(mark.encode(), command).decode().rpartition(mark)
        self._status = int(status)
        return output, self._status

    def _until(self, mark: bytes, command: str) -> bytes:
        assert self._process.stdout is not None
        pipe, found = self._process.stdout.fileno(), b""
        deadline = time.monotonic() + SECONDS
        while not (mark in found and found.endswith(b"\n")):
            ready, _, _ = select.select([pipe], [], [], max(deadline - time.monotonic(), 0))
            data = os.read(pipe, 65536) if ready else b""
            if not data:
                why = "ended the shell" if ready else f"took longer than {SECONDS:g} s"
                raise RuntimeError(f"{command!r} {why}; so far: {found.decode()}")
            found += data
        return found
