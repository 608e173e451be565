"""The git command as a process: hardened options, no prompt, no hooks but where they are meant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Event

from pytest_reflex.drivers.common.git_hooks import GitError
from pytest_reflex.drivers.common.git_settings import HARDENED, QUIET, WITHOUT_HOOKS, is_kept
from pytest_reflex.errors import UsageError
from pytest_reflex.model.plain import one_line
from pytest_reflex.process.environment import inherited
from pytest_reflex.process.run import Finished, run
from pytest_reflex.process.spawn import SpawnError

SECONDS = 120.0
_MOST_BYTES = 64_000_000


class GitCommand:
    """Git in one folder; `pinned_hooks` is where commits have their hooks from, if it is given."""

    def __init__(
        self, project: Path, *, cancel: Event | None = None, seconds: float = SECONDS
    ) -> None:
        self.project, self._cancel, self._seconds = project, cancel, seconds
        self.pinned_hooks: Path | None = None

    def _asked(self, *words: str) -> str | None:
        """Return a line that git answers, None where it refuses."""
        finished = self._finished(*words)
        return None if finished.returncode else text_of(finished.stdout)

    def _told(self, *words: str) -> str:
        return text_of(self._bytes(*words))

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
            told = said if hooks else said.partition("\n")[0]
            raise GitError(f"git {what} failed: {one_line(told or 'it says nothing', 400)}", said)
        return finished

    def _finished(
        self,
        *words: str,
        variables: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        hooks: bool = False,
    ) -> Finished:
        kept = {name: value for name, value in inherited().items() if is_kept(name)}
        pinned = ("-c", f"core.hooksPath={self.pinned_hooks}") if self.pinned_hooks else ()
        quiet = (*HARDENED, *(pinned if hooks else WITHOUT_HOOKS))
        try:
            finished = run(
                ["git", *quiet, *words],
                cwd=self.project,
                env={**kept, **QUIET, **(variables or {})},
                stdin=stdin,
                timeout=self._seconds,
                head=_MOST_BYTES,
                cancel=self._cancel,
            )
        except SpawnError:
            raise UsageError("git is not installed", hint="install it, or --no-git") from None
        if finished.stopped or finished.stdout_truncated:
            why = ": a hook or a question for a passphrase does not end" if hooks else ""
            told = f"took longer than {self._seconds:g} s, or was stopped{why}"
            raise GitError(f"git {words[0]} {told}", f"it does not end in {self._seconds:g} s")
        return finished


def text_of(output: bytes) -> str:
    """Return what git printed, without the newlines at its end."""
    return output.decode("utf-8", "replace").rstrip("\n")
