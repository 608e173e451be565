"""Sessions and agents that write what is theirs to write: no loop over a session calls it more."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.drivers.pytest_loop.stage import CONFIG, RIGHT, Project, wait_for_change

pytestmark = [pytest.mark.long, pytest.mark.variants]

Capture = pytest.CaptureFixture[str]

WRITES_A_REPORT = """\
import os
from sums import add

def test_report():
    with open("report.txt", "a") as file:
        file.write(f"{os.getpid()}: {add(1, 2)}\\n")
"""
MEASURES = """\
import coverage
import pytest

def pytest_configure(config):
    config.coverage = coverage.Coverage(data_file=".coverage", data_suffix=True)
    config.coverage.start()

def pytest_unconfigure(config):
    config.coverage.stop()
    config.coverage.save()
"""
USES_FOLDERS = """\
import subprocess, sys
from sums import add

def test_folders(tmp_path, cache):
    (tmp_path / "x.txt").write_text(str(add(1, 2)))
    cache.set("sums/last", add(1, 2))
    cache.mkdir("more").joinpath("x").write_text("x")
"""
RUNS_PYTEST = """\
fix()
import subprocess
env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
run = subprocess.run([sys.executable, "-m", "pytest"], env=env, capture_output=True)
assert run.returncode == 0, run.stdout
assert list(pathlib.Path("__pycache__").glob("test_sums.*-pytest-*.pyc"))
assert pathlib.Path(".pytest_cache").is_dir()
"""
USES_GIT = """\
fix()
import subprocess
for words in (["add", "sums.py"], ["commit", "-qm", "Sums: mended"]):
    subprocess.run(["git", *words], check=True)
"""


def test_a_report_that_each_session_writes_is_known_from_the_first(
    project: Project, capsys: Capture
) -> None:
    project.write("test_report.py", WRITES_A_REPORT)
    assert project.play() == 0
    assert project.read("report.txt").count(": ") == 2
    assert "Written by the session: report.txt" in capsys.readouterr().out


def test_a_report_of_pytest_itself_is_known_from_the_first(project: Project) -> None:
    assert project.play("--junitxml=out/report.xml") == 0
    assert 'failures="0"' in project.read("out/report.xml")


def test_a_report_that_an_agent_edits_is_tampering_all_the_same(project: Project) -> None:
    project.write("test_report.py", WRITES_A_REPORT)
    project.agent("fix()\npathlib.Path('report.txt').write_text('all is well')")
    assert project.play() == 1
    assert "(REFINE): report.txt was changed" in project.stop()[1]


def test_coverage_leaves_data_in_the_project(project: Project) -> None:
    project.write("conftest.py", MEASURES)
    assert project.play() == 0
    assert len(list(project.folder.glob(".coverage.*"))) == 2


@pytest.mark.parametrize("more", [(), ("-p", "xdist", "-n", "2")], ids=["plain", "workers"])
def test_a_session_uses_folders_of_its_own_and_the_cache(
    project: Project, more: tuple[str, ...]
) -> None:
    project.write("test_folders.py", USES_FOLDERS)
    named = ("--reflex-loop", "--reflex-artifact=sums.py", "--reflex-yes")
    assert project.run("-p", "pytest_reflex.plugin", *named, *more) == 0
    assert project.read() == RIGHT


def test_an_agent_runs_the_tests_itself(project: Project) -> None:
    project.agent(RUNS_PYTEST)
    assert project.play() == 0


def test_an_agent_commits_what_it_did(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    names = [f"GIT_{role}_{key}" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")]
    project.write("pytest-reflex.toml", CONFIG.format(python=sys.executable) + f"env = {names}\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        subprocess.run(["git", *words], cwd=project.folder, check=True)
    project.agent(USES_GIT)
    subprocess.run(["git", "commit", "-qam", "Agent"], cwd=project.folder, check=True)
    assert project.play() == 0
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=project.folder, capture_output=True, check=True
    )
    assert log.stdout.startswith(b"Sums: mended\n")


def test_what_a_person_allows_may_be_changed_by_agents_and_by_sessions(
    project: Project, capsys: Capture
) -> None:
    project.write(
        "test_log.py",
        "import os, pathlib\n"
        "def test_log():\n"
        "    pathlib.Path('logs').mkdir(exist_ok=True)\n"
        "    pathlib.Path(f'logs/{os.getpid()}.log').touch()\n",
    )
    project.agent("fix()\npathlib.Path('notes.txt').write_text('done')")
    assert project.play("--reflex-may-change=logs/**", "--reflex-may-change", "notes.txt") == 0
    assert "May be changed: sums.py, logs/**, notes.txt" in capsys.readouterr().out
    assert len(list((project.folder / "logs").iterdir())) == 2


def test_what_the_configuration_allows_may_be_changed(project: Project) -> None:
    allowed = '[loop]\nmay_change = ["notes.txt"]\n'
    project.write("pytest-reflex.toml", CONFIG.format(python=sys.executable) + allowed)
    project.agent("fix()\npathlib.Path('notes.txt').write_text('done')")
    assert project.play() == 0


@pytest.mark.parametrize("saved", ["agent.py", "test_more.py"])
def test_what_a_person_saves_while_no_step_runs_is_accepted_by_that_person(
    project: Project, capsys: Capture, saved: str
) -> None:
    project.write("test_more.py", "def test_more():\n    pass\n")
    project.agent("code.write_text(code.read_text() + '# half')\ntime.sleep(60)")
    driver = project.start()
    wait_for_change(project)
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=60)
    project.agent("fix()")
    project.write(saved, project.read(saved) + "# saved\n")
    again = project.arguments("--reflex-loop", "--reflex-resume")
    assert project.run(*again) == 2
    assert f"{saved} was changed" in " ".join(capsys.readouterr().out.split())
    assert project.run(*again, "--reflex-accept-changes") == 0
    assert project.read() == RIGHT + "# half"
    (accepted,) = project.events("changes_accepted")
    assert saved in accepted["paths"]


def test_an_editor_that_is_open_during_a_call_disturbs_nothing(project: Project) -> None:
    names = ("test_sums.py.swp", ".#test_sums.py", ".DS_Store", ".idea/workspace.xml")
    project.agent(f"fix()\nos.mkdir('.idea')\nfor name in {names}:\n    pathlib.Path(name).touch()")
    assert project.play() == 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_output_of_the_loop_may_go_to_a_file_of_the_project(
    project: Project, stream: str
) -> None:
    project.agent("fix() if calls == 2 else code.write_text(code.read_text() + '# half')")
    first = ("--reflex-max-iterations=2", "-s")
    again = ("--reflex-loop", "--reflex-resume", "--reflex-max-iterations=+2", "--reflex-yes", "-s")
    for number, words in enumerate([project.new(*first), project.arguments(*again)]):
        with (project.folder / f"run-{number}.log").open("w") as log:
            run = subprocess.run(
                [sys.executable, "-m", "pytest", *words],
                cwd=project.folder,
                stdin=subprocess.DEVNULL,
                stdout=log if stream == "stdout" else subprocess.PIPE,
                stderr=log if stream == "stderr" else subprocess.PIPE,
                check=False,
            )
        assert run.returncode == (1, 0)[number]


def test_accepting_changes_needs_a_loop_to_resume(project: Project, capsys: Capture) -> None:
    assert project.play("--reflex-accept-changes") == 4
    assert "--reflex-accept-changes needs --reflex-resume" in capsys.readouterr().err


@pytest.mark.parametrize("glob", ["/etc/*", "../other", "a/../../b"])
def test_what_lies_outside_of_the_project_cannot_be_allowed(
    project: Project, capsys: Capture, glob: str
) -> None:
    assert project.play(f"--reflex-may-change={glob}") == 4
    assert "--reflex-may-change" in capsys.readouterr().err
    assert not (project.folder / ".ai-factory").exists()
