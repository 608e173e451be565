"""Our own death, by kill -9: nothing that we started outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reflex.process.guard import GUARD, Reaper
from pytest_reflex.process.guard_child import Leftovers, note
from tests.process.zoo import ON_LINUX, PYTHON, gone_within, marked, shell

pytestmark = pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")

OWNER = """
import os, sys
from pytest_reflex.process.run import run
run(["bash", "-c", sys.argv[1]], cwd="/", env=dict(os.environ), timeout=60)
"""
IN_A_FORK = """
import os, sys
from pytest_reflex.process.fork import run_in_fork
from pytest_reflex.process.run import run
def work(send):
    run(["bash", "-c", sys.argv[1]], cwd="/", env=dict(os.environ), timeout=60)
    return 0
run_in_fork(work, seconds=60)
"""
ORPHANED = """
import os, signal
from pytest_reflex.process.fork import run_in_fork
from pytest_reflex.process.guard import GUARD
from pytest_reflex.process.run import run
def command():
    argv = ["echo", "-n", "out of a command"]
    return run(argv, cwd="/", env=dict(os.environ), timeout=60).stdout
def work(send):
    send(command())
    return 0
command()
os.kill(GUARD.pid, signal.SIGKILL)
os.waitid(os.P_PID, GUARD.pid, os.WEXITED | os.WNOWAIT)
forked = run_in_fork(work, seconds=60)
print(forked.lines, forked.status)
"""
COMMANDS = {
    "one that hangs": "touch up; sleep 60",
    "one that ignores signals": "trap '' TERM INT HUP; touch up; while :; do sleep 0.1; done",
    "a grandchild in another session": "setsid sleep 60 & touch up; sleep 60",
    "a daemon": "(setsid nohup sleep 60 </dev/null >/dev/null 2>&1 &) ; touch up; sleep 60",
}


@pytest.mark.long
@pytest.mark.parametrize("owner", [OWNER, IN_A_FORK], ids=["directly", "in a fork"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_f22_nothing_outlives_an_owner_that_was_killed(
    command: str, owner: str, tmp_path: Path
) -> None:
    with marked() as (env, living):
        script = f"cd {tmp_path}; {command}"
        process = subprocess.Popen([PYTHON, "-c", owner, script], env=env, stdout=-3, stderr=-3)
        while not (tmp_path / "up").exists() and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.wait()
        assert gone_within(30, living), living()


FOLDERS = """
import os, sys, time
from pytest_reflex.process.guard import make_folder, temporary_folder
kept = make_folder("reflex-kept-")
(kept / "in").mkdir()
(kept / "in" / "prompt").write_text("x")
(kept / "in").chmod(0o500)
with temporary_folder("reflex-with-") as folder:
    print(kept, folder, flush=True)
    if sys.argv[1] == "killed":
        time.sleep(60)
print(kept.exists(), folder.exists(), flush=True)
"""


def test_f01_temporary_folders_go_with_an_owner_that_was_killed() -> None:
    owner = subprocess.Popen([PYTHON, "-c", FOLDERS, "killed"], stdout=subprocess.PIPE, text=True)
    assert owner.stdout
    folders = [Path(name) for name in owner.stdout.readline().split()]
    assert all(folder.exists() for folder in folders)
    owner.kill()
    owner.communicate()
    assert gone_within(30, lambda: [folder for folder in folders if folder.exists()])


def test_a_folder_that_nobody_removed_goes_with_its_owner() -> None:
    done = subprocess.run([PYTHON, "-c", FOLDERS, "left"], capture_output=True, text=True)
    (kept, _), was_there = (line.split() for line in done.stdout.splitlines())
    assert was_there == ["True", "False"]
    assert gone_within(30, lambda: [kept] if Path(kept).exists() else [])


def test_f22_the_guard_goes_with_its_owner() -> None:
    source = "from pytest_reflex.process.guard import GUARD; GUARD.mark(); print(GUARD.pid)"
    done = subprocess.run([PYTHON, "-c", source], capture_output=True, text=True, timeout=30)
    assert not os.path.exists(f"/proc/{int(done.stdout)}")


def test_commands_go_on_where_the_guard_was_killed() -> None:
    shell("true")
    assert GUARD.pid
    os.kill(GUARD.pid, signal.SIGKILL)
    assert shell("echo on").stdout == b"on\n"


def test_a_fork_goes_on_where_the_guard_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "orphaned.py"
    script.write_text(ORPHANED)
    ended = subprocess.run([PYTHON, script], capture_output=True, timeout=60, check=True)
    assert ended.stdout == b"(b'out of a command',) 0\n"


def test_without_a_python_of_its_own_there_is_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    guard = Reaper()
    assert guard.mark().startswith("PYTEST_REFLEX_CHILD=")
    assert guard.pid is None
    guard.watch(1)


@pytest.fixture
def guard() -> Iterator[Reaper]:
    guard = Reaper()
    guard.mark()
    yield guard
    guard.close()


def test_nothing_is_written_into_a_file_that_took_the_number_of_the_pipe(
    guard: Reaper, tmp_path: Path
) -> None:
    writer = guard._writer
    assert writer
    copy = os.dup(writer)
    with open(tmp_path / "of somebody", "wb") as file:
        os.dup2(file.fileno(), writer)
    guard.watch(123)
    assert (tmp_path / "of somebody").read_bytes() == b""
    os.dup2(copy, writer)
    os.close(copy)
    guard.release(123)


def test_another_fork_has_marks_of_its_own(guard: Reaper) -> None:
    before = guard.mark().rsplit("-", 2)[0]
    with guard.share():
        guard.after_fork()
    assert guard.mark().rsplit("-", 2)[0] == before
    guard._process = None
    guard.after_fork()
    assert guard.mark().rsplit("-", 2)[0] != before


def test_what_began_and_has_not_ended_is_known() -> None:
    left = Leftovers()
    note([b"+12", b"+34", b"-12", b"+56", b">/a", b">/b c", b"</a", b"-99"], left)
    assert (left.leaders, left.folders) == ({34, 56}, {"/b c"})


WORKERS = """
import os, signal, subprocess, sys
from pytest_reflex.process.guard import GUARD
workers = [subprocess.Popen(["sh", "-c", each]) for each in sys.argv[2:]]
for worker in workers:
    GUARD.watch_process(worker.pid)
if sys.argv[1] == "released":
    GUARD.release_process(workers[0].pid)
print(*[worker.pid for worker in workers], flush=True)
signal.pause()
"""
SLEEPS = {
    "one": ["exec sleep 60"],
    "one that ignores signals": ["trap '' TERM INT HUP; while :; do sleep 0.1; done"],
    "two": ["exec sleep 60", "exec sleep 61"],
}


def living(pids: list[int]) -> list[int]:
    stats = [(pid, Path(f"/proc/{pid}/stat")) for pid in pids]
    return [pid for pid, stat in stats if stat.exists() and b") Z" not in stat.read_bytes()]


@pytest.mark.parametrize("commands", SLEEPS.values(), ids=SLEEPS.keys())
def test_f22_a_watched_process_ends_with_an_owner_that_was_killed(commands: list[str]) -> None:
    owner = subprocess.Popen(
        [PYTHON, "-c", WORKERS, "watched", *commands], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout
    pids = [int(pid) for pid in owner.stdout.readline().split()]
    assert living(pids) == pids
    owner.kill()
    owner.wait()
    owner.stdout.close()
    assert gone_within(30, lambda: living(pids)), living(pids)


def test_a_process_that_was_released_goes_on_without_its_owner() -> None:
    commands = ["exec sleep 60", "exec sleep 61"]
    owner = subprocess.Popen(
        [PYTHON, "-c", WORKERS, "released", *commands], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout
    released, watched = (int(pid) for pid in owner.stdout.readline().split())
    owner.kill()
    owner.wait()
    owner.stdout.close()
    try:
        assert gone_within(30, lambda: living([watched]))
        assert living([released]) == [released]
    finally:
        os.kill(released, signal.SIGKILL)
