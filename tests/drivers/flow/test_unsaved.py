"""What people have in tree and index stays theirs; what they change between sittings counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.drivers.common.record_file import RunFile
from pytest_reflex.errors import ExitCode
from tests.drivers.flow.stage import ACT, NOTE, OPEN, PLAN, Call, Stage, close_one, node

pytestmark = [pytest.mark.long, pytest.mark.variants]

BUILTIN = "builtin:all-pass"


def seen(stage: Stage) -> tuple[str, str, dict[str, str]]:
    """Return what git says, what is staged, and a hash of each file."""
    hashes = {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(stage.folder.rglob("*"))
        if path.is_file() and path.name not in ("index.lock",) and ".git/objects" not in str(path)
    }
    flag = "--no-optional-locks"
    return stage.git(flag, "status", "--porcelain"), stage.git(flag, "diff", "--cached"), hashes


def merging(stage: Stage) -> None:
    stage.git("switch", "--quiet", "-c", "side")
    stage.git("commit", "--quiet", "--allow-empty", "-m", "side")
    stage.git("switch", "--quiet", "main")
    stage.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
    stage.write(".git/MERGE_HEAD", stage.git("rev-parse", "side"))


def staged_change(stage: Stage) -> None:
    stage.write("README.md", "staged\n")
    stage.git("add", "README.md")


REFUSED: dict[str, tuple[Callable[[Stage], object], str]] = {
    "a changed file": (lambda stage: stage.write("README.md", "mine\n"), "README.md"),
    "a staged file": (staged_change, "README.md"),
    "an untracked file": (lambda stage: stage.write("secret.env", "KEY=1\n"), "secret.env"),
    "a removed file": (lambda stage: os.unlink("README.md"), "README.md"),
    "a detached HEAD": (lambda stage: stage.git("checkout", "-q", "--detach"), "detached"),
    "a merge": (merging, "a merge is not finished"),
    "an index.lock": (lambda stage: stage.write(".git/index.lock", ""), "index.lock"),
    "a branch in the way": (lambda stage: stage.git("branch", "ai-loop"), "--branch NAME"),
}


@pytest.mark.parametrize("state", REFUSED)
def test_a_run_that_cannot_begin_changes_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    prepare, told = REFUSED[state]
    stage.flow(node("only", controller=BUILTIN))
    stage.git("add", ".ai-loop")
    stage.git("commit", "--quiet", "-m", "flow")
    prepare(stage)
    before = seen(stage)
    assert stage.run() == ExitCode.USAGE
    assert told in capsys.readouterr().err
    assert seen(stage) == before
    assert stage.script.asked == []


def test_a_branch_that_exists_gets_a_number(stage: Stage) -> None:
    stage.flow(node("only", controller=BUILTIN))
    stage.git("branch", "ai-loop/close-all-points")
    stage.git("worktree", "add", "-q", "-b", "ai-loop/close-all-points-2", "../elsewhere")
    stage.git("branch", "ai-loop/close-all-points-3/deeper")
    assert stage.run() == 0
    assert stage.record.data["branch"] == "ai-loop/close-all-points-4"


def test_beside_unsaved_work_it_stays_unsaved_and_staged(stage: Stage) -> None:
    stage.flow(node("only", controller=BUILTIN))
    stage.git("add", ".ai-loop")
    stage.git("commit", "--quiet", "-m", "flow")
    staged_change(stage)
    stage.write("README.md", "staged and changed\n")
    stage.write("secret.env", "KEY=1\n")
    before = stage.git("status", "--porcelain"), stage.git("diff"), stage.git("diff", "--cached")
    assert stage.run("close all points", "--allow-dirty") == 0
    now = stage.git("status", "--porcelain"), stage.git("diff"), stage.git("diff", "--cached")
    assert now == before
    committed = stage.git("log", "--format=", "--name-only", "main..HEAD").split()
    assert NOTE in committed
    assert not {"README.md", "secret.env"} & set(committed)


@pytest.mark.parametrize("removes", [False, True], ids=["changed", "removed"])
def test_a_change_of_unsaved_work_is_refused_and_is_no_offence(stage: Stage, removes: bool) -> None:
    stage.flow(node("only", controller=BUILTIN))
    mine = stage.write("draft.md", "mine\n")

    def work(call: Call, output: Path) -> None:
        os.unlink("draft.md") if removes else Path("draft.md").write_text("theirs\n")
        close_one(call, output)

    stage.script.actuator = work
    assert stage.run("close all points", "--allow-dirty") == 0
    assert mine.read_text() == "mine\n"
    told = [one.action for one in stage.boundaries()]
    assert [line.startswith("refused to change unsaved draft.md") for line in told[1:3]] == [
        True
    ] * 2


def test_a_change_of_unsaved_work_is_committed_where_it_is_included(stage: Stage) -> None:
    stage.flow(node("only", controller=BUILTIN))
    stage.write("draft.md", "mine\n")
    stage.write("other.md", "mine\n")

    def work(call: Call, output: Path) -> None:
        Path("draft.md").write_text("theirs\n")
        close_one(call, output)

    stage.script.actuator = work
    assert stage.run("close all points", "--allow-dirty=include") == 0
    assert stage.git("show", "HEAD:draft.md") == "theirs\n"
    assert "?? other.md" in stage.git("status", "--porcelain")


@pytest.mark.parametrize(
    "words",
    [
        ("close all points", "--allow-dirty"),
        ("--allow-dirty", "close all points"),
        ("--no-git", "close all points", "--allow-dirty"),
    ],
)
def test_the_option_without_a_value_stands_anywhere(stage: Stage, words: tuple[str, ...]) -> None:
    stage.flow(node("only", controller=BUILTIN))
    mine = stage.write("draft.md", "mine\n")
    assert main(["flow", "run", *words]) == 0
    assert mine.read_text() == "mine\n"


@pytest.mark.parametrize("flag", ["--allow-dirty=all", "--allow-dirty="])
def test_another_value_is_refused(
    stage: Stage, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    stage.flow(node("only", controller=BUILTIN))
    assert stage.run("close all points", flag) == ExitCode.USAGE
    assert "--allow-dirty" in capsys.readouterr().err


def test_a_hook_that_refuses_leaves_the_run_to_be_resumed(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("only", controller=BUILTIN))
    hook = stage.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'line 3 is bad' >&2\nexit 1\n")
    hook.chmod(0o755)
    assert stage.run() not in (0, ExitCode.INTERNAL)
    told = capsys.readouterr()
    assert "line 3 is bad" in told.err + told.out
    hook.unlink()
    assert stage.resume() == 0
    keys = [one.key for one in stage.boundaries()]
    assert len(keys) == len(set(keys)) == 4


def interrupted(stage: Stage) -> None:
    """Have a run that stands before its second act."""

    def leave(call: Call, output: Path) -> None:
        if stage.script.count("actuator") == 2:
            raise KeyboardInterrupt
        close_one(call, output)

    stage.script.actuator = leave
    assert stage.run() == ExitCode.INTERRUPTED
    stage.script.actuator = close_one


def _killed(stage: Stage) -> None:
    """Have the state that a process leaves which was killed."""
    with RunFile(stage.folder, "flow", stage.run_id).own(lambda text: None) as file:
        file.save(replace(stage.record, status="running"))


CHANGES: dict[str, tuple[str, Callable[[str], str]]] = {
    "flow.yaml": (
        ".ai-loop/flow.yaml",
        lambda text: text.replace('"max_iterations": 3', '"max_iterations": 4'),
    ),
    "an agent file": (ACT, lambda text: text + "Be careful.\n"),
    "another agent file": (PLAN, lambda text: text + "Be careful.\n"),
    "a new conftest.py": ("conftest.py", lambda text: "x = 1\n"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_a_person_changes_between_two_sittings_counts_and_is_told(
    stage: Stage, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    name, change = CHANGES[case]
    tests = {"name": "tests", "command": "true || pytest"}
    stage.flow(node("only", sensors=[OPEN, tests], controller=PLAN))
    interrupted(stage)
    path = stage.folder / name
    text = change(path.read_text() if path.exists() else "")
    path.write_text(text)
    capsys.readouterr()
    assert stage.resume() == 0
    assert f"accepted as it is now: {name}" in capsys.readouterr().err
    assert path.read_text() == text
    assert not [line for line in stage.told() if "restored" in line]


@pytest.mark.parametrize("case", CHANGES)
def test_what_is_changed_while_a_killed_agent_worked_is_put_back_and_told(
    stage: Stage, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    name, change = CHANGES[case]
    tests = {"name": "tests", "command": "true || pytest"}
    stage.flow(node("only", sensors=[OPEN, tests], controller=PLAN))
    interrupted(stage)
    _killed(stage)
    path = stage.folder / name
    before = path.read_text() if path.exists() else None
    path.write_text(change(before or ""))
    capsys.readouterr()
    assert stage.resume() == 0
    assert f"put back what was changed while an agent worked: {name}" in capsys.readouterr().err
    assert (path.read_text() if path.exists() else None) == before


def test_a_new_run_on_another_branch_gets_an_id_of_its_own(stage: Stage) -> None:
    stage.flow(node("only", controller=BUILTIN))
    stage.git("add", ".ai-loop")
    stage.git("commit", "--quiet", "-m", "flow")
    assert stage.run() == 0
    first = stage.run_id
    stage.git("switch", "--quiet", "main")
    assert stage.run("close all points again") == 0
    assert stage.run_id > first
    assert RunFile(stage.folder, "flow", first).load().data["task"] == "close all points"


def test_on_another_branch_a_resume_says_how_to_come_back(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("only", controller=BUILTIN))
    interrupted(stage)
    stage.git("stash", "--quiet")
    branch = stage.record.data["branch"]
    stage.git("switch", "--quiet", "main")
    _killed(stage)  # nothing is put back on a branch that is not the run's
    stage.write("pytest-reflex.toml", (stage.folder / "pytest-reflex.toml").read_text() + "\n")
    before = stage.git("status", "--porcelain")
    assert stage.resume() == ExitCode.USAGE
    assert stage.git("status", "--porcelain") == before
    assert f"git switch {branch}" in capsys.readouterr().err
    stage.git("worktree", "add", "-q", "../there", branch)
    assert main(["flow", "resume"]) == ExitCode.USAGE
    assert str(stage.folder.parent / "there") in capsys.readouterr().err


def test_a_run_whose_branch_is_elsewhere_offers_no_takeover(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("only", controller=BUILTIN))
    interrupted(stage)
    branch = stage.record.data["branch"]
    capsys.readouterr()
    assert main(["flow", "show"]) == 0
    assert "Take it over: " in capsys.readouterr().out
    stage.write("new.py", "")
    stage.git("switch", "--quiet", "--merge", "main")
    assert main(["flow", "show"]) == 0
    told = capsys.readouterr().out
    assert f"Go on: git switch {branch} && pytest-reflex flow resume {stage.run_id}\n" in told
    assert not {"Take it over", "Discard it", "Look at it"} & {
        line.partition(":")[0] for line in told.splitlines()
    }
    assert stage.resume() == ExitCode.USAGE
    assert f"git switch {branch}, then resume" in capsys.readouterr().err


def test_who_leaves_the_branch_while_it_is_driven_can_come_back_with_all_of_it(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.flow(node("only", controller=BUILTIN))
    stage.git("add", ".ai-loop")
    stage.git("commit", "--quiet", "-m", "flow")

    def leave(call: Call, output: Path) -> None:
        close_one(call, output)
        stage.git("switch", "--quiet", "main")

    stage.script.actuator = leave
    stage.write(".gitignore", "/.ai-loop/runs\n")
    stage.git("add", ".gitignore")
    stage.git("commit", "--quiet", "-m", "runs are not committed")
    assert stage.run() == ExitCode.PHASE_ERROR
    told = capsys.readouterr()
    branch = stage.record.data["branch"]
    assert f"{branch}, is not checked out any more (git switch {branch}" in told.err
    assert "Take it over" not in told.out
    stage.script.actuator = close_one
    stage.git("switch", "--quiet", branch)
    assert stage.resume() == 0
    keys = [one.key for one in stage.boundaries()]
    assert len(keys) == len(set(keys)) == 4
    assert stage.git("show", f"HEAD:{NOTE}") == "DONE 1\nDONE 2\n"


def test_a_stash_takes_an_interrupted_run_aside_and_brings_it_back(stage: Stage) -> None:
    stage.flow(node("only", controller=BUILTIN))
    stage.git("add", ".ai-loop")
    stage.git("commit", "--quiet", "-m", "flow")
    interrupted(stage)
    stage.write("new.py", "x = 1\n")
    branch = stage.record.data["branch"]
    stage.git("stash", "--include-untracked")
    stage.git("switch", "--quiet", "main")
    assert stage.resume() == ExitCode.USAGE
    stage.git("switch", "--quiet", branch)
    stage.git("stash", "pop", "--quiet")
    assert stage.resume() == 0
    assert stage.git("show", "HEAD:new.py") == "x = 1\n"
