"""A git commit for each iteration: only files that it changed, and that no one had changed before.

The git of the system does it, on the branch that is checked out, in an index of its own.
Promises: what was staged or changed before an iteration is in no commit and stays as it is; nothing
outside the project is added; what git refuses stops no run. No hook is run and nothing is
signed: no one is there to answer, and a hook might change what the gates have passed.
Limits: a file that was changed before the iteration is left out as a whole, which is reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_reflex.drivers.common.git_command import (
    RESET_INDEX,
    UPDATE_INDEX,
    private_index,
    run_git,
)
from pytest_reflex.drivers.iterate.messages import outcome_text, place_text
from pytest_reflex.drivers.iterate.model import Iteration
from pytest_reflex.drivers.iterate.tree import display_path, git_environment, is_in
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import escape_control, one_line
from pytest_reflex.process.run import Finished
from pytest_reflex.process.spawn import SpawnError

OPTION = "--commit"
_SHOWN = 5
_CONFIGURED = (
    *("-c", "core.fsmonitor=false", "-c", "core.pager=cat", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
)
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationCommit:
    """The commit of an iteration and its files; empty where there is none, `problems` say why."""

    commit: str = ""
    files: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class Commits:
    """Commits what iterations change in a project; `exclude` are folders that are never added.

    `made` are the commits of this sitting. Raises UsageError where git can make none here.
    """

    def __init__(self, project: Path, exclude: Iterable[str] = ()) -> None:
        self.made: list[str] = []
        self._top, self._prefix = _place(project)
        self._exclude = tuple(self._prefix + os.fsencode(os.path.normpath(one)) for one in exclude)
        self._before: Mapping[bytes, Stamp | None] = {}
        self._after: frozenset[bytes] | None = None
        self._touched: tuple[bytes, ...] = ()
        self._pending: frozenset[bytes] = frozenset()
        self._branch = self._current_branch()
        self._inside: frozenset[bytes] = frozenset()

    def before_agent(self) -> None:
        """Note what is not committed before an iteration: those changes are not the agent's."""
        self._after = None
        self._inside = self._inside_submodules()
        others = (self._dirty_paths() or frozenset()) - self._pending
        self._before = {path: self._stamp(path) for path in others}

    def after_agent(self) -> None:
        """Look at it again, right behind the agent: what gates write does not count as work."""
        self._after = self._dirty_paths()
        self._touched = tuple(
            path for path, stamp in self._before.items() if self._stamp(path) != stamp
        )

    def commit(self, message: str) -> IterationCommit:
        """Commit what the iteration changed; returns what came of it."""
        if self._after is None:
            return IterationCommit(problems=("Not committed: git could not say what was changed",))
        ours = sorted(self._after - self._before.keys())
        left = (_format_excluded(self._touched),) if self._touched else ()
        if inside := sorted(self._inside_submodules() - self._inside):
            left = (*left, f"Left out of the commit, inside submodules: {_format_paths(inside)}")
        if (branch := self._current_branch()) != self._branch:
            text = f"HEAD is on {one_line(branch)} now, and was on {one_line(self._branch)} before"
            left, self._branch = (*left, text), branch
        if nested := [path for path in ours if path.endswith(b"/")]:
            ours = [path for path in ours if path not in nested]
            left = (*left, f"Left out of the commit, being repositories: {_format_paths(nested)}")
        if not ours:
            return IterationCommit(problems=left)
        if problem := self._commit(ours, message):
            self._pending = frozenset(ours)
            return IterationCommit(problems=(*left, f"Not committed: {problem}"))
        self._pending = frozenset()
        commit = self._git("rev-parse", "--short", "HEAD").stdout.decode().strip()
        self.made.append(commit)
        return IterationCommit(commit=commit, files=tuple(map(display_path, ours)), problems=left)

    def _commit(self, paths: list[bytes], message: str) -> str:
        """Have git commit paths; return what was wrong, empty where nothing was.

        It is made in an index of its own: what is staged stays so, also where git refuses.
        """
        listed = b"".join(path + b"\0" for path in paths)
        folder = os.fsdecode(self._git("rev-parse", "--absolute-git-dir").stdout.rstrip(b"\n"))
        if os.path.lexists(lock := os.path.join(folder, "index.lock")):
            return f"another git process is at work (where there is none, remove {one_line(lock)})"
        has_commits = not self._git("rev-parse", "--quiet", "--verify", "HEAD").returncode
        with private_index(Path(folder)) as variables:
            for words, stdin in (
                (("read-tree", "HEAD" if has_commits else "--empty"), None),
                (UPDATE_INDEX, listed),
                (("commit", "--quiet", "-m", message), None),
            ):
                done = self._git(*words, stdin=stdin, variables=variables)
                if done.returncode:
                    return _error_text(done)
        self._git(*RESET_INDEX, stdin=listed)
        return ""

    def _dirty_paths(self) -> frozenset[bytes] | None:
        """Return the paths that are not as in the last commit, seen from the repository's top."""
        within = os.fsdecode(self._prefix) or "."
        options = ("--porcelain", "-z", "--untracked-files=all", "--no-renames")
        found = self._git("status", *options, "--ignore-submodules=dirty", "--", within)
        if found.returncode or found.stopped or found.stdout_truncated:
            return None
        paths = (row[3:] for row in found.stdout.split(b"\0") if row)
        return frozenset(path for path in paths if not is_in(path, self._exclude))

    def _inside_submodules(self) -> frozenset[bytes]:
        """Return the submodules in which something is not committed: git takes only their HEAD."""
        if not os.path.lexists(self._top / ".gitmodules"):
            return frozenset()
        options = ("--porcelain=2", "-z", "--no-renames", "--ignore-submodules=none")
        found = self._git("status", *options)
        rows = (row.split(b" ", 8) for row in found.stdout.split(b"\0") if row[:2] == b"1 ")
        dirty = (row[8] for row in rows if row[2][:1] == b"S" and row[2][2:] != b"..")
        return frozenset(path for path in dirty if not is_in(path, self._exclude))

    def _current_branch(self) -> str:
        name = self._git("symbolic-ref", "--quiet", "--short", "HEAD").stdout.strip()
        return name.decode("utf-8", "replace") or "no branch"

    def _stamp(self, path: bytes) -> Stamp | None:
        try:
            status = os.lstat(os.path.join(os.fsencode(self._top), path))
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _git(
        self,
        *words: str,
        stdin: bytes | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Finished:
        words = ("--literal-pathspecs", *words)
        return _git(self._top, *words, stdin=stdin, variables=variables)


def _git(
    folder: Path,
    *words: str,
    stdin: bytes | None = None,
    variables: Mapping[str, str] | None = None,
) -> Finished:
    environment = {**git_environment(), "GIT_EDITOR": "true", **(variables or {})}
    return run_git(folder, (*_CONFIGURED, *words), environment, stdin=stdin)


def _place(project: Path) -> tuple[Path, bytes]:
    """Return the top of the repository, and where the project is in it; raises UsageError."""
    try:
        top = _git(project, "rev-parse", "--show-toplevel")
    except SpawnError:
        hint = f"install git, or begin without {OPTION}"
        raise UsageError(f"{OPTION} needs git, which is not installed", hint=hint) from None
    if top.returncode:
        raise UsageError(
            f"{OPTION}: {escape_control(str(project))} is in no git repository "
            f"({_error_text(top)})",
            hint=f"make one with `git init`, or begin without {OPTION}",
        )
    if not _git(project, "check-ignore", "--quiet", ".").returncode:
        raise UsageError(
            f"{OPTION}: git ignores {escape_control(str(project))}", hint=f"begin without {OPTION}"
        )
    if _git(project, "var", "GIT_COMMITTER_IDENT").returncode:
        raise UsageError(
            f"{OPTION}: git does not know who commits",
            hint="git config user.name NAME, and git config user.email ADDRESS",
        )
    if not _git(project, "rev-parse", "--quiet", "--verify", "MERGE_HEAD").returncode:
        raise UsageError(f"{OPTION}: a merge is under way", hint="commit it, or abort it")
    prefix = _git(project, "rev-parse", "--show-prefix").stdout.rstrip(b"\n")
    return Path(os.fsdecode(top.stdout.rstrip(b"\n"))), prefix


def _error_text(finished: Finished) -> str:
    """Return git's error message: its line with "error" or "fatal", else the last one."""
    if finished.stopped:
        return "git took too long"
    text = (finished.stderr or finished.stdout).decode("utf-8", "backslashreplace").strip()
    lines = text.split("\n")
    why = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[-1])
    return one_line(why, 200) or f"git ended with exit status {finished.returncode}"


def _format_excluded(paths: Sequence[bytes]) -> str:
    return f"Left out of the commit, since they were changed before it: {_format_paths(paths)}"


def _format_paths(paths: Sequence[bytes]) -> str:
    shown = [one_line(display_path(path)) for path in paths[:_SHOWN]]
    shown += [f"{len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else []
    return ", ".join(shown)


def commit_message(procedure: str, done: Iteration, total: int) -> str:
    """Return the message of the commit of an iteration."""
    title = f"{procedure}: {place_text(done.number, total).lower()}"
    return f"{title}\n\nThe iteration {one_line(outcome_text(done), 500)}.\n"
