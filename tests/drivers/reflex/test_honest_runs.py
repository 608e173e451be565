"""What honest agents, checks and people do in a project is not called tampering."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.drivers.reflex.shell_project import RUN, ShellProject

pytestmark = pytest.mark.variants

# The artifact says alpha, and each of these checks keeps to that.
SAYS_ALPHA = f"grep -q alpha {RUN}/artifact.md"
TEST = f"""\
from pathlib import Path
from counting import count

def test_it_says_alpha():
    assert count(Path("{RUN}/artifact.md").read_text()) == 1
"""
COUNTING = "def count(text: str) -> int:\n    return text.count('alpha')\n"
NPM = """\
#!/bin/sh
# npm test: its runner keeps a cache beside itself and writes what it covered.
mkdir -p node_modules/.cache/runner coverage
date +%N > node_modules/.cache/runner/times.json
echo covered > coverage/lcov.info
"""
PYTHON = ["PYTHON", "-m"]
COVERAGE = "PYTHON -m coverage"
TESTED = {"tests/test_a.py": TEST, "counting.py": COUNTING, "conftest.py": ""}
Check = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest:
    """Checks that write something, what an agent does besides, and files that are made of it."""

    checks: tuple[Check, ...] = ({"command": SAYS_ALPHA},)
    deed: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    git: bool = False


RUNS: dict[str, Honest] = {
    "a build with declared outputs": Honest(
        checks=(
            {"command": "sh build.sh && test -s dist/deep/a.txt", "writes": ["dist/**"]},
        ),
        files={"build.sh": "mkdir -p dist/deep\ndate +%N > dist/deep/a.txt\n"},
        made=("dist/deep/a.txt",),
    ),
    "a declared output that goes and comes": Honest(
        checks=({"command": "rm -f out.txt; date +%N > out.txt", "writes": "out.txt"},),
        files={"out.txt": "old\n"}, made=("out.txt",),
    ),
    "an output of the shell": Honest(
        checks=({"command": f"wc {RUN}/artifact.md > count.txt 2> errors.txt"},),
        made=("count.txt", "errors.txt"),
    ),
    "an output of an option": Honest(
        checks=({"command": ["sort", f"{RUN}/artifact.md", "-o", "sorted.txt"]},),
        made=("sorted.txt",),
    ),
    "npm test": Honest(
        checks=(
            {"command": ["bin/npm", "test"], "writes": ["node_modules/.cache/**", "coverage/**"]},
        ),
        files={"bin/npm": NPM, "node_modules/runner/index.js": ""}, made=("coverage/lcov.info",),
    ),
    "the same bytes again": Honest(
        checks=({"command": "cp schema.json made.json && cat made.json > schema.json",
                 "writes": ["made.json"]},),
        files={"schema.json": "{}\n"}, made=("made.json",),
    ),
    "a coverage run and its report": Honest(
        checks=(
            {"command": f"{COVERAGE} run counting.py && {COVERAGE} report"},
        ),
        files=TESTED,
    ),
    "pytest with its caches": Honest(
        checks=({"command": [*PYTHON, "pytest", "-q", "tests"]},), files=TESTED,
    ),
    "mypy": Honest(
        checks=({"command": [*PYTHON, "mypy", "--strict", "counting.py"]},), files=TESTED,
    ),
    "ruff": Honest(
        checks=({"command": [*PYTHON, "ruff", "check", "counting.py"]},
                {"command": [*PYTHON, "ruff", "format", "--diff", "lint.py"]}),
        files=TESTED | {"lint.py": "x = 1\n"},
    ),
    "an agent that imports modules of the project": Honest(
        deed="subprocess.run(['PYTHON', '-c', 'import counting'], check=True)\n"
        "assert Path('__pycache__').is_dir()",
        files=TESTED,
    ),
    "an agent that runs the tests": Honest(
        deed="subprocess.run(['PYTHON', '-m', 'pytest', '-q', '--co'], check=True)\n"
        "assert Path('.pytest_cache').is_dir()",
        files=TESTED,
    ),
    "an agent that commits": Honest(
        deed="git = ['git', '-c', 'user.name=a', '-c', 'user.email=a@b']\n"
        "subprocess.run([*git, 'add', 'counting.py'], check=True)\n"
        "subprocess.run([*git, 'commit', '-q', '-m', 'counting'], check=True)\n"
        "subprocess.run([*git, 'status', '--short'], check=True)",
        files=TESTED, git=True,
    ),
    "leavings of editors": Honest(
        deed="for name in ('.counting.py.swp', '.#counting.py', '.idea/workspace.xml', '.DS_Store',"
        " 'docs/.a.md.swo', '.coverage.host.1'):\n    write(name, 'x')",
        files=TESTED,
    ),
    "what the person allows on the command line": Honest(
        deed="write('logs/agent.log', 'x'); write('notes.md', 'x')",
        more=("--may-change", "logs/**", "--may-change", "notes.md"),
        made=("logs/agent.log", "notes.md"),
    ),
    "what is put back": Honest(
        deed="text = Path('counting.py').read_text()\nwrite('counting.py', 'x = 1\\n')\n"
        "write('scratch.txt', 'x')\nos.remove('scratch.txt')\nwrite('counting.py', text)",
        files=TESTED,
    ),
}  # fmt: skip


def _prepared(folder: Path, monkeypatch: pytest.MonkeyPatch, honest: Honest) -> ShellProject:
    project = ShellProject(folder, monkeypatch)
    if honest.git:
        subprocess.run(["git", "init", "-q"], check=True, timeout=20)
    project.put(honest.files)
    project.judge_by(*honest.checks)
    project.let_the_agent(honest.deed.replace("PYTHON", sys.executable))
    return project


@pytest.mark.long
@pytest.mark.parametrize("honest", RUNS.values(), ids=RUNS.keys())
def test_an_honest_run_ends_well(
    honest: Honest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = _prepared(tmp_path, monkeypatch, honest)
    status = project.new(*honest.more)
    told = "".join(capsys.readouterr())
    assert (status, "the deed failed" in told) == (0, False), told
    assert (project.stop()["reason"], project.stop()["passed"]) == ("threshold_reached", True)
    assert "modified" not in told
    for name in honest.made:
        assert (project.folder / name).exists()


UNDECLARED: dict[str, tuple[str | list[str], str, str]] = {
    "an output": ("sh build.sh", "mkdir -p dist; date > dist/a.txt\n", "dist/a.txt was added"),
    "a file of the project": ("sh build.sh", "date +%N >> kept.txt\n", "kept.txt was changed"),
    "a file that goes": ("sh build.sh", "rm -f kept.txt\n", "kept.txt was removed"),
}


@pytest.mark.long
@pytest.mark.parametrize(("command", "script", "told"), UNDECLARED.values(), ids=UNDECLARED.keys())
def test_what_a_check_writes_and_does_not_declare_is_an_error_with_the_line_to_add(
    command: str, script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = told.split(" was ")[0]
    honest = Honest(checks=({"command": command},), files={"build.sh": script, "kept.txt": "x\n"})
    project = _prepared(tmp_path, monkeypatch, honest)
    assert (project.new(), project.stop()["reason"]) == (9, "phase_error")
    detail = project.stop()["detail"]
    assert f"modified during EVALUATE: {told}" in detail
    assert f'writes: ["{path}"]' in detail


SAVES = {
    "an edit": ("kept.txt", "edited\n", "kept.txt was changed"),
    "a new file": ("docs/new.md", "new\n", "docs/new.md was added"),
    "a file that is gone": ("kept.txt", None, "kept.txt was removed"),
    "what a check runs": ("judge.sh", f"{SAYS_ALPHA} # better\n", "judge.sh was changed"),
}


# Somebody who works in the same folder, and saves while no step is running.
PERSON = """\
from pathlib import Path

def pytest_reflex_record(event):
    if event.kind == "plan_created":
        path, text = Path({name!r}), {text!r}
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
"""


def _saved(project: ShellProject, name: str, text: str | None) -> None:
    if text is None:
        (project.folder / name).unlink()
    else:
        project.put({name: text})


@pytest.mark.long
@pytest.mark.parametrize(("name", "text", "told"), SAVES.values(), ids=SAVES.keys())
def test_an_editor_save_between_calls_waits_for_the_person_and_ends_the_same(
    name: str,
    text: str | None,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {"kept.txt": "x\n", "judge.sh": SAYS_ALPHA}
    honest = Honest(checks=({"command": "sh judge.sh"},), files=files)
    project = _prepared(tmp_path, monkeypatch, honest)
    project.judge_by(*honest.checks, plugins=["person"])
    (project.beside / "person.py").write_text(PERSON.format(name=name, text=text))
    monkeypatch.syspath_prepend(project.beside)
    monkeypatch.delitem(sys.modules, "person", raising=False)
    assert project.new() == 14
    said = " ".join("".join(capsys.readouterr()).split())
    assert f"the project changed since the run last looked at it: {told}" in said
    assert project.resume() == 14
    assert project.resume("--accept-changes") == 0
    assert (project.stop()["reason"], project.stop()["passed"]) == ("threshold_reached", True)
    history = (project.folder / RUN / "history.jsonl").read_text().splitlines()
    accepted = [one for one in map(json.loads, history) if one["event"] == "changes_accepted"]
    assert [one["payload"]["paths"] for one in accepted] == [[told.split(" was ")[0]]]


@pytest.mark.long
@pytest.mark.parametrize(("name", "text", "told"), SAVES.values(), ids=SAVES.keys())
def test_an_editor_save_while_a_run_was_interrupted(
    name: str,
    text: str | None,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {"kept.txt": "x\n", "judge.sh": SAYS_ALPHA}
    honest = Honest(checks=({"command": "sh judge.sh"},), files=files)
    project = _prepared(tmp_path, monkeypatch, honest)
    project.let_the_agent("", after="kill -9 $PPID; sleep 30")
    assert project.new_process() == -9
    _saved(project, name, text)
    assert project.resume() == 14
    said = " ".join("".join(capsys.readouterr()).split())
    assert f"the project changed since the run last looked at it: {told}" in said
    assert project.resume("--accept-changes") == 0
    assert (project.stop()["reason"], project.stop()["passed"]) == ("threshold_reached", True)


@pytest.mark.long
def test_a_resume_of_an_unchanged_project_needs_no_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _prepared(tmp_path, monkeypatch, Honest(files=TESTED))
    project.let_the_agent("", after="kill -9 $PPID; sleep 30")
    assert project.new_process() == -9
    assert project.resume() == 0


@pytest.mark.long
@pytest.mark.parametrize("redirected", ["2> progress.txt", "> out.txt", "> all.txt 2>&1"])
def test_a_file_that_the_loop_is_told_to_write_to_is_its_own(
    redirected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _prepared(tmp_path, monkeypatch, Honest(files=TESTED))
    project.let_the_agent("", after="kill -9 $PPID; sleep 30")
    loop = f"{sys.executable} -m pytest_reflex loop"
    new = f"{loop} new 'say it' --alias run --criteria words.yaml --yes {redirected}"
    assert subprocess.run(["sh", "-c", f"{new}; kill -9 $$"], check=False).returncode == -9
    again = subprocess.run(["sh", "-c", f"{loop} resume run >> more.txt 2>&1"], check=False)
    assert again.returncode == 0, Path("more.txt").read_text()
    assert project.stop()["passed"] is True
