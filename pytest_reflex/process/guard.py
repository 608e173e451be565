"""Nothing that we started outlives us, processes or temporary folders, not even where we are
killed.

One small child for each process that starts commands, begun with the first of them. It waits for
its owner to be gone, then ends the groups that were still running and, where the system shows the
environment of processes (Linux), all that carries the owner's mark, and removes temporary folders.
A command costs two short writes to a pipe.

Why not the parent-death signal: the kernel sends it when the *thread* that started a child ends,
and setting it needs code between fork and exec, which is not safe beside other threads.

Limits: whoever kills guard and owner at once gets rid of both; where no guard can be started,
there is none.

What was judged before is kept out of a judgement by variables for its commands: an agent can write
caches. Bytecode, the caches of mypy, ruff and pytest, the data of coverage and the examples of
hypothesis lie in one private folder. Limits: a tool with a cache of its own reads that one still.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import Lock

from pytest_reflex.process import guard_child
from pytest_reflex.process.group import signal_group, signal_marked

MARK = guard_child.MARK


class Reaper:
    """The guard of this process, and of those forks of it that are made inside `share`."""

    def __init__(self) -> None:
        self._shared = False
        self._forget()

    def _forget(self) -> None:
        self._lock = Lock()
        self._token = os.urandom(6).hex()
        self._numbers = count(1)
        self._writer: int | None = None
        self._pipe = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._watched: set[int | Path] = set()
        self._processes: set[int] = set()

    @property
    def pid(self) -> int | None:
        """The process id of the guard that this very process has started."""
        return self._process.pid if self._process is not None else None

    @property
    def kept(self) -> frozenset[Path]:
        """The temporary folders that are to be removed and are there still."""
        return frozenset(one for one in self._watched if isinstance(one, Path))

    def mark(self) -> str:
        """Return NAME=value for the environment of one child, by which it and its own are known."""
        with self._lock:
            if self._writer is None:
                self._start()
        return f"{MARK}={self._token}-{os.getpid()}-{next(self._numbers)}"

    def watch(self, leader: int) -> None:
        """Have the group of a child ended, should we be gone before it is released."""
        self._watched.add(leader)
        self._send(b"+%d" % leader)

    def release(self, leader: int) -> None:
        """Take a child from the watch: nothing is left of it."""
        self._watched.discard(leader)
        self._send(b"-%d" % leader)

    def watch_process(self, pid: int) -> None:
        """Have one process ended, should we be gone before it is released."""
        with self._lock:
            if self._writer is None:
                self._start()
        self._processes.add(pid)
        self._send(b"*%d" % pid)

    def release_process(self, pid: int) -> None:
        """Take a process from the watch: it has ended, or is to go on."""
        self._processes.discard(pid)
        self._send(b"/%d" % pid)

    def signal(self, number: int) -> None:
        """Send a signal to all that is watched, and to whatever carries our mark."""
        for leader in tuple(self._watched):
            if isinstance(leader, int):
                signal_group(leader, number)
        signal_marked(f"{MARK}={self._token}-", number)

    def keep(self, folder: Path) -> None:
        """Have a temporary folder removed, should we be gone before it is dropped."""
        if b"\n" not in os.fsencode(folder):
            with self._lock:
                if self._writer is None:
                    self._start()
            self._watched.add(folder)
            self._send(b">" + os.fsencode(folder))

    def drop(self, folder: Path) -> None:
        """Take a folder from the watch: it was removed."""
        self._watched.discard(folder)
        self._send(b"<" + os.fsencode(folder))

    @contextmanager
    def share(self) -> Iterator[None]:
        """Let a fork that is made now belong to us: what it starts goes when we go."""
        with self._lock:
            if self._writer is None:
                self._start()
        self._shared = True
        try:
            yield
        finally:
            self._shared = False

    def close(self) -> None:
        """End the guard where there is nothing left to watch."""
        if self._process is None:
            return
        if self._watched or self._processes:
            self._process.returncode = 0  # it has work left, and is not waited for
            return
        self._process.kill()
        self._process.wait()
        self._hang_up()
        self._forget()

    def after_fork(self) -> None:
        """Start again in a forked process, with a new guard unless it was forked in `share`."""
        if self._process is not None:
            self._process.returncode = 0  # not ours to wait for
            self._process = None
        if self._shared:
            self._lock = Lock()
            return
        self._hang_up()
        self._forget()

    def _send(self, line: bytes) -> None:
        # Full or closed: the search for marked processes still finds them.
        with suppress(BlockingIOError, BrokenPipeError):
            if (writer := self._connection()) is not None:
                os.write(writer, line + b"\n")

    def _hang_up(self) -> None:
        if (writer := self._connection()) is not None:
            os.close(writer)
        self._writer = -1

    def _connection(self) -> int | None:
        """Return our end of the pipe, unless it was closed and its number reused for a file."""
        if self._writer is None or self._writer < 0:
            return None
        with suppress(OSError):
            if os.fstat(self._writer).st_ino == self._pipe:
                return self._writer
        return None

    def _start(self) -> None:
        self._writer = -1
        if not sys.executable:
            return
        with suppress(OSError):
            reader, writer = os.pipe()
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SCRIPT, str(_ROOT), str(os.getpid())],
                    # Not the environment of a child: the guard has to survive the search for them.
                    env={guard_child.TOKEN: self._token},
                    cwd="/",
                    stdin=reader,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError:
                os.close(writer)
                raise
            finally:
                os.close(reader)
            os.set_blocking(writer, False)
            self._writer, self._pipe = writer, os.fstat(writer).st_ino


_ROOT = Path(__file__).parent.parent.parent
_SCRIPT = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    "from pytest_reflex.process.guard_child import main; main(int(sys.argv[2]))"
)

GUARD = Reaper()
atexit.register(GUARD.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GUARD.after_fork)


def make_folder(prefix: str) -> Path:
    """Make a private folder, to be removed with `remove_folder`."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    GUARD.keep(folder)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, write-protected or not.

    Where a link stands in its place, only the link is removed.
    """
    if folder.is_symlink():
        folder.unlink()
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
    GUARD.drop(folder)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a private folder and remove it afterwards."""
    folder = make_folder(prefix)
    try:
        yield folder
    finally:
        remove_folder(folder)


_PREFIX = "reflex-caches-"


_WITHOUT_CACHE = "no:cacheprovider"


@contextmanager
def private_caches(
    inherited: Mapping[str, str], options: Iterable[str] = ()
) -> Iterator[Mapping[str, str]]:
    """Yield the variables to set over `inherited` for commands that have to judge without a past.

    Options in an inherited PYTEST_ADDOPTS are kept. `options` are texts with further options of
    pytest: where its cache is switched off, a strict configuration knows no folder for it.
    """
    with temporary_folder(_PREFIX) as folder:
        kept = inherited.get("PYTEST_ADDOPTS", "").strip()
        is_off = any(_WITHOUT_CACHE in text for text in (kept, *options))
        cache = shlex.quote(f"cache_dir={folder / 'pytest'}")
        own = f"-p {_WITHOUT_CACHE}" if is_off else f"-o {cache}"
        yield {
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "MYPY_CACHE_DIR": str(folder / "mypy"),
            "RUFF_NO_CACHE": "true",
            "PYTEST_ADDOPTS": f"{kept} {own}".strip(),
            "COVERAGE_FILE": str(folder / "coverage"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }
