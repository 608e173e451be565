"""``loop status --watch`` follows a loop that another process drives, until it has ended."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drivers.reflex.test_kill import LONG, Project, wait_for

pytestmark = pytest.mark.long


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[Project, subprocess.Popen[bytes]]]:
    """A loop whose agent hangs in CRITIQUE, and the process that drives it."""
    project = Project(tmp_path / "p")
    (project.folder / "hang-CRITIQUE").touch()
    driver = project.start(project.new())
    try:
        wait_for(lambda: (project.folder / "hanging").exists() and project.hanging() > 0)
        yield project, driver
    finally:
        driver.kill()
        driver.wait()


def test_a_pipe_gets_each_state_once(
    hanging: tuple[Project, subprocess.Popen[bytes]],
) -> None:
    project, driver = hanging
    with subprocess.Popen(
        project.command("status", "run", "--watch", "0.1"),
        cwd=project.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "Loop: run (running)\n"
        driver.send_signal(signal.SIGINT)
        rest = watching.stdout.read()
    assert watching.returncode == 0
    assert driver.wait(LONG) == 130
    assert rest.count("Loop: run") == rest.count("Loop: run (running (interrupted))") == 1


def test_with_json_only_the_end_is_printed(
    hanging: tuple[Project, subprocess.Popen[bytes]],
) -> None:
    project, driver = hanging
    with subprocess.Popen(
        project.command("status", "--watch", "--json"), cwd=project.folder, stdout=subprocess.PIPE
    ) as watching:
        project.run(project.command("stop", "seen enough", "--now"))
        told, _ = watching.communicate(timeout=LONG)
    assert json.loads(told)["stop"]["detail"] == "seen enough"
    assert driver.wait(LONG) == 2


def test_ctrl_c_ends_the_watching_and_nothing_else(
    hanging: tuple[Project, subprocess.Popen[bytes]],
) -> None:
    project, driver = hanging
    with subprocess.Popen(
        project.command("status", "--watch"), cwd=project.folder, stdout=subprocess.PIPE
    ) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        assert watching.wait(LONG) == 130
    assert driver.poll() is None
    driver.send_signal(signal.SIGINT)
    assert driver.wait(LONG) == 130
