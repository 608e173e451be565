"""One command, run to its end."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from pytest_reflex.process.child import FollowedFile
from pytest_reflex.process.deadline import Cancel
from pytest_reflex.process.run import run
from tests.process.zoo import ON_LINUX, PYTHON, marked, python, shell, signalled

pytestmark = pytest.mark.variants

linux = pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")


def test_output_and_status_are_returned() -> None:
    finished = shell("echo out; echo err >&2; exit 3")
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, b"out\n", b"err\n")
    assert not finished.stopped


def test_arguments_reach_the_program_byte_for_byte() -> None:
    words = ["{x}", "%s", "$HOME", "a b", "'", "\n", "--", "ü"]
    source = "import sys; sys.stdout.buffer.write(repr(sys.argv[1:]).encode())"
    finished = run([PYTHON, "-c", source, *words], cwd="/", env=dict(os.environ))
    assert finished.stdout.decode() == repr(words)


def test_environment_is_exactly_what_was_given_and_a_mark() -> None:
    finished = run(["env"], cwd="/", env={"PATH": os.environ["PATH"], "ONLY": "this"})
    names = {line.split(b"=")[0] for line in finished.stdout.splitlines()}
    assert names == {b"PATH", b"ONLY", b"PYTEST_REFLEX_CHILD"}


def test_standard_input_is_empty_unless_given() -> None:
    assert shell("cat; echo done").stdout == b"done\n"


def test_large_input_arrives_whole() -> None:
    data = os.urandom(5_000_000)
    assert shell("cat", stdin=data, head=6_000_000).stdout == data


@pytest.mark.parametrize("command", ["true", "exec 0<&-; sleep 0.2", "head -c 10 >/dev/null"])
def test_child_that_does_not_read_its_input_is_no_trouble(command: str) -> None:
    assert shell(command, stdin=b"x" * 5_000_000).returncode == 0


def test_time_out_ends_the_command() -> None:
    finished = shell("sleep 60", timeout=0.3)
    assert finished.timed_out
    assert finished.stopped


def test_b106_output_before_the_time_out_is_kept() -> None:
    finished = shell("echo step1; sleep 60", timeout=2)
    assert finished.timed_out
    assert finished.stdout == b"step1\n"


@linux
def test_child_that_ignores_signals_is_killed() -> None:
    with marked() as (env, living):
        stubborn = "trap '' TERM INT HUP; echo up; while :; do sleep 0.1; done"
        finished = shell(stubborn, timeout=2, env=env)
        assert finished.returncode == -signal.SIGKILL
        assert finished.stdout == b"up\n"
        assert living() == []


@linux
def test_b099_time_out_reaches_the_grandchild() -> None:
    with marked() as (env, living):
        finished = shell("sleep 60 & wait", timeout=0.4, env=env)
        assert finished.timed_out
        assert living() == []


@linux
def test_b099_status_counts_where_a_grandchild_holds_the_pipe() -> None:
    with marked() as (env, living):
        finished = shell("sleep 60 & exit 0", env=env)
        assert (finished.returncode, finished.timed_out) == (0, False)
        assert finished.left_children
        assert living() == []


@linux
def test_leftover_that_closed_our_pipes_is_killed_and_flagged() -> None:
    with marked() as (env, living):
        finished = shell("sleep 60 >/dev/null 2>&1 & exit 4", env=env)
        assert finished.returncode == 4
        assert finished.left_children
        assert living() == []


@linux
def test_b102_escaped_session_that_holds_the_pipe_is_found() -> None:
    with marked() as (env, living):
        finished = shell("setsid sleep 60 & exit 0", env=env)
        assert (finished.returncode, finished.left_children) == (0, True)
        assert living() == []


@linux
def test_b102_escaped_session_of_a_late_command_is_found() -> None:
    with marked() as (env, living):
        command = "setsid sleep 60 >/dev/null 2>&1 & sleep 60"
        finished = shell(command, timeout=2, env=env)
        assert (finished.timed_out, finished.left_children) == (True, True)
        assert living() == []


ESCAPES = {
    "setsid": "setsid sleep 60 >/dev/null 2>&1 & exit 0",
    "nohup": "nohup sleep 60 >/dev/null 2>&1 & exit 0",
    "a double fork": "(setsid sh -c 'sleep 60 & sleep 60' </dev/null >/dev/null 2>&1 &); exit 0",
    "many": "for i in $(seq 80); do setsid sleep 60 >/dev/null 2>&1 & done; exit 0",
}


@linux
@pytest.mark.parametrize("command", ESCAPES.values(), ids=ESCAPES.keys())
def test_f21_what_escaped_a_command_that_ended_well_is_killed_and_told(command: str) -> None:
    with marked() as (env, living):
        finished = shell(command, env=env)
        assert (finished.returncode, finished.left_children) == (0, True)
        assert living() == []


@linux
def test_f21_a_command_that_leaves_nothing_is_not_accused() -> None:
    assert not shell("setsid true; sleep 0.1 & wait; (setsid true)").left_children


def test_first_interrupt_lets_a_command_tidy_up(tmp_path: Path) -> None:
    up = tmp_path / "up"
    trap = f"trap 'sleep 0.2; echo tidy > {tmp_path}/tidy; exit' TERM"
    with pytest.raises(KeyboardInterrupt), signalled((signal.SIGINT, up)):
        shell(f"{trap}; touch {up}; sleep 60 & wait", grace=10, timeout=60)
    assert (tmp_path / "tidy").read_text() == "tidy\n"


@pytest.mark.long
@linux
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a lost Popen
def test_f23_an_interrupt_at_any_moment_of_the_start_leaves_nothing() -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    shell("true")  # the guard is there
    try:
        for number in range(40):
            with marked() as (env, living):
                with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it may come at once
                    signal.setitimer(signal.ITIMER_REAL, 0.0002 * (number + 1))
                    shell("sleep 60", env=env)
                assert living() == []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.collect()  # a lost Popen warns here, and not in a test that comes later


def test_stopped_command_hears_that_it_has_to_end() -> None:
    finished = shell("trap 'echo heard; exit' TERM; kill -STOP $$", timeout=2, grace=60)
    assert (finished.timed_out, finished.stdout) == (True, b"heard\n")


@linux
def test_double_fork_of_a_late_command_is_found() -> None:
    with marked() as (env, living):
        source = "import os,time\nif os.fork()==0:\n os.setsid()\n os.fork()\ntime.sleep(60)"
        assert python(source, timeout=0.6, env=env).timed_out
        assert living() == []


def test_flood_keeps_head_and_tail() -> None:
    finished = shell("head -c 50000000 /dev/zero; echo end", head=1000, tail=1000)
    assert finished.stdout_total == 50_000_004
    assert finished.stdout_truncated
    assert finished.stdout.startswith(b"\0" * 1000)
    assert finished.stdout.endswith(b"end\n")
    assert len(finished.stdout) < 2100


def test_endless_writer_is_stopped_at_the_cap() -> None:
    finished = shell("yes", hard_cap=20_000_000)
    assert finished.overflow
    assert finished.stdout_truncated
    assert not finished.timed_out


FLOODS = {
    "and goes on": "while True: sys.stdout.buffer.write(b'x' * 65536)",
    "and waits": "print('x' * 80_000_000, flush=True); time.sleep(60)",
    "at its end": (
        "signal.signal(signal.SIGTERM, lambda *_: print('x' * 80_000_000, flush=True))\n"
        "for _ in range(600): time.sleep(0.1)"
    ),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_file_that_is_flooded_is_stopped_by_its_size_and_not_followed(
    tmp_path: Path, name: str
) -> None:
    source, limit = f"import signal, sys, time\n{FLOODS[name]}", 40_000_000
    followed = 0

    def slowly(part: bytes) -> None:
        nonlocal followed
        followed += len(part)
        time.sleep(0.02)

    with FollowedFile(tmp_path / "out", limit, slowly) as file:
        finished = python(source, stdout_file=file, timeout=2.0, grace=30.0, head=9, tail=9)
    is_late = name == "at its end"
    assert (finished.overflow, finished.timed_out) == (not is_late, is_late)
    assert limit < finished.stdout_total < limit + 100_000
    assert 0 < followed < limit / 2
    assert finished.signal == signal.SIGKILL
    assert finished.seconds < 30


def test_a_flood_of_what_a_program_leaves_behind_is_stopped(tmp_path: Path) -> None:
    with FollowedFile(tmp_path / "out", 40_000_000, lambda part: time.sleep(0.02)) as file:
        finished = shell("(yes &); echo done", stdout_file=file, head=9, tail=9)
    assert (finished.overflow, finished.left_children) == (True, True)
    assert finished.seconds < 20


def test_a_program_that_ended_with_too_much_wrote_too_much(tmp_path: Path) -> None:
    with FollowedFile(tmp_path / "out", 1_000_000) as file:
        finished = shell("head -c 1000001 /dev/zero", stdout_file=file)
    assert finished.overflow
    with FollowedFile(tmp_path / "full", 1_000_000) as file:
        finished = shell("head -c 1000000 /dev/zero", stdout_file=file)
    assert (finished.overflow, finished.stdout_total) == (False, 1_000_000)


@pytest.mark.parametrize("why", ["deadline", "cancel"])
def test_output_is_followed_no_longer_than_the_deadline(tmp_path: Path, why: str) -> None:
    cancel = Cancel()
    threading.Timer(1.0, cancel.set).start()
    more = {"timeout": 1.0} if why == "deadline" else {"cancel": cancel}
    with FollowedFile(tmp_path / "out", 90_000_000, lambda part: time.sleep(0.02)) as file:
        finished = shell("head -c 80000000 /dev/zero", stdout_file=file, **more)
    assert finished.stdout_total == 80_000_000
    assert finished.seconds < 10


def test_a_large_output_of_a_program_that_ends_is_followed_whole(tmp_path: Path) -> None:
    followed: list[bytes] = []
    source = "print('x' * 5_000_000)"
    with FollowedFile(tmp_path / "out", 10_000_000, followed.append) as file:
        finished = python(source, stdout_file=file)
    assert (finished.stopped, finished.stdout_total) == (False, 5_000_001)
    assert b"".join(followed) == b"x" * 5_000_000 + b"\n"


def test_bytes_of_any_kind_come_through() -> None:
    source = "import sys; sys.stdout.buffer.write(bytes(range(256)))"
    assert python(source).stdout == bytes(range(256))


def test_death_by_signal_is_told() -> None:
    assert shell("kill -SEGV $$").signal == signal.SIGSEGV


def test_child_that_closes_its_output_first_is_waited_for() -> None:
    assert shell("exec >&- 2>&-; sleep 0.2; exit 7").returncode == 7


@linux
@pytest.mark.parametrize("kind", [threading.Event, Cancel])
def test_cancelling_ends_the_command(kind: type[threading.Event]) -> None:
    cancel = kind()
    threading.Timer(0.2, cancel.set).start()
    with marked() as (env, living):
        finished = shell("sleep 60 & wait", cancel=cancel, env=env)
        assert finished.cancelled
        assert living() == []


@linux
def test_nothing_survives_an_interrupt(tmp_path: Path) -> None:
    up = tmp_path / "up"
    with marked() as (env, living):
        with pytest.raises(KeyboardInterrupt), signalled((signal.SIGINT, up)):
            shell(f"sleep 60 & touch {up}; sleep 60", env=env, timeout=60)
        assert living() == []


@linux
def test_zoo_leaves_no_descriptors_and_threads() -> None:
    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    shell("true")  # the guard stays
    before = held()
    for command in ("true", "false", "kill -9 $$", "head -c 9999999 /dev/zero", "exec >&-"):
        shell(command, stdin=b"x" * 100_000, head=10, tail=10)
    shell("sleep 9", timeout=0.1)
    assert held() == before


def test_system_without_process_descriptors_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.pidfd_open", raising=False)
    assert shell("echo a; exec >&- 2>&-; sleep 0.1; exit 3").returncode == 3
    assert shell("sleep 60", timeout=0.2).timed_out


def test_lost_exit_status_is_never_taken_for_success() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert shell("exit 0").returncode is None
    finally:
        signal.signal(signal.SIGCHLD, before)
