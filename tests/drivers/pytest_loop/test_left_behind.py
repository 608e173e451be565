"""What an agent leaves for later, in loops over a session: it changes no verdict, and is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drivers.pytest_loop.stage import TESTS, Project, wait_for_change
from tests.drivers.pytest_loop.test_tampering import TOOLS, path

pytestmark = pytest.mark.variants

__all__ = ["path"]

WRITES_LATER = """
def test_code():
    pass
import os, pathlib
if "PYTEST_VERSION" in os.environ:
    {act}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("act", "change"),
    [
        ("pathlib.Path('test_sums.py').write_text('')", "test_sums.py was changed"),
        ("pathlib.Path('conftest.py').write_text('')", "conftest.py was added"),
        ("os.remove('pytest.ini')", "pytest.ini was removed"),
        ("os.chmod('test_sums.py', 0o755)", "test_sums.py was changed"),
        ("pathlib.Path('sitecustomize.py').write_text('')", "sitecustomize.py was added"),
    ],
)
def test_what_code_changes_while_it_is_judged_passes_nothing_and_is_named(
    project: Project, act: str, change: str
) -> None:
    project.agent(f"{TOOLS}fix()\ncode_ends({WRITES_LATER.format(act=act)!r})")
    assert project.play("--reflex-max-iterations=2") == 1
    reason, detail = project.stop()
    assert reason == "phase_error"
    assert f"modified during EVALUATE: {change}" in detail
    assert f"--reflex-may-change '{change.split()[0]}'" in detail
    assert len(list(project.events("evaluation_done"))) == 1


@pytest.mark.long
@pytest.mark.parametrize("forged", ["test_sums.py", "sums.py", "aid.py"])
def test_byte_code_that_an_agent_left_has_no_influence(project: Project, forged: str) -> None:
    project.write("aid.py", "def holds(found):\n    return found\n")
    project.write(
        "test_aid.py",
        "import aid, sums\ndef test_aid():\n    assert aid.holds(sums.add(1, 2) == 3)\n",
    )
    replaced = [
        ("== 3", "!= 3"),
        ("== 2", "!= 2"),
        ("a - b", "a + b"),
        ("return found", "return 1"),
    ]
    project.agent(f"{TOOLS}code_ends('# right now')\nforge({forged!r}, *{replaced})")
    assert project.play("--reflex-max-iterations=2") == 1
    assert project.stop()[0] == "iteration_limit"
    *_, last = project.events("evaluation_done")
    assert last["evaluation"]["score"] == 0
    failed = [row["id"] for row in last["evaluation"]["rule_results"] if row["outcome"] == "fail"]
    assert {"a.sums.add", "b.sums.half", "b.session.other-tests"} <= set(failed)
    assert "3 failed" not in plain_session(project), "the byte code deceives nobody"


def plain_session(project: Project) -> str:
    """Return what pytest says that reads the byte code of a project."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    argv = [sys.executable, "-m", "pytest", *project.arguments("-q")]
    run = subprocess.run(argv, cwd=project.folder, env=env, capture_output=True, text=True)
    assert "failed" in run.stdout or "passed" in run.stdout
    return run.stdout


OF_THE_BACKGROUND = """
import os, pathlib, time
parent = os.getppid()
pathlib.Path({started!r}).touch()
while pathlib.Path(f"/proc/{{parent}}").exists() and os.getppid() == parent:
    time.sleep(0.01)
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    pathlib.Path("test_sums.py").write_text("def test_nothing():\\n    pass\\n")
"""
START_ONE = """
put({script!r}, {text!r})
subprocess.Popen([sys.executable, {script!r}], start_new_session=True, {more})
while not pathlib.Path({started!r}).exists():
    time.sleep(0.01)
code_ends("# right now")
"""
NO_PIPES = "stdin=-3, stdout=-3, stderr=-3"


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("more", [NO_PIPES, f"{NO_PIPES}, env={{}}"], ids=["marked", "unmarked"])
def test_a_process_that_an_agent_leaves_behind_changes_no_verdict(
    project: Project,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    more: str,
) -> None:
    aside = tmp_path_factory.mktemp("aside")
    script, started = str(aside / "later.py"), str(aside / "started")
    text = OF_THE_BACKGROUND.format(started=started)
    project.agent(TOOLS + START_ONE.format(script=script, text=text, started=started, more=more))
    try:
        assert project.play("--reflex-max-iterations=2") in (1, 2)
    finally:
        end_all(script)
    stop = project.state()["stop"]
    assert not stop["passed"]
    if project.read("test_sums.py") != TESTS:
        # In the time of a call it ends the run, in EVALUATE it is an error, and between them the
        # run waits for a person.
        errors = [error["message"] for error in project.events("phase_error")]
        paused = " ".join(capsys.readouterr().out.split())
        assert "test_sums.py was changed" in f"{stop.get('detail')}{errors}{paused}"


def end_all(script: str) -> None:
    """End whatever runs a script."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if script.encode() in line.read_bytes().split(b"\0"):
                os.kill(int(line.parent.name), signal.SIGKILL)
        except OSError:
            continue


PLANTED = {
    "conftest.py": ("put('conftest.py', 'collect_ignore = [\"test_sums.py\"]')", "added"),
    "test_sums.py": ("put('test_sums.py', '')", "changed"),
    "pytest.ini": ("os.remove('pytest.ini')", "removed"),
}


@pytest.mark.long
@pytest.mark.parametrize("path", PLANTED)
def test_what_was_planted_before_the_driver_was_killed_waits_for_a_person(
    project: Project, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    act, change = PLANTED[path]
    project.agent(f"{TOOLS}{act}\ncode_ends('# half')\ntime.sleep(60)")
    driver = project.start()
    wait_for_change(project)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    again = project.arguments("--reflex-loop", "--reflex-resume")
    for _ in range(2):
        assert project.run(*again) == 2
        told = " ".join(capsys.readouterr().out.split())
        assert f"changed since the run last looked at it: {path} was {change}" in told
        assert "--reflex-resume make-the-tests-pass --reflex-accept-changes" in told
    assert project.state()["status"] == "running"
    assert len(list(project.events("evaluation_done"))) == 1
