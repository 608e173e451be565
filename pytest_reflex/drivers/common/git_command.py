"""The git command as a process: how it is run, its failures, the hook that refused, an own index.

Promises: a failure of git itself (a lock, a signature, a full disk) is not a refusal of a hook.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from pytest_reflex.errors import StepError, UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import copy_environment
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError

HARDENED = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.pager=cat"),
    *("-c", "core.editor=true", "-c", "sequence.editor=true", "-c", "protocol.ext.allow=never"),
    *("-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "diff.external=", "-c", "core.askPass=", "-c", "log.showSignature=false"),
    *("-c", "i18n.commitEncoding=UTF-8", "-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "submodule.recurse=false"),
)
# Programs that git would run for a file or a commit, and where it would take the files from.
PROGRAMS = (
    r"^(filter\..*\.(clean|smudge|process)|gpg\.(.*\.)?(program|defaultkeycommand)|core\.worktree)$"
)
OF_LFS = ("git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process")
OWN_SCOPES = ("local", "worktree")
# A hook of git, in which we may run, says by these which repository is meant.
ELSEWHERE = frozenset(
    f"GIT_{name}"
    for name in (
        *("DIR", "WORK_TREE", "COMMON_DIR", "INDEX_FILE", "PREFIX", "OBJECT_DIRECTORY"),
        *("ALTERNATE_OBJECT_DIRECTORIES", "IMPLICIT_WORK_TREE", "NAMESPACE"),
        *("CONFIG", "CONFIG_PARAMETERS", "CONFIG_COUNT"),
    )
)
# Of the variables of git, those that say who commits and where a user's configuration is.
_KEPT = re.compile(r"GIT_(AUTHOR_|COMMITTER_|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|SSL_)")
WITHOUT_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


def is_kept(name: str) -> bool:
    """Return whether a variable of the environment is left to git."""
    return not name.startswith("GIT_") or bool(_KEPT.match(name))


MOST_OF_A_HOOK = 4_000
"""Characters of what a hook said that are kept: its beginning."""
_REFUSING = ("pre-commit", "prepare-commit-msg", "commit-msg", "reference-transaction")


class GitError(StepError):
    """The git command failed; `said` is all that it and its hooks said."""

    def __init__(self, message: str, said: str) -> None:
        super().__init__(message)
        self.said = said


class HookError(StepError):
    """A hook of the repository refused a commit: its name, and what it said."""

    def __init__(self, hook: str, said: str) -> None:
        self.hook, self.said = hook, said.strip()[:MOST_OF_A_HOOK]
        super().__init__(
            f"the hook {hook} refused a commit: {one_line(self.said or 'silent', 400)}"
        )


def trace_variables(trace: Path) -> Mapping[str, str]:
    """Return the variables by which git writes down in a file what it starts."""
    return {"GIT_TRACE2_EVENT": str(trace), "GIT_TRACE2_EVENT_NESTING": "2"}


def find_refusing_hook(trace: Path) -> str:
    """Return the name of the hook that ended with an error, or did not end; empty for none.

    What a hook starts traces into the same file: a git below another one has a name with a slash.
    """
    running: dict[object, str] = {}
    refused = ""
    for event in _events(trace):
        if "/" in str(event.get("sid", "/")):
            continue
        number = event.get("child_id")
        if event.get("event") == "child_start" and event.get("child_class") == "hook":
            running[number] = str(event.get("hook_name", ""))
        elif event.get("event") == "child_exit":
            hook = running.pop(number, "")
            refused = hook if hook in _REFUSING and event.get("code") else refused
    return refused or next((hook for hook in running.values() if hook in _REFUSING), "")


def _events(trace: Path) -> Iterator[dict[str, object]]:
    try:
        lines = trace.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}


def refuse_unfinished(folder: Path) -> None:
    """Raise UsageError where a merge or the like is not finished; `folder` is that of git."""
    for name, what in _UNFINISHED.items():
        if os.path.lexists(folder / name):
            raise UsageError(f"{what} is not finished", hint="finish or abort it first")


SECONDS = 120.0
MOST_OUTPUT = 64_000_000


def run_git(
    folder: Path,
    words: Iterable[str],
    environment: Mapping[str, str],
    *,
    stdin: bytes | None = None,
    seconds: float = SECONDS,
    cancel: Event | None = None,
) -> Finished:
    """Run git in a folder; raises SpawnError where it is not installed."""
    return run(
        ["git", *words],
        cwd=folder,
        env=environment,
        stdin=stdin,
        timeout=seconds,
        head=MOST_OUTPUT,
        cancel=cancel,
    )


_INDEX = "reflex-index-"
UPDATE_INDEX = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
"""Has an index hold the paths that git is given, each ended by a NUL, as they are now."""
RESET_INDEX = ("reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul")
"""Has an index hold such paths as the last commit does."""


@contextmanager
def private_index(folder: Path, *, alone: bool = False) -> Iterator[dict[str, str]]:
    """Yield the variables by which git has an index of its own; `folder` is that of git.

    It is removed again; where we are `alone` in the repository, with those of killed processes.
    """
    name = f"{_INDEX}{os.getpid()}"
    try:
        yield {"GIT_INDEX_FILE": str(folder / name)}
    finally:
        remove_indexes(folder, *(() if alone else (name, f"{name}.*")))


def remove_indexes(folder: Path, *patterns: str) -> None:
    """Remove private indexes, and what git wrote down beside them; all where none is named."""
    for path in [p for one in patterns or (f"{_INDEX}*",) for p in folder.glob(one)]:
        with suppress(OSError):
            path.unlink()


class GitCommand:
    """Git in one folder; `pinned_hooks` is where commits have their hooks from, if it is given."""

    def __init__(
        self, project: Path, *, cancel: Event | None = None, seconds: float = SECONDS
    ) -> None:
        self.project, self._cancel, self._seconds = project, cancel, seconds
        self.pinned_hooks: Path | None = None

    def _query(self, *words: str) -> str | None:
        """Return a line that git answers, None where it refuses."""
        finished = self._run(*words)
        return None if finished.returncode else text_of(finished.stdout)

    def _read_text(self, *words: str) -> str:
        return text_of(self._bytes(*words))

    def _bytes(self, *words: str) -> bytes:
        return self._run_checked(*words).stdout

    def _run_checked(
        self,
        *words: str,
        variables: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        hooks: bool = False,
    ) -> Finished:
        finished = self._run(*words, variables=variables, stdin=stdin, hooks=hooks)
        if finished.returncode:
            said = (finished.stderr + finished.stdout).decode("utf-8", "replace").strip()
            what = next((word for word in words if not word.startswith("-")), "git")
            reason = said if hooks else said.partition("\n")[0]
            raise GitError(f"git {what} failed: {one_line(reason or 'no message', 400)}", said)
        return finished

    def _run(
        self,
        *words: str,
        variables: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        hooks: bool = False,
    ) -> Finished:
        kept = {name: value for name, value in copy_environment().items() if is_kept(name)}
        pinned = ("-c", f"core.hooksPath={self.pinned_hooks}") if self.pinned_hooks else ()
        quiet = (*HARDENED, *(pinned if hooks else WITHOUT_HOOKS))
        try:
            finished = run_git(
                self.project,
                (*quiet, *words),
                {**kept, **QUIET, **(variables or {})},
                stdin=stdin,
                seconds=self._seconds,
                cancel=self._cancel,
            )
        except SpawnError:
            raise UsageError("git is not installed", hint="install it, or --no-git") from None
        if finished.stopped or finished.stdout_truncated:
            why = ": a hook or a question for a passphrase does not end" if hooks else ""
            text = f"took longer than {self._seconds:g} s, or was stopped{why}"
            raise GitError(f"git {words[0]} {text}", f"it does not end in {self._seconds:g} s")
        return finished


def text_of(output: bytes) -> str:
    """Return what git printed, without the newlines at its end."""
    return output.decode("utf-8", "replace").rstrip("\n")
