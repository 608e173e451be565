"""`--commit`: git keeps what each iteration changed, and nothing that was somebody else's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.drivers.iterate.project import Project, told

pytestmark = [pytest.mark.long, pytest.mark.variants]

Captured = pytest.CaptureFixture[str]
Git = Callable[..., str]
CONFIG = '[iterate]\nagent = "script"\n[agents.script]\ncommand = ["sh", "agent.sh"]\n'
RUN = ("iterate", "run", "build", "--commit")


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A repository with one commit, in which the project is; return what runs git there."""
    for name in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_AUTHOR_{name}", raising=False)
        monkeypatch.delenv(f"GIT_COMMITTER_{name}", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    run("init", "-q", "-b", "work")
    run("config", "user.name", "Ada")
    run("config", "user.email", "ada@example.org")
    (tmp_path / "pytest-reflex.toml").write_text(CONFIG)
    (tmp_path / "kept.txt").write_text("kept\n")
    script(tmp_path, "echo $PYTEST_REFLEX_ITERATION >> notes.txt")
    run("add", "-A")
    run("commit", "-q", "-m", "begin")
    return run


def script(folder: Path, text: str) -> None:
    (folder / "agent.sh").write_text(f"cat > /dev/null\n{text}\necho done\n")


def in_commit(git: Git, commit: str = "HEAD") -> list[str]:
    return git("show", "--name-only", "--no-renames", "--format=", commit).splitlines()


def test_each_iteration_is_a_commit_of_what_it_changed(git: Git, tmp_path: Path) -> None:
    assert main([*RUN, "-n", "2"]) == 0
    assert git("log", "--format=%s|%an").splitlines() == [
        "build: iteration 2/2|Ada",
        "build: iteration 1/2|Ada",
        "begin|Ada",
    ]
    assert in_commit(git) == in_commit(git, "HEAD~1") == ["notes.txt"]
    assert git("show", "HEAD~1:notes.txt") == "1"
    assert git("status", "--porcelain") == ""


def test_it_is_told_how_a_commit_is_undone(git: Git, tmp_path: Path, capsys: Captured) -> None:
    main([*RUN, "-n", "2"])
    lines = told(capsys.readouterr().err)
    second, first = git("log", "--format=%h").splitlines()[:2]
    for number, commit in ((1, first), (2, second)):
        undo = f"(undo: git revert --no-edit {commit})"
        assert f"Committed iteration {number} as {commit}: 1 file {undo}" in lines
    every = f"To undo the commits since start or resume: git revert --no-edit {second} {first}"
    assert lines[-2] == every
    git(*every.rpartition(": git ")[2].split())
    assert not (tmp_path / "notes.txt").exists()


def test_a_removed_and_a_renamed_file_and_one_with_odd_name_are_committed(
    git: Git, tmp_path: Path
) -> None:
    (tmp_path / "a [1]*.txt").write_text("a\n")
    git("add", "-A")
    git("commit", "-q", "-m", "more")
    script(
        tmp_path, "rm 'a [1]*.txt'; mv kept.txt 'new name\u00e9.txt'; mkdir d; echo x > 'd/:(top)x'"
    )
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "1"]) == 0
    assert git("status", "--porcelain") == ""
    changed = git(
        "-c", "core.quotePath=false", "show", "--no-renames", "--name-status", "--format="
    )
    assert changed.splitlines() == [
        "D\ta [1]*.txt", "A\td/:(top)x", "D\tkept.txt", "A\tnew name\u00e9.txt",
    ]  # fmt: skip


def test_what_was_staged_stays_staged_and_is_in_no_commit(git: Git, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("staged by a person\n")
    (tmp_path / "new.txt").write_text("staged too\n")
    git("add", "kept.txt", "new.txt")
    (tmp_path / "loose.txt").write_text("not staged\n")
    assert main([*RUN, "-n", "2"]) == 0
    assert in_commit(git) == in_commit(git, "HEAD~1") == ["notes.txt"]
    assert git("diff", "--cached", "--name-only").splitlines() == ["kept.txt", "new.txt"]
    assert git("show", ":kept.txt") == "staged by a person"
    assert git("status", "--porcelain").splitlines() == [
        "M  kept.txt",
        "A  new.txt",
        "?? loose.txt",
    ]


@pytest.mark.parametrize("staged", [True, False])
def test_a_file_that_was_changed_before_is_left_out_and_told(
    git: Git, tmp_path: Path, capsys: Captured, staged: bool
) -> None:
    (tmp_path / "kept.txt").write_text("half a thought\n")
    if staged:
        git("add", "kept.txt")
    script(tmp_path, "echo more >> kept.txt; echo x >> notes.txt")
    git("commit", "-q", "-m", "script", "--only", "agent.sh")
    main([*RUN, "-n", "1"])
    assert in_commit(git) == ["notes.txt"]
    left = "WARNING: Left out of the commit, since they were changed before it: kept.txt"
    assert left in told(capsys.readouterr().err)
    assert (tmp_path / "kept.txt").read_text() == "half a thought\nmore\n"


def test_an_iteration_that_changes_nothing_is_no_commit(git: Git, tmp_path: Path) -> None:
    script(tmp_path, ":")
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "1"]) == 0
    assert git("log", "-1", "--format=%s") == "script"


def test_what_the_tool_commits_itself_is_not_committed_again(git: Git, tmp_path: Path) -> None:
    script(tmp_path, "echo x >> notes.txt; git add notes.txt; git commit -q -m own; echo y > rest")
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "1"]) == 0
    assert git("log", "--format=%s").splitlines()[:2] == ["build: iteration 1/1", "own"]
    assert in_commit(git) == ["rest"]


def test_a_failed_iteration_is_committed_and_says_so(git: Git, tmp_path: Path) -> None:
    script(tmp_path, "echo x >> notes.txt; exit 3")
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "1"]) == 6
    body = git("log", "-1", "--format=%b")
    assert body == "The iteration failed: AI CLI failed (exit 3)."


def test_what_gates_write_is_in_no_commit(git: Git, tmp_path: Path) -> None:
    gate = '[iterate.gates.writes]\ncommand = "date +%N > report.txt"\n'
    (tmp_path / "pytest-reflex.toml").write_text(CONFIG + gate)
    git("commit", "-q", "-a", "-m", "gate")
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["notes.txt"]


def test_only_files_of_the_project_are_committed(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "packages/inner"
    inner.mkdir(parents=True)
    (inner / "pytest-reflex.toml").write_text(CONFIG)
    script(inner, "echo x > inside.txt; echo y > ../../outside.txt")
    git("add", "-A")
    git("commit", "-q", "-m", "inner")
    monkeypatch.chdir(inner)
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["packages/inner/inside.txt"]
    assert git("status", "--porcelain") == "?? outside.txt"


def test_no_hook_runs_and_nothing_is_signed(git: Git, tmp_path: Path) -> None:
    hooks = tmp_path / ".git/hooks"
    for name in ("pre-commit", "commit-msg", "post-commit", "prepare-commit-msg"):
        (hooks / name).write_text("#!/bin/sh\ntouch ../hooked hooked; exit 1\n")
        (hooks / name).chmod(0o755)
    git("config", "commit.gpgSign", "true")
    git("config", "gpg.program", "false")
    assert main([*RUN, "-n", "1"]) == 0
    assert git("log", "-1", "--format=%s") == "build: iteration 1/1"
    assert not (tmp_path / "hooked").exists()


def test_the_first_commit_of_a_repository_may_be_an_iteration(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("checkout", "-q", "--orphan", "fresh")
    git("rm", "-q", "-r", "--cached", ".")
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["notes.txt"]


def test_git_that_refuses_is_told_and_stops_nothing(
    git: Git, tmp_path: Path, capsys: Captured
) -> None:
    script(
        tmp_path,
        'echo x >> notes.txt; [ "$PYTEST_REFLEX_ITERATION" = 1 ] && touch .git/index.lock\n'
        '[ "$PYTEST_REFLEX_ITERATION" = 2 ] && rm .git/index.lock; true',
    )
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "2"]) == 0
    warnings = [line for line in told(capsys.readouterr().err) if "Not committed: " in line]
    assert len(warnings) == 1
    assert ".git/index.lock)" in warnings[0]
    assert git("show", "HEAD:notes.txt") == "x\nx"  # the next iteration takes it with it


def test_a_resume_goes_on_committing(git: Git, tmp_path: Path) -> None:
    assert main([*RUN, "-n", "9", "--budget", "calls=1"]) == 8
    assert main(["iterate", "resume", "build", "-n", "2", "--budget", "calls=9"]) == 0
    assert git("log", "-1", "--format=%s") == "build: iteration 2/2"


def test_without_the_option_nothing_is_committed(git: Git) -> None:
    assert main(["iterate", "run", "build", "-n", "1"]) == 0
    assert git("log", "-1", "--format=%s") == "begin"


def test_the_history_names_the_commits(git: Git, capsys: Captured) -> None:
    main([*RUN, "-n", "1"])
    capsys.readouterr()
    main(["iterate", "history", "build", "--run", "last", "--json"])
    (row,) = json.loads(capsys.readouterr().out)["iterations"]
    assert (row["commit"], row["files"]) == (git("rev-parse", "--short", "HEAD"), ["notes.txt"])


def refused(capsys: Captured) -> str:
    capsys.readouterr()
    assert main([*RUN, "-n", "1"]) == 4
    return capsys.readouterr().err


def test_outside_a_repository_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    project = Project(tmp_path, "ok")
    error = refused(capsys)
    assert f"--commit: {tmp_path} is in no git repository" in error
    assert "make one with `git init`, or begin without --commit" in error
    assert not project.calls()


def test_a_folder_that_git_ignores_is_refused(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path / "build")
    Project(tmp_path / "build", "ok")
    assert f"--commit: git ignores {tmp_path}/build" in refused(capsys)


def test_who_commits_has_to_be_known(git: Git, capsys: Captured) -> None:
    git("config", "--unset", "user.name")
    git("config", "--unset", "user.email")
    git("config", "user.useConfigOnly", "true")
    assert "--commit: git does not know who commits" in refused(capsys)


def test_a_merge_under_way_is_refused(git: Git, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / ".git/MERGE_HEAD").write_text(git("rev-parse", "HEAD") + "\n")
    assert "--commit: a merge is under way" in refused(capsys)


def test_without_git_it_is_refused(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat"):
        (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "--commit needs git, which is not installed" in refused(capsys)


MOVES = {
    "git mv": ("git mv kept.txt moved.txt", {"kept.txt", "moved.txt", "new.txt"}),
    "git rm": ("git rm -q kept.txt", {"kept.txt", "new.txt"}),
    "a file that becomes a folder": (
        "rm kept.txt; mkdir kept.txt; echo 1 > kept.txt/in.txt",
        {"kept.txt", "kept.txt/in.txt", "new.txt"},
    ),
    "what was staged": ("echo 1 > staged.txt; git add staged.txt", {"staged.txt", "new.txt"}),
}


@pytest.mark.parametrize(("does", "changed"), MOVES.values(), ids=MOVES)
def test_whatever_the_tool_does_to_files_is_committed_and_the_index_follows(
    git: Git, tmp_path: Path, does: str, changed: set[str]
) -> None:
    script(tmp_path, f"{does}; echo 1 > new.txt")
    git("commit", "-qam", "another tool")
    assert main([*RUN, "-n", "1"]) == 0
    assert set(in_commit(git)) == changed
    assert git("status", "--porcelain", "--", *changed) == ""


def test_a_repository_within_is_left_out_and_the_rest_committed(
    git: Git, tmp_path: Path, capsys: Captured
) -> None:
    script(tmp_path, "mkdir nested; (cd nested; git init -q; echo 1 > in.txt); echo 1 > new.txt")
    git("commit", "-qam", "another tool")
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["new.txt"]
    assert "Left out of the commit, being repositories: nested/\n" in capsys.readouterr().err


def test_what_changed_inside_a_submodule_is_told_and_left_out(
    git: Git, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "sub").mkdir()
    for words in (
        ("init", "-q", "-b", "work"),
        ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"),
    ):
        subprocess.run(["git", *words], cwd=tmp_path / "sub", check=True)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./sub", "sub")
    git("commit", "-q", "-a", "-m", "with a submodule")
    script(tmp_path, "echo $PYTEST_REFLEX_ITERATION | tee -a notes.txt > sub/inside.txt")
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["notes.txt"]
    lines = told(capsys.readouterr().err)
    assert sum("Left out of the commit, inside submodules: sub" in one for one in lines) == 1
    main([*RUN, "-n", "1"])
    assert "inside submodules" not in capsys.readouterr().err  # it was so before


def test_a_file_with_a_number_before_its_name_is_renamed_beside_a_submodule(
    git: Git, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / ".gitmodules").touch()
    (tmp_path / "1 intro.md").write_text("the same text\n" * 9)
    git("add", "-A")
    git("commit", "-q", "-m", "numbered")
    git("mv", "1 intro.md", "2 intro.md")
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["notes.txt"]
    assert "inside submodules" not in capsys.readouterr().err


def test_a_branch_whose_name_is_no_text_is_one_like_any(git: Git) -> None:
    git("checkout", "-q", "-b", os.fsdecode(b"caf\xe9"))
    assert main([*RUN, "-n", "1"]) == 0
    assert in_commit(git) == ["notes.txt"]


@pytest.mark.parametrize(
    ("act", "now"), [("checkout -q -b side", "side"), ("checkout -q --detach", "no branch")]
)
def test_another_branch_than_at_the_start_is_told_once(
    git: Git, tmp_path: Path, capsys: Captured, act: str, now: str
) -> None:
    script(tmp_path, f"echo x >> notes.txt; [ -e done ] || git {act}; touch done")
    git("commit", "-q", "-a", "-m", "script")
    assert main([*RUN, "-n", "2"]) == 0
    lines = told(capsys.readouterr().err)
    assert sum(f"HEAD is on {now} now, and was on work before" in one for one in lines) == 1
