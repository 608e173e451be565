"""Root conftest: pytest inside tests, signals as from a terminal, seeds, temporary folders."""

from __future__ import annotations

import compileall
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from pytest_reflex.process.guard import GUARD

pytest_plugins = ["pytester"]

# The same examples in each run, whatever the clock says: a red test is a change of the code.
settings.register_profile(
    "gate",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# New examples in each run; what failed is kept and tried first the next time (`make fuzz`).
settings.register_profile(
    "fuzz",
    derandomize=False,
    deadline=None,
    database=DirectoryBasedExampleDatabase(Path(__file__).parent / ".hypothesis" / "examples"),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
# As many examples as a property is worth, where the suite has few of them (`make properties`).
settings.register_profile(
    "full",
    derandomize=False,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
settings.load_profile("gate")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share",
        metavar="N/M",
        default="1/1",
        help="of tables marked `variants` and of tests marked `long`: try the Nth of M parts",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Leave out what is not in the share, and have workers begin with the files that take longest.

    A worker that gets such a file at the end has the others wait for it.
    """
    _leave_out(config, items)
    yield
    if hasattr(config, "workerinput"):
        long = {item.path for item in items if item.get_closest_marker("long")}
        items.sort(key=lambda item: item.path not in long)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not in the share: variants of one kind, and the long tests of a folder.

    All shares together have each test. A table, or a folder, of fewer tests than parts has as many
    parts as tests, and `variants(parts=3)` has three at most.
    """
    number, parts = map(int, config.getoption("share").split("/"))
    tables: dict[tuple[str, int], list[str]] = {}
    for item in items:
        mark = item.get_closest_marker("variants")
        if item.get_closest_marker("long"):
            table = str(item.path.parent), parts
        elif mark and "[" in item.nodeid:
            table = item.nodeid.partition("[")[0], min(parts, mark.kwargs.get("parts", parts))
        else:
            continue
        tables.setdefault(table, []).append(item.nodeid)
    left = {
        node
        for (_, most), nodes in tables.items()
        for place, node in enumerate(sorted(nodes))
        if place % (turn := min(most, len(nodes))) != number % turn
    }
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
        items[:] = [item for item in items if item.nodeid not in left]


TEMPORARY = pytest.StashKey[Path]()
PACKAGE = Path(__file__).parent / "pytest_reflex"
# Until the tests run, see `pytest_collection_finish`.
CACHES_NOTHING, sys.dont_write_bytecode = sys.dont_write_bytecode, False
WAIT_SECONDS = float(os.environ.get("TESTS_WAIT_SECONDS", "10"))
"""Seconds in which what a killed process had is cleared away behind it."""
MANY_MODULES = 50
"""Modules of tests whose assertions are rewritten before workers start; fewer are left to them."""
MEMORY = "/dev/shm"
ROOM = 2 * 1024**3
"""Bytes that have to be free there: several times what a run of all tests leaves."""


def pytest_configure(config: pytest.Config) -> None:
    """Take signals back, and have a folder for temporary files that is ours alone.

    A job in the background ignores signals, and its children inherit that. Workers inherit the
    folder, so whoever starts them looks at the end whether anything stayed in it.
    """
    if config.getoption("--hypothesis-profile", None) != "fuzz":
        _leave_constants_out()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name in ("SIGQUIT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
    config.option.loadscopereorder = False  # by the number of tests, which says little
    if not hasattr(config, "workerinput"):
        system = _fast_folder() or tempfile.gettempdir()
        folder = Path(tempfile.mkdtemp(prefix="tests-of-reflex-", dir=system))
        folder.chmod(0o1777)  # as the system's own is: some tests run as another user
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", system)  # where `tmp_path` lies
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        config.stash[TEMPORARY] = folder
        compileall.compile_dir(PACKAGE, quiet=2)
        if config.getoption("numprocesses", None):
            _write_byte_code_of_tests()


def pytest_collection_finish() -> None:
    """Go back to what PYTHONDONTWRITEBYTECODE says: it is meant for the folders of tests.

    The byte code of our own modules is kept by then, as Python and as pytest make it. Hundreds of
    programs that tests start would else compile all of them anew.
    """
    sys.dont_write_bytecode = CACHES_NOTHING


def _write_byte_code_of_tests() -> None:
    """Have two processes rewrite the assertions of all tests, where that is still to be done.

    Workers collect the same files at the same time: each would rewrite all of them for itself.
    Plugins of pytest are rewritten too, and kept for all sessions that tests start.
    """
    end = f".{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    paths = [
        path
        for path in sorted((Path(__file__).parent / "tests").rglob("test_*.py"))
        if not (path.parent / "__pycache__" / (path.stem + end)).exists()
    ]
    if len(paths) < MANY_MODULES:
        return
    allowed = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    collect = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--quiet"]
    halves = [
        subprocess.Popen([*collect, *map(str, half)], env=allowed, stdout=subprocess.DEVNULL)
        for half in (paths[::2], paths[1::2])
    ]
    for half in halves:
        half.wait()


def _leave_constants_out() -> None:
    """Have no example taken from the code that is loaded.

    Hypothesis reads the constants of each local module in `sys.modules`: the examples of a test
    would depend on which files ran before it in this process, and the first test would pay for it.
    """
    from hypothesis.internal.conjecture import providers

    assert callable(providers._get_local_constants)
    none = providers._local_constants
    providers._get_local_constants = lambda: none


def _fast_folder() -> str | None:
    """Return a folder in memory with room for all that tests write, where nobody chose another.

    Most of what a test writes is small and short-lived: a disk costs it half of its time.
    """
    chosen = {"TMPDIR", "TEMP", "TMP", "PYTEST_DEBUG_TEMPROOT"} & os.environ.keys()
    if chosen or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    system = os.statvfs(MEMORY)
    roomy = min(system.f_bavail * system.f_frsize, _free_memory()) >= ROOM
    return MEMORY if roomy and not system.f_flag & os.ST_NOEXEC else None


def _free_memory() -> int:
    """Return the bytes that can be had without swapping."""
    known = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return int(known["MemAvailable"].split()[0]) * 1024


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Fail a session of which a temporary folder stays behind."""
    yield
    folder = session.config.stash.get(TEMPORARY, None)
    if folder and (left := _left_in(folder)):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter:
            reporter.write_line(f"ERROR: stayed in the temporary folder: {', '.join(left)}")


def _left_in(folder: Path) -> list[str]:
    deadline = time.monotonic() + WAIT_SECONDS
    while left := sorted(
        one.name
        for one in folder.iterdir()
        # pytest keeps its own folders for a while; ours goes with this process.
        if not one.name.startswith("pytest-of-") and one not in GUARD.kept
    ):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return left


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder for temporary files, with what this process still keeps in it."""
    if folder := config.stash.get(TEMPORARY, None):
        shutil.rmtree(folder, ignore_errors=True)
