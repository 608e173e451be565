"""What an owner that is gone left running is ended before its run goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from pytest_reflex.process.group import find_owner, kill_abandoned
from tests.drivers.reflex.test_kill import Project, runs, wait_for

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]


def guard_of(pid: int) -> int:
    """Return the guard that a process has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return next(
        int(child)
        for child in children
        if b"guard_child" in Path(f"/proc/{child}/cmdline").read_bytes()
    )


@pytest.mark.long
def test_f22_a_resume_ends_the_agent_of_a_run_that_was_killed_with_its_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # without a guard, temporary folders stay
    project = Project(tmp_path / "p")
    (project.folder / "hang-PLAN").touch()
    process = project.start(project.new())
    wait_for(lambda: (project.folder / "hanging").exists() and project.hanging() > 0)
    for pid in (guard_of(process.pid), process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    agent = project.hanging()
    assert runs(agent)
    (project.folder / "hang-PLAN").unlink()
    done = project.run(project.command("resume", "run"))
    assert (done.returncode, runs(agent)) == (0, False)
    assert "Ended 1 process that the interrupted run had left running" in done.stderr


def test_f22_a_killed_run_needs_no_resume_to_be_rid_of_its_agent(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    (project.folder / "stubborn").touch()
    (project.folder / "hang-PRODUCE").touch()
    process = project.start(project.new())
    wait_for(lambda: (project.folder / "hanging").exists() and project.hanging() > 0)
    process.kill()
    process.wait()
    wait_for(lambda: not runs(project.hanging()))


def test_whoever_resumes_from_within_a_run_is_spared() -> None:
    source = (
        "from pytest_reflex.process.group import kill_abandoned;"
        "print(kill_abandoned('ABANDONED=x'), flush=True)"
    )
    script = f'ABANDONED=x; export ABANDONED; sleep 60 & "$0" -c "{source}"; echo still here'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], capture_output=True, text=True, timeout=30
    )
    assert done.stdout.split("\n")[:2] == ["1", "still here"]


def test_a_mark_is_the_whole_value() -> None:
    other = subprocess.Popen(["sleep", "60"], env={**os.environ, "ABANDONED": "/a/run-2"})
    time.sleep(0.1)
    assert kill_abandoned("ABANDONED=/a/run") == 0
    assert kill_abandoned("ABANDONED=/a/run-2") == 1
    assert other.wait() == -signal.SIGKILL


def test_what_a_living_process_has_started_was_not_left_behind() -> None:
    mark = f"ABANDONED={uuid.uuid4().hex}"
    owner = subprocess.Popen(["sleep", "60"])
    name, _, value = mark.partition("=")
    env = {**os.environ, name: value, "PYTEST_REFLEX_CHILD": f"a1b2-{owner.pid}-1"}
    child = subprocess.Popen(["sleep", "60"], env=env)
    try:
        wait_for(lambda: find_owner(mark) == owner.pid)
        assert kill_abandoned(mark) == 0
        owner.kill()
        owner.wait()
        assert (find_owner(mark), kill_abandoned(mark)) == (0, 1)
        assert child.wait() == -signal.SIGKILL
    finally:
        owner.kill()
        child.kill()


def test_a_process_that_is_younger_only_has_the_number_of_an_owner() -> None:
    mark = uuid.uuid4().hex
    script = "read pid; export PYTEST_REFLEX_CHILD=a1b2-$pid-1; exec sleep 60"
    env = {**os.environ, "ABANDONED": mark}
    child = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, env=env)
    time.sleep(0.1)  # a start is known in ticks
    younger = subprocess.Popen(["sleep", "60"])
    try:
        assert child.stdin is not None
        with child.stdin as pipe:
            pipe.write(b"%d\n" % younger.pid)
        wait_for(lambda: b"sleep" in Path(f"/proc/{child.pid}/cmdline").read_bytes()[:6])
        assert find_owner(f"ABANDONED={mark}") == 0
        assert kill_abandoned(f"ABANDONED={mark}") == 1
        assert child.wait() == -signal.SIGKILL
    finally:
        younger.kill()
        younger.wait()
        child.kill()
        child.wait()
