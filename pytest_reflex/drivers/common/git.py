"""Git: what a working tree is, what differs in it, and commits.

Promises: nothing of a repository is run but its hooks, and these only for a commit; no prompt is
waited for; what a command writes goes into no shell; a commit holds the paths that were named and
nothing else, whatever is staged; no branch but the named one is moved, and nothing is pushed; the
index is written by a commit alone, and only for the paths that it holds.
Limits: a filter or signing program that the user's own configuration names is run by git, as it
always is; one that the repository itself names is refused. Submodules are not looked into.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.drivers.common.git_command import (
    OF_LFS,
    OWN_SCOPES,
    PROGRAMS,
    RESET_INDEX,
    UPDATE_INDEX,
    GitCommand,
    GitError,
    HookError,
    find_refusing_hook,
    private_index,
    refuse_unfinished,
    remove_indexes,
    text_of,
    trace_variables,
)
from pytest_reflex.errors import StepError, UsageError
from pytest_reflex.model.plain import one_line


def content_hash(path: Path) -> str:
    """Return a text that is another one when a path has changed; empty: nothing is there."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return hashlib.sha256(b"link " + os.fsencode(os.readlink(path))).hexdigest()
        if not stat.S_ISREG(status.st_mode):
            return f"special {status.st_mode}"
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        return f"{found}{'x' if status.st_mode & 0o100 else ''}"
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"unreadable {error.errno}"


def diff_snapshots(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths whose contents differ between two looks at what is dirty."""
    paths: Iterable[str] = {**before, **after}
    return sorted(path for path in paths if before.get(path) != after.get(path))


@dataclass(frozen=True, slots=True)
class GitTree:
    """A repository that commits can be made in: its branch, and its git folder."""

    branch: str
    folder: Path


class Git(GitCommand):
    """The git command in one working tree; what it refuses is a UsageError or a StepError."""

    def tree(self) -> GitTree:
        """Return the repository; raises UsageError where a run cannot make commits in it."""
        top = self._query("rev-parse", "--show-toplevel")
        if top is None:
            if self._query("rev-parse", "--is-bare-repository") == "true":
                raise UsageError("the repository is bare: it has no files", hint="clone it")
            if os.path.lexists(self.project / ".git"):
                said = text_of(self._run("rev-parse", "--show-toplevel").stderr)
                raise _refusal(f"git cannot use this repository: {one_line(said, 300)}", "--no-git")
            raise _refusal("this is not a git repository", "git init, or --no-git")
        if os.path.realpath(top) != os.path.realpath(self.project):
            raise UsageError("this is not the root of the repository", hint=f"cd {one_line(top)}")
        if self._query("rev-parse", "--show-superproject-working-tree"):
            raise _refusal("this is a submodule of another repository", "clone it by itself")
        folder = Path(self._query("rev-parse", "--absolute-git-dir") or "")
        self._refuse_copy(folder)
        self.refuse_programs()
        refuse_unfinished(folder)
        if os.path.lexists(folder / "index.lock"):
            hint = "where none runs, remove it"
            raise _refusal(f"another git command has {folder / 'index.lock'}", hint)
        if self._query("rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
            raise _refusal("the branch has no commit yet", "make a first commit")
        branch = self._query("symbolic-ref", "--quiet", "--short", "HEAD")
        if branch is None:
            raise _refusal("HEAD is detached: it is on no branch", "git switch -c NAME")
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            if self._query("var", who) is None:
                hint = "git config user.name and user.email"
                raise _refusal("git does not know who commits", hint)
        return GitTree(branch, folder)

    def _refuse_copy(self, folder: Path) -> None:
        """Raise UsageError where the folder of a linked worktree belongs to another place."""
        try:
            owner = (folder / "gitdir").read_text("utf-8", "replace").strip()
        except OSError:
            return
        if os.path.realpath(owner) != os.path.realpath(self.project / ".git"):
            hint = "git worktree add, or git worktree repair"
            raise _refusal("this is a copy of a linked worktree, not the worktree itself", hint)

    def refuse_programs(self) -> None:
        """Raise UsageError where the repository itself names a program that git would run.

        That of LFS is meant, and does no harm.
        """
        finished = self._run("config", "--show-scope", "-z", "--get-regexp", PROGRAMS)
        words = finished.stdout.decode("utf-8", "replace").split("\0")
        for scope, entry in zip(words[::2], words[1::2], strict=False):
            key, _, value = entry.partition("\n")
            if key == "core.worktree" and scope in OWN_SCOPES:
                self._refuse_other_tree(value)
            elif scope in OWN_SCOPES and value and value not in OF_LFS:
                raise _refusal(
                    f"the repository's own configuration has git run {one_line(value, 100)!r} "
                    f"({one_line(key, 100)})",
                    f"git config --unset {one_line(key, 100)}, or set it with --global",
                )

    def _refuse_other_tree(self, value: str) -> None:
        """Raise UsageError unless git has the files here; a linked worktree has its own place."""
        top = self._query("rev-parse", "--show-toplevel")
        if top is None or os.path.realpath(top) != os.path.realpath(self.project):
            text = f"the repository's own configuration has its files in {one_line(value, 100)}"
            raise _refusal(text, "git config --unset core.worktree")

    def hooks_folder(self) -> Path:
        """Return the folder of the hooks that a commit runs."""
        output = self._run_checked("rev-parse", "--git-path", "hooks", hooks=True).stdout
        return self.project / text_of(output)

    def pin_hooks(self) -> None:
        """Have commits run the hooks of now, wherever the configuration leads to later."""
        self.pinned_hooks = self.hooks_folder()

    def common_commit(self, one: str, other: str) -> str:
        """Return the last commit that two branches have in common, empty for none."""
        return self._query("merge-base", one, other) or ""

    def head(self) -> str:
        """Return the id of the last commit."""
        return self._read_text("rev-parse", "HEAD")

    def branch(self) -> str:
        """Return the branch that is checked out, empty where none is."""
        return self._query("symbolic-ref", "--quiet", "--short", "HEAD") or ""

    def branches(self) -> set[str]:
        """Return the names of all local branches."""
        names = self._read_text("for-each-ref", "--format=%(refname:short)", "refs/heads")
        return set(names.splitlines())

    def worktree_of(self, branch: str) -> str:
        """Return the folder of the worktree that has a branch checked out, empty for none."""
        path = self._query("for-each-ref", "--format=%(worktreepath)", f"refs/heads/{branch}")
        return path or ""

    def is_branch_name(self, name: str) -> bool:
        """Return whether a branch may have a name."""
        return not name.startswith("-") and (
            self._query("check-ref-format", "--branch", name) is not None
        )

    def create_branch(self, name: str) -> None:
        """Make a branch at the last commit and check it out; no file changes."""
        self._read_text("switch", "--quiet", "--create", name)

    def dirty(self) -> dict[str, str]:
        """Return the paths that differ from the last commit, untracked ones too, with a hash each.

        Ignored files are left out; the hash of what is gone is empty.
        """
        self.refuse_programs()
        listed = self._bytes(
            "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
            "--ignore-submodules=dirty",
        )  # fmt: skip
        names = [os.fsdecode(one[3:]) for one in listed.split(b"\0") if one]
        return {name: self.hash_of(name) for name in sorted(names)}

    def hash_of(self, name: str) -> str:
        """Return a hash of what stands at a path, empty for nothing."""
        return content_hash(self.project / name)

    def changed_paths(self, since: str) -> list[str]:
        """Return the paths that commits after `since` have changed."""
        output = self._bytes("diff-tree", "-r", "-z", "--name-only", "--no-renames", since, "HEAD")
        return [os.fsdecode(path) for path in output.split(b"\0") if path]

    def is_ignored(self, path: str) -> bool:
        """Return whether git ignores a path."""
        magic = {"GIT_LITERAL_PATHSPECS": "0"}  # which this command refuses
        asked = ("check-ignore", "--quiet", "--", path)
        return self._run(*asked, variables=magic).returncode == 0

    def at_head(self, path: str) -> bytes | None:
        """Return what the last commit has at a path, None for nothing."""
        finished = self._run("cat-file", "blob", f"HEAD:{path}")
        return None if finished.returncode else finished.stdout

    def messages(self, since: str, until: str = "HEAD") -> Iterator[tuple[str, str]]:
        """Yield id and message of the commits after `since`, the last one first."""
        output = self._bytes("log", "-z", "--format=%H%n%B", f"{since}..{until}", "--")
        for one in output.split(b"\0"):
            commit, _, message = one.decode("utf-8", "replace").partition("\n")
            if commit:
                yield commit, message

    def commit(self, message: str, paths: Sequence[str]) -> str:
        """Commit the paths as they are now and return the commit's id; no path is fine.

        The index of the user has these paths as committed, and everything else as it was. A hook
        that refused, but changed the paths, is tried once more. Raises HookError where a hook of
        the repository refuses, StepError where git does, or a hook has something else committed.
        """
        self.refuse_programs()
        place, _, before = self._read_text("rev-parse", "--absolute-git-dir", "HEAD").rpartition(
            "\n"
        )
        folder = Path(place)
        refuse_unfinished(folder)
        named = [path for path in paths if not path.endswith("/")]  # a repository in this one
        looked = self._hashes(named)
        try:
            self._commit(message, named, folder)
        except StepError:
            if self.head() != before or self._hashes(named) == looked:
                raise
            self._commit(message, named, folder)
        made, changed = self.head(), self.changed_paths(before)
        if foreign := sorted(set(changed) - set(named)):
            self._run_checked("update-ref", "-m", "undo a commit", "HEAD", before, made)
            shown = one_line(", ".join(foreign), 200)
            raise StepError(f"a hook put other files into the commit, which was undone: {shown}")
        self._take_into_index(changed)
        return made

    def sync_index(self, since: str) -> None:
        """Have the user's index hold what commits after `since` have, and the rest as it was."""
        remove_indexes(self._folder())
        self._take_into_index(self.changed_paths(since))

    def _take_into_index(self, changed: Sequence[str]) -> None:
        if changed:
            self._run_checked(*RESET_INDEX, stdin=_join_paths(changed))

    def checkpoint(self, ref: str, message: str, *, without: str) -> str:
        """Have `ref` name a commit of all files as they are now, on no branch; return its id.

        The folder `without` is as it is in the last commit.
        """
        self.refuse_programs()
        with private_index(self._folder(), alone=True) as variables:
            self._run_checked("read-tree", "HEAD", variables=variables)
            self._run_checked("add", "--all", variables=variables)
            self._run_checked("reset", "--quiet", "--", without, variables=variables)
            tree = text_of(self._run_checked("write-tree", variables=variables).stdout)
        made = self._read_text("commit-tree", "-p", "HEAD", "-m", message, tree)
        self._read_text("update-ref", ref, made)
        return made

    def _commit(self, message: str, paths: Sequence[str], folder: Path) -> None:
        with private_index(folder, alone=True) as variables:
            self._run_checked("read-tree", "HEAD", variables=variables)
            if paths:
                self._run_checked(*UPDATE_INDEX, variables=variables, stdin=_join_paths(paths))
            trace = Path(variables["GIT_INDEX_FILE"]).with_suffix(".trace")
            try:
                self._run_checked(
                    *("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file=-"),
                    variables={**variables, **trace_variables(trace)},
                    stdin=message.encode(),
                    hooks=True,
                )
            except GitError as error:
                if hook := find_refusing_hook(trace):
                    raise HookError(hook, error.said) from None
                raise

    def _hashes(self, paths: Iterable[str]) -> dict[str, str]:
        return {path: self.hash_of(path) for path in paths}

    def _folder(self) -> Path:
        return Path(self._read_text("rev-parse", "--absolute-git-dir"))


def _join_paths(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _refusal(why: str, hint: str) -> UsageError:
    return UsageError(why, hint=hint)
