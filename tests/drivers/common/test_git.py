"""Git in whatever state somebody left it: what is theirs stays theirs, and nothing hostile runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_reflex.drivers.common.git import Git
from pytest_reflex.errors import ReflexError, StepError, UsageError

pytestmark = pytest.mark.variants


def git(folder: Path, *words: str, ok: bool = True) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=False, stdin=-3
    )
    assert done.returncode == 0 or not ok, done.stderr
    return done.stdout


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@b.example")
    for name in ("one.txt", "two.txt", "three.txt"):
        (folder / name).write_text(f"{name}\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def seen(folder: Path) -> tuple[str, dict[str, str]]:
    """Return what git says of a tree, and a hash of every file but git's own, index included."""
    hashes = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and (".git" not in path.parts or path.name in ("index", "HEAD"))
        and "logs" not in path.parts
    }
    return git(folder, "--no-optional-locks", "status", "--porcelain", ok=False), hashes


def _detached(folder: Path) -> None:
    git(folder, "checkout", "-q", "--detach")


def _unborn(folder: Path) -> None:
    git(folder, "checkout", "-q", "--orphan", "new")


def _conflict(folder: Path, how: str) -> None:
    git(folder, "switch", "-q", "-c", "side")
    (folder / "one.txt").write_text("side\n")
    git(folder, "commit", "-q", "-am", "side")
    git(folder, "switch", "-q", "main")
    (folder / "one.txt").write_text("main\n")
    git(folder, "commit", "-q", "-am", "main")
    git(folder, how, "side", ok=False)


def _without_name(folder: Path) -> None:
    for key in ("user.name", "user.email"):
        git(folder, "config", "--unset", key)
    git(folder, "config", "user.useConfigOnly", "true")


def _copied_worktree(folder: Path) -> None:
    linked = folder.with_name("linked")
    git(folder, "worktree", "add", "-q", str(linked))
    content = (linked / ".git").read_text()
    other = folder / "copy"
    other.mkdir()
    (other / ".git").write_text(content)


# What was done to the repository, where we stand in it, and what is said.
REFUSED: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a detached HEAD": (_detached, "", "HEAD is detached"),
    "a branch without a commit": (_unborn, "", "no commit yet"),
    "a merge in progress": (lambda at: _conflict(at, "merge"), "", "a merge is not finished"),
    "a rebase in progress": (lambda at: _conflict(at, "rebase"), "", "a rebase is not finished"),
    "a cherry-pick in progress": (
        lambda at: _conflict(at, "cherry-pick"), "", "a cherry-pick is not finished",
    ),
    "an index.lock": (lambda at: (at / ".git/index.lock").touch(), "", "another git command"),
    "a bare repository": (
        lambda at: git(at, "clone", "-q", "--bare", ".", "bare.git"), "bare.git", "is bare",
    ),
    "a submodule": (
        lambda at: git(
            at, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(at), "inner"
        ),
        "inner", "is a submodule",
    ),
    "a folder of a repository": (
        lambda at: (at / "part").mkdir(), "part", "not the root of the repository",
    ),
    "no repository": (lambda at: None, "..", "this is not a git repository"),
    "nobody who commits": (_without_name, "", "does not know who commits"),
    "a copy of a linked worktree": (_copied_worktree, "copy", "a copy of a linked worktree"),
    "a damaged repository": (
        lambda at: (at / ".git/config").write_text("[core"), "", "git cannot use this repository",
    ),
}  # fmt: skip


@pytest.mark.parametrize("state", REFUSED)
def test_a_state_in_which_no_run_can_commit_is_refused_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    prepare, place, told = REFUSED[state]
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = repository(tmp_path / "own")
    prepare(folder)
    at = folder / place
    before = seen(folder)
    with pytest.raises(UsageError) as refused:
        Git(at).tree()
    problem = refused.value.problems[0]
    assert told in problem.message
    assert problem.hint
    assert seen(folder) == before


def test_a_linked_worktree_is_a_tree_like_any_other(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    git(folder, "worktree", "add", "-q", "../linked")
    linked = Git(tmp_path / "linked")
    assert linked.tree().branch == "linked"
    (tmp_path / "linked/one.txt").write_text("changed\n")
    linked.commit("a change", ["one.txt"])
    assert git(folder, "log", "--format=%s", "linked").splitlines() == ["a change", "first"]
    assert git(folder, "status", "--porcelain") == ""


def test_a_commit_holds_the_named_paths_and_what_is_staged_stays_staged(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    (folder / "one.txt").write_text("staged\n")
    git(folder, "add", "one.txt")
    (folder / "one.txt").write_text("staged and changed\n")
    (folder / "two.txt").unlink()
    git(folder, "rm", "-q", "--cached", "two.txt")
    (folder / "secret.env").write_text("KEY=1\n")
    (folder / "wanted.txt").write_text("-\n")
    git(folder, "add", "-N", "wanted.txt")
    status, hashes = seen(folder)
    (folder / "three.txt").unlink()
    (folder / "three.txt").mkdir()
    (folder / "three.txt/part").write_text("changed\n")
    made = Git(folder).commit("ours", ["three.txt", "three.txt/part"])
    shown = git(folder, "show", "--format=", "--name-status", "--no-renames", made)
    assert shown.splitlines() == ["D\tthree.txt", "A\tthree.txt/part"]
    now, left = seen(folder)
    assert now == status
    ours = ("three.txt", "three.txt/part", ".git/index")
    assert {k: v for k, v in left.items() if k not in ours} == {
        k: v for k, v in hashes.items() if k not in ours
    }
    assert git(folder, "show", ":one.txt") == "staged\n"


def test_a_commit_asks_git_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, log, real = repository(tmp_path / "p"), tmp_path / "log", shutil.which("git")
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    (folder / "one.txt").write_text("1\n")
    made = Git(folder).commit("next", ["one.txt"])
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 8
    assert git(folder, "rev-parse", "HEAD").strip() == made
    assert git(folder, "status", "--porcelain") == ""


def test_looking_leaves_the_index_byte_for_byte(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    os.utime(folder / "one.txt", (1, 1))  # git would refresh what it knows of the file
    before = (folder / ".git/index").read_bytes()
    found = Git(folder)
    assert found.tree().branch == "main"
    assert found.dirty() == {}
    assert (folder / ".git/index").read_bytes() == before


def test_nothing_to_commit_is_a_commit_without_changes(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    made = Git(folder).commit("nothing", ["one.txt"])
    assert git(folder, "show", "--format=%s", "--name-only", made).strip() == "nothing"


def test_a_repository_in_the_tree_is_no_file_of_it(tmp_path: Path) -> None:
    folder = repository(tmp_path / "own")
    repository(folder / "nested")
    found = Git(folder)
    assert list(found.dirty()) == ["nested/"]
    made = found.commit("beside it", ["nested/"])
    assert git(folder, "show", "--format=", "--name-only", made) == ""


def hook(folder: Path, name: str, text: str) -> None:
    path = folder / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


# A hook, and what is said of it.
HOOKS_THAT_REFUSE = {
    "it fails": ("pre-commit", "echo 'line 3 is bad' >&2; exit 1", "line 3 is bad"),
    "it refuses the message": ("commit-msg", "echo 'no ticket'; exit 1", "no ticket"),
    "it fails whatever it changes": (
        "pre-commit", "date +%N >> one.txt; echo 'never good' >&2; exit 1", "never good",
    ),
    "it commits what is not ours": ("pre-commit", "git add -A", "secret.env"),
    "it does not end": ("pre-commit", "sleep 60", "it does not end in 1 s"),
    "it asks": ("pre-commit", "read answer < /dev/tty || exit 3", "pre-commit"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOOKS_THAT_REFUSE)
def test_a_hook_that_refuses_leaves_no_commit_and_is_told(tmp_path: Path, case: str) -> None:
    name, text, told = HOOKS_THAT_REFUSE[case]
    folder = repository(tmp_path / "own")
    hook(folder, name, text)
    (folder / "secret.env").write_text("KEY=1\n")
    (folder / "two.txt").write_text("staged\n")
    git(folder, "add", "two.txt")
    (folder / "one.txt").write_text("changed\n")
    status = git(folder, "status", "--porcelain")
    with pytest.raises(StepError, match=told):
        Git(folder, seconds=1 if case == "it does not end" else 60).commit("ours", ["one.txt"])
    assert git(folder, "log", "--format=%s").splitlines() == ["first"]
    assert git(folder, "status", "--porcelain") == status
    assert not [path.name for path in (folder / ".git").glob("reflex-index*")]


@pytest.mark.parametrize(
    "text",
    [
        "sed -i s/bad/good/ one.txt; git add one.txt",
        "grep -q bad one.txt || exit 0; sed -i s/bad/good/ one.txt; exit 1",
    ],
    ids=["and adds it", "and refuses once"],
)
def test_what_a_hook_rewrites_is_committed_as_it_is_then(tmp_path: Path, text: str) -> None:
    folder = repository(tmp_path / "own")
    hook(folder, "pre-commit", text)
    (folder / "one.txt").write_text("bad\n")
    made = Git(folder).commit("ours", ["one.txt"])
    assert git(folder, "show", f"{made}:one.txt") == "good\n"
    assert git(folder, "status", "--porcelain") == ""


def test_a_signing_program_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text("[commit]\n gpgSign = true\n[gpg]\n program = /no/such/gpg\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    folder = repository_without_signing(tmp_path / "own")
    with pytest.raises(StepError, match=r"git commit failed: .*gpg"):
        Git(folder).commit("ours", [])
    assert git(folder, "log", "--format=%s").splitlines() == ["first"]


def repository_without_signing(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@b.example")
    git(folder, "commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "first")
    return folder


CANARY = "touch '{canary}'"
# Keys of a repository's own configuration, each with what git would run.
HOSTILE: dict[str, dict[str, str]] = {
    "fsmonitor": {"core.fsmonitor": "{run}"},
    "a pager": {"core.pager": "{run}", "pager.log": "{run}", "pager.status": "{run}"},
    "an editor": {"core.editor": "{run}", "sequence.editor": "{run}"},
    "the ext protocol": {"protocol.ext.allow": "always", "remote.origin.url": "ext::{run}"},
    "an external diff": {"diff.external": "{run}", "diff.d.command": "{run}"},
    "a text conversion": {"diff.d.textconv": "{run}"},
    "a clean filter": {"filter.f.clean": "{run}"},
    "a filter process": {"filter.f.process": "{run}"},
    "signing": {"commit.gpgSign": "true", "gpg.program": "{run}"},
    "signing by ssh": {"gpg.format": "ssh", "gpg.ssh.program": "{run}", "commit.gpgSign": "true"},
    "shown signatures": {"log.showSignature": "true", "core.askPass": "{run}"},
    "a hook when the index changes": {"core.hooksPath": "{hooks}"},
    "another tree": {"core.worktree": "{elsewhere}"},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_that_a_repository_names_is_run(tmp_path: Path, case: str) -> None:
    folder, canary = repository(tmp_path / "own"), tmp_path / "canary"
    run = tmp_path / "run.sh"
    run.write_text(f"#!/bin/sh\ntouch '{canary}'\ncat\n")
    run.chmod(0o755)
    hooks, elsewhere = tmp_path / "hooks", tmp_path / "elsewhere"
    hooks.mkdir()
    elsewhere.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor"):
        (hooks / name).symlink_to(run)
    (folder / ".gitattributes").write_text("* filter=f diff=d\n")
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-q", "-m", "attributes")
    for key, value in HOSTILE[case].items():
        git(folder, "config", key, value.format(run=run, hooks=hooks, elsewhere=elsewhere))
    (folder / "one.txt").write_text("changed\n")
    found = Git(folder)
    with suppress(ReflexError):
        found.tree()
        found.dirty()
        found.create_branch("ours")
        list(found.messages("HEAD^"))
        found.at_head("one.txt")
        if case != "a hook when the index changes":  # a commit is where hooks are run
            found.commit("ours", ["one.txt"])
    assert not canary.exists()
    assert list(elsewhere.iterdir()) == []


def test_a_linked_worktree_has_its_files_here_whatever_the_main_one_has(tmp_path: Path) -> None:
    folder, linked = repository(tmp_path / "own"), tmp_path / "linked"
    git(folder, "worktree", "add", "-q", "-b", "side", str(linked))
    git(folder, "config", "core.worktree", str(folder))  # as a submodule has it
    assert Git(linked).tree().branch == "side"
    (linked / "one.txt").write_text("changed\n")
    made = Git(linked).commit("ours", ["one.txt"])
    assert git(linked, "show", f"{made}:one.txt") == "changed\n"


@pytest.mark.parametrize("value", ["hooks", "{parent}", "../.."])
def test_files_that_git_has_elsewhere_are_not_committed(tmp_path: Path, value: str) -> None:
    folder = repository(tmp_path / "own")
    git(folder, "config", "core.worktree", value.format(parent=tmp_path))
    with pytest.raises(UsageError, match="the repository's own configuration has its files in"):
        Git(folder).commit("ours", ["one.txt"])


VARIABLES = {
    "another repository": {"GIT_DIR": "{other}/.git", "GIT_WORK_TREE": "{other}"},
    "another index": {"GIT_INDEX_FILE": "{other}/.git/index"},
    "configuration": {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": "{run}",
    },
    "programs": {
        "GIT_EXTERNAL_DIFF": "{run}", "GIT_PAGER": "{run}", "GIT_EDITOR": "{run}",
        "GIT_ASKPASS": "{run}", "GIT_SSH_COMMAND": "{run}", "GIT_PROXY_COMMAND": "{run}",
    },
    "pathspecs": {"GIT_GLOB_PATHSPECS": "1", "GIT_ICASE_PATHSPECS": "1"},
    "objects": {"GIT_OBJECT_DIRECTORY": "{other}/.git/objects", "GIT_NAMESPACE": "x"},
}  # fmt: skip


@pytest.mark.parametrize("case", VARIABLES)
def test_variables_of_git_lead_to_no_other_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    folder, other = repository(tmp_path / "own"), repository(tmp_path / "other")
    canary, run = tmp_path / "canary", tmp_path / "run.sh"
    run.write_text(f"#!/bin/sh\ntouch '{canary}'\n")
    run.chmod(0o755)
    before = seen(other)
    (folder / "one.txt").write_text("changed\n")
    with monkeypatch.context() as patch:
        for name, value in VARIABLES[case].items():
            patch.setenv(name, value.format(run=run, other=other))
        found = Git(folder)
        found.tree()
        assert list(found.dirty()) == ["one.txt"]
        found.commit("ours", ["one.txt"])
    assert git(folder, "log", "--format=%s").splitlines() == ["ours", "first"]
    assert seen(other) == before
    assert not canary.exists()
