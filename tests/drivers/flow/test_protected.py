"""What judges a flow stays as it was: each attempt is put back and named; a second one ends it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.errors import ExitCode
from tests.drivers.flow.stage import ACT, NOTE, PLAN, Call, Stage, close_one, decision, node

pytestmark = [pytest.mark.long, pytest.mark.variants]

SH = {"name": "check", "command": "sh tools/check.sh"}
PY = {"name": "check", "command": f"{sys.executable} tools/check.py"}
MAKE = {"name": "check", "command": "make check"}
RUN = {"name": "check", "command": "tools/run"}
TESTS = {"name": "check", "command": f"{sys.executable} -m pytest -q tests"}
CRITERIA = {"name": "check", "criteria": "note.criteria.yaml", "artifact": NOTE}
RULES = """\
name: note
version: 1
rules:
  - id: a.x.open
    description: nothing is open
    severity: fail
    check: {type: content, search: OPEN, negate: true}
"""
FILES = {
    "tools/check.sh": ". tools/lib.sh\n! grep OPEN note.txt\n",
    "tools/lib.sh": "true\n",
    "tools/check.py": "import sys, helper\nsys.exit('OPEN' in open('note.txt').read())\n",
    "tools/helper.py": "",
    "tools/run": "#!/bin/sh\n! grep OPEN note.txt\n",
    "Makefile": "include common.mk\ncheck:\n\t@sh tools/check.sh\n",
    "common.mk": "",
    "tests/test_note.py": "def test_note():\n    assert 'OPEN' not in open('note.txt').read()\n",
    "tests/conftest.py": "",
    "pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-q'\n",
    "note.criteria.yaml": RULES,
}


def write(name: str, text: str = "") -> Callable[[], object]:
    return lambda: Path(name).write_text(text)


def link(name: str, to: str) -> Callable[[], object]:
    def act() -> None:
        Path(name).unlink()
        Path(name).symlink_to(to)

    return act


def folder_instead(name: str) -> None:
    Path(name).unlink()
    Path(name).mkdir()
    Path(name, "part").touch()


def file_instead(name: str) -> None:
    shutil.rmtree(name)
    Path(name).write_text("")


def moved_by_link() -> None:
    shutil.copytree("tools", "other")
    Path("other/check.sh").write_text("true\n")
    shutil.rmtree("tools")
    Path("tools").symlink_to("other")


# A sensor, what is done in place of work, and the name that is reported.
ATTEMPTS: dict[str, tuple[dict[str, str], Callable[[], object], str]] = {
    "flow.yaml is rewritten": (
        SH,
        write(".ai-loop/flow.yaml", "version: 1\n"),
        ".ai-loop/flow.yaml",
    ),
    "flow.yaml is removed": (SH, lambda: os.unlink(".ai-loop/flow.yaml"), ".ai-loop/flow.yaml"),
    "the actuator's own file": (SH, write(ACT, "---\nname: act\n---\nAll.\n"), ACT),
    "the settings": (SH, write("pytest-reflex.toml", ""), "pytest-reflex.toml"),
    "a script": (SH, write("tools/check.sh", "true\n"), "tools/check.sh"),
    "a script is removed": (SH, lambda: os.unlink("tools/check.sh"), "tools/check.sh"),
    "a script that a script reads": (SH, write("tools/lib.sh", "exit 0\n"), "tools/lib.sh"),
    "a script by a link": (SH, link("tools/check.sh", "/dev/null"), "tools/check.sh"),
    "a folder in a script's place": (
        SH,
        lambda: folder_instead("tools/check.sh"),
        "tools/check.sh",
    ),
    "a file in place of its folder": (SH, lambda: file_instead("tools"), "tools/check.sh"),
    "a link in place of its folder": (SH, moved_by_link, "tools/check.sh"),
    "a program": (RUN, write("tools/run", "#!/bin/sh\nexit 0\n"), "tools/run"),
    "a program that is none any more": (RUN, lambda: os.chmod("tools/run", 0o644), "tools/run"),
    "a makefile": (MAKE, write("Makefile", "check:\n\ttrue\n"), "Makefile"),
    "a makefile that make takes first": (
        MAKE,
        write("GNUmakefile", "check:\n\ttrue\n"),
        "GNUmakefile",
    ),
    "an included makefile": (MAKE, write("common.mk", "check:\n\ttrue\n"), "common.mk"),
    "a script of Python": (PY, write("tools/check.py", ""), "tools/check.py"),
    "a module that comes before one of Python": (PY, write("tools/json.py"), "tools/json.py"),
    "what Python runs at its start": (
        PY,
        write("tools/sitecustomize.py"),
        "tools/sitecustomize.py",
    ),
    "a new conftest.py": (
        TESTS,
        write("conftest.py", "collect_ignore = ['tests']\n"),
        "conftest.py",
    ),
    "another conftest.py": (
        TESTS,
        write("tests/conftest.py", "collect_ignore = ['test_note.py']\n"),
        "tests/conftest.py",
    ),
    "options of pytest": (
        TESTS,
        write("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--co'\n"),
        "pyproject.toml",
    ),
    "criteria": (
        CRITERIA,
        write("note.criteria.yaml", RULES.replace("OPEN", "NEVER")),
        "note.criteria.yaml",
    ),
    "a hook of git": (SH, write(".git/hooks/pre-commit", "#!/bin/sh\n"), ".git/hooks/pre-commit"),
}


def guarded(stage: Stage, sensor: dict[str, str], **more: object) -> Stage:
    for name, text in FILES.items():
        stage.write(name, text)
    (stage.folder / "tools/run").chmod(0o755)
    stage.flow(node("only", sensors=[sensor], controller="builtin:all-pass", **more))  # type: ignore[arg-type]
    stage.git("add", "--all")
    stage.git("commit", "--quiet", "-m", "what judges")
    return stage


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and not path.relative_to(folder).as_posix().startswith(_MADE)
    }


_MADE = (".git/", ".ai-loop/runs", ".pytest-reflex", "other/", NOTE)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_an_actuator_changed_is_put_back_named_and_not_measured(
    stage: Stage, attempt: str
) -> None:
    sensor, act, name = ATTEMPTS[attempt]
    guarded(stage, sensor, most=1)
    before = files(stage.folder)

    def cheat(call: Call, output: Path) -> None:
        act()

    stage.script.actuator = cheat
    assert stage.run() == ExitCode.ITERATION_LIMIT, stage.record.detail
    told = [one.action for one in stage.boundaries()]
    assert told[1].startswith("restored ")
    assert name in told[1]
    assert stage.boundaries()[1].sensors == {"check": "fail"}
    now = files(stage.folder)
    assert now.get(name) == before.get(name)
    if not attempt.endswith("in place of its folder"):  # what nobody relies on is gone
        assert now == before


@pytest.mark.parametrize("attempt", ["a script", "flow.yaml is rewritten", "a new conftest.py"])
def test_a_second_time_in_one_node_is_the_end(stage: Stage, attempt: str) -> None:
    sensor, act, name = ATTEMPTS[attempt]
    guarded(stage, sensor, most=5)
    stage.script.actuator = lambda call, output: act()
    assert stage.run() == ExitCode.TAMPERED
    assert stage.script.count("actuator") == 2
    last = stage.boundaries()[-1]
    assert (last.status, last.target_met) == ("error", False)
    assert name in last.action or "protected files" in last.action
    assert name in stage.record.detail
    assert "status: error" in stage.run_state()


WITHOUT_GIT = (
    "flow.yaml is rewritten",
    "the actuator's own file",
    "a script",
    "a program",
    "criteria",
)


@pytest.mark.parametrize("attempt", WITHOUT_GIT)
def test_without_git_the_same_is_protected(stage: Stage, attempt: str) -> None:
    sensor, act, name = ATTEMPTS[attempt]
    guarded(stage, sensor, most=1)
    before = files(stage.folder)
    stage.script.actuator = lambda call, output: act()
    assert stage.run("close all points", "--no-git") == ExitCode.ITERATION_LIMIT
    assert f"\n[action] restored {name}" in stage.log()
    assert "[sensors] check: pass" not in stage.log()
    assert files(stage.folder) == before


def test_without_git_a_second_time_is_the_end_too(stage: Stage) -> None:
    sensor, act, _ = ATTEMPTS["a script"]
    guarded(stage, sensor, most=5)
    stage.script.actuator = lambda call, output: act()
    assert stage.run("close all points", "--no-git") == ExitCode.TAMPERED
    assert stage.script.count("actuator") == 2


def test_a_second_time_counts_over_all_entries_of_a_node(stage: Stage) -> None:
    guarded(stage, SH)
    inner = node("inner", most=1, sensors=[SH], controller="builtin:all-pass")
    stage.flow(node("outer", sensors=[SH], controller="builtin:all-pass", child=inner))
    stage.script.actuator = lambda call, output: write("tools/check.sh", "true\n")()
    assert stage.run() == ExitCode.TAMPERED
    assert stage.script.count("actuator") == 2


def test_what_a_controller_changes_is_put_back_and_counts(stage: Stage) -> None:
    guarded(stage, SH)
    stage.flow(node("only", sensors=[SH]))

    def control(call: Call, output: Path) -> None:
        write("tools/check.sh", "true\n")()
        output.write_text(decision(met=True))

    stage.script.controller = control
    stage.run()
    assert (stage.folder / "tools/check.sh").read_text() == FILES["tools/check.sh"]
    assert "restored tools/check.sh" in stage.told()[-1]


def test_what_a_sensor_agent_changes_is_put_back_and_its_word_counts_for_nothing(
    stage: Stage,
) -> None:
    look = stage.agent("look")
    guarded(stage, SH)
    stage.flow(node("only", most=1, sensors=[look], controller="builtin:all-pass"))
    stage.git("commit", "--quiet", "--all", "-m", "another flow")

    def sense(call: Call, output: Path) -> None:
        Path(PLAN).write_text("")
        output.write_text("---\nsensor: look\nstatus: pass\n---\nfine\n")

    stage.script.sensor = sense
    stage.flow(node("only", most=1, sensors=[look], controller=PLAN))
    assert stage.run() == ExitCode.TAMPERED
    assert {one.sensors["look"] for one in stage.boundaries()} == {"fail"}
    assert (stage.folder / PLAN).read_text() != ""


def test_a_sensor_that_changes_its_own_script_does_not_pass(stage: Stage) -> None:
    own = "echo true > tools/lib.sh; true\n"
    stage.write("tools/check.sh", f". tools/lib.sh\n{own}")
    stage.write("tools/lib.sh", "# as it is\n")
    stage.flow(node("only", most=1, sensors=[SH], controller="builtin:all-pass"))
    stage.git("add", "--all")
    stage.git("commit", "--quiet", "-m", "what judges")
    assert stage.run() != 0
    assert stage.boundaries()[0].sensors == {"check": "fail"}
    assert (stage.folder / "tools/lib.sh").read_text() == "# as it is\n"


def test_what_lies_outside_is_told_and_passes_nothing(
    stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "check.sh"
    outside.write_text("! grep OPEN note.txt\n")
    sensor = {"name": "check", "command": f"sh {outside}"}
    guarded(stage, sensor, most=2)
    done: list[int] = []

    def cheat(call: Call, output: Path) -> None:
        if not done:
            outside.write_text("true\n")
        done.append(1)

    stage.script.actuator = cheat
    assert stage.run() == ExitCode.ITERATION_LIMIT  # it lasts, and is not a second offence
    states = [one.sensors["check"] for one in stage.boundaries()]
    assert set(states) == {"fail"}
    assert "changed for good:" in stage.told()[1]
    assert "modified during the run" in stage.output("only", "sensor-check-output.md")


def test_caches_from_before_are_not_read(stage: Stage) -> None:
    sensor = {
        "name": "check",
        "command": "echo $PYTHONPYCACHEPREFIX; ! grep OPEN note.txt",
        "target": "stdout ~ /caches/",
    }
    stage.flow(node("only", sensors=[sensor], controller="builtin:all-pass"))
    assert stage.run() == 0


def change(name: str, text: str) -> Callable[[], object]:
    def act() -> None:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)

    return act


HONEST: dict[str, tuple[dict[str, str], Callable[[], object]]] = {
    "the note alone": (SH, lambda: None),
    "a new module": (PY, change("src/stats.py", "x = 1\n")),
    "a new test": (TESTS, change("tests/test_more.py", "def test_more():\n    pass\n")),
    "a dependency in pyproject.toml": (
        TESTS,
        change("pyproject.toml", FILES["pyproject.toml"].replace("'x'", "'x'\nversion = '2'")),
    ),
    "a script that no sensor runs": (SH, change("tools/other.sh", "true\n")),
    "documents": (MAKE, change("docs/read.md", "read\n")),
    "the artifact of criteria": (CRITERIA, lambda: None),
    "what is written again as it was": (SH, change("tools/check.sh", FILES["tools/check.sh"])),
    "another time of a script": (RUN, lambda: os.utime("tools/run", (1, 1))),
    "a file of its own beside the agent files": (SH, change(".claude/notes.md", "so far\n")),
}


@pytest.mark.parametrize("case", HONEST)
def test_honest_work_is_left_and_committed(stage: Stage, case: str) -> None:
    sensor, act = HONEST[case]
    guarded(stage, sensor)

    def work(call: Call, output: Path) -> None:
        act()
        close_one(call, output)

    stage.script.actuator = work
    assert stage.run() == 0, stage.told()
    assert not [line for line in stage.told() if "restored" in line]
    assert stage.git("status", "--porcelain", "--untracked-files=all") == ""
