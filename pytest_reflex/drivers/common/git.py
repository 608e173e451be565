"""Git by its own command: what a working tree is, what differs in it, and commits of named paths.

Promises: nothing of a repository is run but its hooks, and these only for a commit; no prompt is
waited for; what a command writes goes into no shell; a commit holds the paths that were named and
nothing else, whatever is staged; no branch but the named one is moved, and nothing is pushed.
Limits: a clean filter that the user's own configuration names is run by git, as it always is.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from pytest_reflex.errors import StepError, UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError

SECONDS = 120.0
_MOST_BYTES = 64_000_000
_INDEX = "reflex-index-"
_HARDENED = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.pager=cat"),
    *("-c", "core.editor=true", "-c", "sequence.editor=true", "-c", "protocol.ext.allow=never"),
    *("-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "diff.external=", "-c", "core.askPass="),
)
# A hook of git, in which we may run, says by these which repository is meant.
ELSEWHERE = frozenset(
    f"GIT_{name}"
    for name in (
        *("DIR", "WORK_TREE", "COMMON_DIR", "INDEX_FILE", "PREFIX", "OBJECT_DIRECTORY"),
        *("ALTERNATE_OBJECT_DIRECTORIES", "IMPLICIT_WORK_TREE", "NAMESPACE"),
        *("CONFIG", "CONFIG_PARAMETERS", "CONFIG_COUNT"),
    )
)
_WITHOUT_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}


@dataclass(frozen=True, slots=True)
class Tree:
    """A repository that commits can be made in: its branch, and its git folder."""

    branch: str
    folder: Path


class Git:
    """The git command in one working tree; what it refuses is a UsageError or a StepError."""

    def __init__(self, project: Path, *, cancel: Event | None = None) -> None:
        self.project, self._cancel = project, cancel

    def tree(self) -> Tree:
        """Return the repository; raises UsageError where a run cannot make commits in it."""
        top = self._asked("rev-parse", "--show-toplevel")
        if top is None:
            if self._asked("rev-parse", "--is-bare-repository") == "true":
                raise UsageError("the repository is bare: it has no files", hint="clone it")
            raise _refused("this is no git repository", "git init, or --no-git")
        if os.path.realpath(top) != os.path.realpath(self.project):
            raise UsageError("this is not the root of the repository", hint=f"cd {one_line(top)}")
        if self._asked("rev-parse", "--show-superproject-working-tree"):
            raise _refused("this is a submodule of another repository", "clone it by itself")
        folder = Path(self._asked("rev-parse", "--absolute-git-dir") or "")
        for name, what in _UNFINISHED.items():
            if os.path.lexists(folder / name):
                raise _refused(f"{what} is not finished", "finish or abort it first")
        if os.path.lexists(folder / "index.lock"):
            hint = "where none runs, remove it"
            raise _refused(f"another git command has {folder / 'index.lock'}", hint)
        if self._asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
            raise _refused("the branch has no commit yet", "make a first commit")
        branch = self._asked("symbolic-ref", "--quiet", "--short", "HEAD")
        if branch is None:
            raise _refused("HEAD is detached: it is on no branch", "git switch -c NAME")
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            if self._asked("var", who) is None:
                hint = "git config user.name and user.email"
                raise _refused("git does not know who commits", hint)
        return Tree(branch, folder)

    def head(self) -> str:
        """Return the id of the last commit."""
        return self._told("rev-parse", "HEAD")

    def branch(self) -> str:
        """Return the branch that is checked out, empty where none is."""
        return self._asked("symbolic-ref", "--quiet", "--short", "HEAD") or ""

    def branches(self) -> set[str]:
        """Return the names of all local branches."""
        names = self._told("for-each-ref", "--format=%(refname:short)", "refs/heads")
        return set(names.splitlines())

    def is_branch_name(self, name: str) -> bool:
        """Return whether a branch may have a name."""
        return not name.startswith("-") and (
            self._asked("check-ref-format", "--branch", name) is not None
        )

    def create_branch(self, name: str) -> None:
        """Make a branch at the last commit and check it out; no file changes."""
        self._told("switch", "--quiet", "--create", name)

    def dirty(self) -> dict[str, str]:
        """Return the paths that differ from the last commit, untracked ones too, with a hash each.

        Ignored files are left out; the hash of what is gone is empty.
        """
        listed = self._bytes(
            "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
            "--ignore-submodules=none",
        )  # fmt: skip
        names = [os.fsdecode(one[3:]) for one in listed.split(b"\0") if one]
        return {name: self.hash_of(name) for name in sorted(names)}

    def hash_of(self, name: str) -> str:
        """Return a hash of what stands at a path, empty for nothing."""
        path = self.project / name
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                return hashlib.sha256(b"link " + os.fsencode(os.readlink(path))).hexdigest()
            if not stat.S_ISREG(status.st_mode):
                return f"special {status.st_mode}"
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            return f"{found}{'x' if status.st_mode & 0o100 else ''}"
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"unreadable {error.errno}"

    def changed_paths(self, since: str) -> list[str]:
        """Return the paths that commits after `since` have changed."""
        told = self._bytes("diff-tree", "-r", "-z", "--name-only", "--no-renames", since, "HEAD")
        return [os.fsdecode(path) for path in told.split(b"\0") if path]

    def is_ignored(self, path: str) -> bool:
        """Return whether git ignores a path."""
        return self._finished("check-ignore", "--quiet", "--", path).returncode == 0

    def at_head(self, path: str) -> bytes | None:
        """Return what the last commit has at a path, None for nothing."""
        finished = self._finished("cat-file", "blob", f"HEAD:{path}")
        return None if finished.returncode else finished.stdout

    def messages(self, since: str, until: str = "HEAD") -> Iterator[tuple[str, str]]:
        """Yield id and message of the commits after `since`, the last one first."""
        told = self._bytes("log", "-z", "--format=%H%n%B", f"{since}..{until}", "--")
        for one in told.split(b"\0"):
            commit, _, message = one.decode("utf-8", "replace").partition("\n")
            if commit:
                yield commit, message

    def commit(self, message: str, paths: Sequence[str]) -> str:
        """Commit the paths as they are now and return the commit's id; no path is fine.

        The index of the user has these paths as committed, and everything else as it was. Raises
        StepError where git, or a hook of the repository, refuses.
        """
        before = self.head()
        with self._private_index() as variables:
            self._done("read-tree", "HEAD", variables=variables)
            self._staged(paths, variables)
            self._done(
                *("commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--file=-"),
                variables=variables,
                stdin=message.encode(),
                hooks=True,
            )
        self.sync_index(before)
        return self.head()

    def sync_index(self, since: str) -> None:
        """Have the user's index hold what commits after `since` have, and the rest as it was."""
        _remove_indexes(self._folder())
        changed = self._bytes("diff-tree", "-r", "-z", "--name-only", "--no-renames", since, "HEAD")
        if changed:
            self._done(
                *("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"),
                stdin=changed,
            )

    def _staged(self, paths: Sequence[str], variables: Mapping[str, str]) -> None:
        if paths:
            listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
            self._done(
                *("update-index", "--add", "--remove", "-z", "--stdin"),
                variables=variables,
                stdin=listed,
            )

    def _folder(self) -> Path:
        return Path(self._told("rev-parse", "--absolute-git-dir"))

    @contextmanager
    def _private_index(self) -> Iterator[dict[str, str]]:
        folder = self._folder()
        try:
            _remove_indexes(folder)  # of a process that was killed
            yield {"GIT_INDEX_FILE": str(folder / f"{_INDEX}{os.getpid()}")}
        finally:
            _remove_indexes(folder)

    def _asked(self, *words: str) -> str | None:
        """Return a line that git answers, None where it refuses."""
        finished = self._finished(*words)
        return None if finished.returncode else _text(finished.stdout)

    def _told(self, *words: str) -> str:
        return _text(self._bytes(*words))

    def _bytes(self, *words: str) -> bytes:
        return self._done(*words).stdout

    def _done(
        self,
        *words: str,
        variables: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        hooks: bool = False,
    ) -> Finished:
        finished = self._finished(*words, variables=variables, stdin=stdin, hooks=hooks)
        if finished.returncode:
            said = (finished.stderr + finished.stdout).decode("utf-8", "replace").strip()
            what = next((word for word in words if not word.startswith("-")), "git")
            raise StepError(f"git {what} failed: {one_line(said or 'it says nothing', 400)}")
        return finished

    def _finished(
        self,
        *words: str,
        variables: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        hooks: bool = False,
    ) -> Finished:
        kept = {name: value for name, value in inherited().items() if name not in ELSEWHERE}
        quiet = (*_HARDENED, *(() if hooks else _WITHOUT_HOOKS))
        try:
            finished = run(
                ["git", *quiet, *words],
                cwd=self.project,
                env={**kept, **_QUIET, **(variables or {})},
                stdin=stdin,
                timeout=SECONDS,
                head=_MOST_BYTES,
                cancel=self._cancel,
            )
        except SpawnError:
            raise UsageError("git is not installed", hint="install it, or --no-git") from None
        if finished.stopped or finished.stdout_truncated:
            raise StepError(f"git {words[0]} took longer than {SECONDS:g} s, or was stopped")
        return finished


def _remove_indexes(folder: Path) -> None:
    for path in folder.glob(f"{_INDEX}*"):
        with suppress(OSError):
            path.unlink()


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").rstrip("\n")


def _refused(why: str, hint: str) -> UsageError:
    return UsageError(why, hint=hint)


def changed_between(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the paths whose contents differ between two looks at what is dirty."""
    paths: Iterable[str] = {**before, **after}
    return sorted(path for path in paths if before.get(path) != after.get(path))
