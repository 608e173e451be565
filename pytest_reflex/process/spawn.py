"""Start a child in a session of its own; what can go wrong there has one clear error."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence

from pytest_reflex.errors import ReflexError
from pytest_reflex.model.plain import one_line

_REASONS = {
    errno.ENOENT: "it was not found",
    errno.EACCES: "it may not be executed",
    errno.ENOEXEC: "it is neither a program nor a script with a #! line",
    errno.E2BIG: "its arguments and environment are too long for the system",
    errno.EMFILE: "too many files are open",
    errno.ENOMEM: "there is not enough memory",
    errno.EAGAIN: "there are too many processes",
}


class SpawnError(ReflexError):
    """A program could not be started at all; the message says which and why."""


def spawn(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    stdin: bool,
    stdout: int = subprocess.PIPE,
    stderr: bool = True,
) -> subprocess.Popen[bytes]:
    """Start `argv` as the leader of a new session, with pipes for its output.

    Standard input is a pipe where `stdin` is true, else /dev/null; `stdout` may be the descriptor
    of a file, and stderr goes to /dev/null where `stderr` is false. Raises SpawnError.
    """
    if not argv:
        raise SpawnError("cannot start a program: the command is empty")
    try:
        try:
            return _open(argv, cwd, env, stdin=stdin, stdout=stdout, stderr=stderr)
        except UnicodeEncodeError:
            # The locale has no such characters; what comes from rules is UTF-8 all the same.
            words = [_utf8(word) for word in argv]
            variables = {_utf8(name): _utf8(value) for name, value in env.items()}
            return _open(words, cwd, variables, stdin=stdin, stdout=stdout, stderr=stderr)
    except (OSError, ValueError, TypeError) as error:
        raise _explain(argv[0], cwd, error) from None


def _open(
    argv: Sequence[str | bytes],
    cwd: str | os.PathLike[str],
    env: Mapping[str, str] | Mapping[bytes, bytes],
    *,
    stdin: bool,
    stdout: int,
    stderr: bool,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE if stderr else subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,
    )


def _utf8(text: str) -> bytes:
    # The bytes of names that the system gave us are kept as they were.
    return text.encode("utf-8", "surrogateescape")


def _explain(
    program: str, cwd: str | os.PathLike[str], error: OSError | ValueError | TypeError
) -> SpawnError:
    shown = one_line(str(program), 80)
    if not isinstance(error, OSError):
        return SpawnError(f"cannot start {shown}: {error}")
    if error.filename is not None and os.fspath(error.filename) == os.fspath(cwd):
        reason = error.strerror or str(error)
        return SpawnError(
            f"cannot start {shown}: its working directory {one_line(os.fspath(cwd))} "
            f"cannot be used: {reason}"
        )
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    return SpawnError(f"cannot start {shown}: {reason}")
