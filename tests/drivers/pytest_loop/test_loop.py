"""Whole loops over a user's own session: green, restored, refused, tampered with, interrupted."""

from __future__ import annotations

import signal
from contextlib import chdir

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.reflex.view import LoopView
from tests.drivers.pytest_loop.stage import CODE, RIGHT, TESTS, Project, wait_for_change

pytestmark = [pytest.mark.long, pytest.mark.variants]

Capture = pytest.CaptureFixture[str]


def test_red_becomes_green(project: Project, capsys: Capture) -> None:
    assert project.play() == 0
    assert project.read() == RIGHT
    assert project.stop() == ("threshold_reached", "")
    told = capsys.readouterr().out
    assert "sums.py | +2 -2" in told
    assert "beside the artifacts" not in told
    assert project.read(".ai-factory/evolution/make-the-tests-pass/artifact.md").count("\n+ ") == 2


def test_red_becomes_green_with_workers(project: Project) -> None:
    assert project.play("-p", "xdist", "-n", "2") == 0
    assert project.read() == RIGHT
    assert project.state()["iteration"] == 2


def test_what_passes_already_needs_no_loop(project: Project, capsys: Capture) -> None:
    project.write("sums.py", RIGHT)
    assert project.play() == 0
    assert "passes already" in capsys.readouterr().out
    assert not (project.folder / ".ai-factory").exists()


def test_an_agent_without_files_answers_with_texts(project: Project) -> None:
    project.agent(
        f"""print("So:", json.dumps({{"files": [{{"path": "sums.py", "text": {RIGHT!r}}}]}}))"""
    )
    assert project.play() == 0
    assert project.read() == RIGHT


def test_texts_of_other_files_are_refused_with_one_retry(project: Project) -> None:
    project.agent(
        'assert calls == 1 or "may not be changed" in prompt\n'
        'print(json.dumps({"files": [{"path": "test_sums.py", "text": ""}]}))'
    )
    assert project.play() == 1
    reason, detail = project.stop()
    assert (reason, project.calls()) == ("phase_error", 2)
    assert "/files/0/path: 'test_sums.py' may not be changed" in detail
    assert project.read("test_sums.py") == TESTS


def test_the_best_is_restored_where_the_agent_breaks_everything(
    project: Project, capsys: Capture
) -> None:
    project.agent(
        "good = code.read_text().replace('a - b', 'a + b')\n"
        "code.write_text(good if calls == 1 else 'x = 1')"
    )
    assert project.play("--reflex-max-iterations=3") == 1
    assert project.stop()[0] == "iteration_limit"
    assert project.read() == CODE.replace("a - b", "a + b")
    assert "Restored: the best artifact, of iteration 2" in capsys.readouterr().out


def test_an_agent_that_tampers_is_stopped_and_told(project: Project, capsys: Capture) -> None:
    project.agent(
        "fix()\n"
        "pathlib.Path('test_sums.py').write_text('')\n"
        "pathlib.Path('conftest.py').write_text('')\n"
        "pathlib.Path('pytest.ini').write_text('[pytest]\\naddopts = -k nothing')"
    )
    assert project.play() == 1
    changed = "conftest.py was added; pytest.ini was changed; test_sums.py was changed"
    named = ("conftest.py", "pytest.ini", "test_sums.py")
    flags = " ".join(f"--reflex-may-change '{name}'" for name in named)
    allow = f"(to allow them: {flags})"
    assert project.stop() == (
        "tampered",
        f"modified during the agent's call (REFINE): {changed} {allow}",
    )
    assert "the files are left as they are" in " ".join(capsys.readouterr().out.split())


def test_a_session_that_cannot_collect_any_more_never_passes(project: Project) -> None:
    project.agent("code.write_text('def add(')")
    assert project.play("--reflex-max-iterations=2") == 1
    *_, last = project.events("evaluation_done")
    rows = {row["id"]: row for row in last["evaluation"]["rule_results"]}
    assert rows["a.sums.add"]["outcome"] == "not_measured"
    assert "test_sums.py could not be collected" in rows["a.sums.add"]["details"]
    assert rows["b.session.other-tests"]["outcome"] == "fail"


def test_a_loop_that_had_ended_goes_on_with_more_iterations(
    project: Project, capsys: Capture
) -> None:
    assert project.play("--reflex-max-iterations=1") == 1
    with chdir(project.folder):
        assert main(["loop", "extend", "make-the-tests-pass", "--yes", "--max-iterations=+2"]) == 4
    assert "go on with `pytest --reflex-loop --reflex-resume make-" in capsys.readouterr().err
    again = project.arguments("--reflex-loop", "--reflex-resume")
    assert project.run(*again) == 4
    err = " ".join(capsys.readouterr().err.split())
    assert "let it go on with `pytest --reflex-loop --reflex-resume make-the-tests-pass" in err
    assert "--reflex-max-iterations +2`" in err
    assert project.run(*again, "--reflex-max-iterations=+1", "--reflex-yes") == 0
    assert project.read() == RIGHT
    assert project.stop() == ("threshold_reached", "")


def test_killed_in_refine_it_is_resumed_with_the_files_as_they_are(
    project: Project, capsys: Capture
) -> None:
    project.agent(
        "if calls == 1:\n"
        "    code.write_text(code.read_text() + '# half')\n"
        "    time.sleep(60)\n"
        "fix()"
    )
    driver = project.start()
    wait_for_change(project)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    with chdir(project.folder):
        assert main(["loop", "resume"]) == 4
    assert "go on with `pytest --reflex-loop --reflex-resume make-" in capsys.readouterr().err
    assert project.run(*project.arguments("--reflex-loop", "--reflex-resume")) == 0
    assert "REFINE was under way when the run was killed" in capsys.readouterr().out
    assert project.state()["spend"]["calls"] == project.calls() == 2
    assert project.read() == RIGHT + "# half"
    assert [made["by"] for made in project.events("artifact_created")] == ["agent", "hand"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_an_interrupted_loop_says_how_to_go_on(project: Project, number: signal.Signals) -> None:
    project.agent("code.write_text(code.read_text() + '# half')\ntime.sleep(60)")
    driver = project.start()
    wait_for_change(project)
    driver.send_signal(number)
    output, _ = driver.communicate(timeout=60)
    assert driver.returncode == 2
    assert "pytest --reflex-loop --reflex-resume make-the-tests-pass" in output
    assert "Traceback" not in output


def test_an_error_says_no_control_characters(project: Project, capsys: Capture) -> None:
    project.write("test_sums.py", 'raise RuntimeError("boo\\x1b[31m\\x9b\\u202e")\n')
    assert project.play() == 4
    out, err = capsys.readouterr()
    assert r"RuntimeError: boo\x1b[31m\x9b\u202e" in err
    assert not set("\x1b\x9b\u202e") & set(out + err)


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("skip(reason='later')", "test_sums.py::test_half is skipped: later"),
        ("xfail(reason='known')", "test_sums.py::test_half is expected to fail: known"),
    ],
)
def test_a_rule_that_is_never_measured_is_refused_before_the_question(
    project: Project, capsys: Capture, mark: str, told: str
) -> None:
    project.write(
        "test_sums.py", TESTS.replace("def test_half", f"@pytest.mark.{mark}\ndef test_half")
    )
    assert project.play() == 4
    out, err = capsys.readouterr()
    assert f"rule b.sums.half is not measured, so the gate could never pass: {told}" in err
    assert "Success criteria" not in out


def test_a_module_with_rules_that_is_skipped_is_refused_before_the_question(
    project: Project, capsys: Capture
) -> None:
    skipped = TESTS.replace("import pytest\n", "import pytest\npytest.importorskip('no_such')\n")
    project.write("test_more.py", skipped)
    assert project.play() == 4
    out, err = capsys.readouterr()
    assert "test_more.py: skipped: could not import 'no_such'" in err
    assert "Success criteria" not in out


def test_an_agent_that_has_a_module_skipped_does_not_pass(project: Project) -> None:
    project.agent(
        "fix(); pathlib.Path('sums.py').write_text('import pytest\\n'"
        " 'pytest.skip(\"x\", allow_module_level=True)')"
    )
    assert project.play("--reflex-max-iterations=1") not in (0, 5)


def test_an_interrupt_during_the_imports_is_one_line(project: Project) -> None:
    project.write(
        "early.py",
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'pytest_reflex.drivers.pytest_loop.console_reporter':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n",
    )
    driver = project.start("-p", "early")
    output, _ = driver.communicate(timeout=60)
    assert (driver.returncode, output) == (2, "\nInterrupted\n")


def test_what_takes_long_is_told_when_it_begins_and_while_it_goes_on(
    project: Project, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoopView, "beat", 0.1)
    project.agent("time.sleep(0.4)\nfix()")
    assert project.play() == 0
    told = capsys.readouterr().out
    assert told.startswith("Session ...\nstill at work: EVALUATE 0:00\n")
    assert "\nREFINE ... (agent script)\nstill at work: REFINE 0:00 (agent script)\n" in told
    assert told.count("Session ...\n") == 2


def test_a_quiet_loop_tells_of_nothing_that_begins(project: Project, capsys: Capture) -> None:
    assert project.play("-q") == 0
    assert "..." not in capsys.readouterr().out
