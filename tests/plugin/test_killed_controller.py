"""The controller of xdist workers is killed: its checks end at once, and no folder stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.plugin.conftest import write
from tests.process.zoo import ON_LINUX, gone_within, marked

pytestmark = [pytest.mark.variants, pytest.mark.skipif(not ON_LINUX, reason="looks into /proc")]

RULE = """
  - id: a.z.hangs
    description: It never ends
    severity: fail
    check: {{type: executable, command: {command!r}}}
"""
COMMANDS = {
    "a command that hangs": "touch up; sleep 60",
    "one that ignores signals": "trap '' TERM INT HUP; touch up; while :; do sleep 0.1; done",
    "a grandchild in another session": "setsid sleep 60 & touch up; sleep 60",
}


CASES = [(command, signal.SIGKILL) for command in COMMANDS.values()]
CASES += [(next(iter(COMMANDS.values())), signal.SIGTERM)]


@pytest.mark.long
@pytest.mark.parametrize(("command", "number"), CASES, ids=[*COMMANDS, "TERM"])
def test_f22_checks_end_with_a_controller_that_was_killed(
    project: pytest.Pytester, command: str, number: int
) -> None:
    up, temporary = project.path / "up", project.path / "temporary"
    temporary.mkdir()
    suite = project.path / "mini.reflex.yaml"
    rule = RULE.format(command=command.replace("touch up", f"touch {up}"))
    write(project, suite.name, suite.read_text(encoding="utf-8") + rule.lstrip("\n"))
    argv = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "pytest_reflex.plugin", "-n", "2"]
    with marked() as (env, living):
        process = subprocess.Popen(
            [*argv, "-p", "no:cacheprovider"],
            cwd=project.path,
            env={**os.environ, **env, "TMPDIR": str(temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not up.exists() and process.poll() is None:
            time.sleep(0.01)
        assert process.poll() is None
        process.send_signal(number)
        process.wait(120)
        assert gone_within(30, living), living()
        assert gone_within(30, lambda: _ours(temporary)), _ours(temporary)


def _ours(temporary: Path) -> list[str]:
    return [one.name for one in temporary.iterdir() if "reflex" in one.name]
