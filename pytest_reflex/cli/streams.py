"""The standard streams as they come: closed, full, a terminal, or of another encoding than UTF-8.

Promises: what cannot be written to stderr stops nothing; a verdict keeps its exit status where
stdout takes no more; an artifact reaches a pipe or a file byte for byte, and a terminal without
what it would act on. Where a build log of GitHub reads stdout, the artifact stands between two
lines that switch commands off and on again.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from pytest_reflex.errors import StateError

_NARROWEST = 20
_UNWRITTEN = "standard output could not be written"


def prepare() -> None:
    """Make the three streams usable; one that is closed refuses what is written, and nothing else.

    Its number stays taken, since the next file to be opened would get it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _closed_stream()
    if sys.stderr is None:
        sys.stderr = _closed_stream()
    sys.stdout, sys.stderr = _whole(sys.stdout), _whole(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def finish() -> None:
    """Write what is left in the buffers; what no stream takes is dropped.

    The interpreter would try again when it ends, and fail with a status of its own (120).
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _let_go(stream)


@contextmanager
def document_alone(wanted: bool) -> Iterator[None]:
    """Keep stdout for what is given here; what plugins print meanwhile goes to stderr.

    Nothing is done unless that is `wanted`.
    """
    global _kept
    if not wanted:
        yield
        return
    printed = sys.stdout
    descriptor = _descriptor(printed)
    if descriptor == 1:  # what is written past Python goes to stderr too
        with suppress(OSError):
            printed.flush()
        kept = os.dup(1)
        _kept = os.fdopen(kept, "w", encoding=printed.encoding, errors=printed.errors, newline="")
        os.dup2(2, 1)
    else:
        _kept = printed
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        kept, _kept, sys.stdout = _kept, None, printed
        if descriptor == 1:
            os.dup2(kept.fileno(), 1)
            with suppress(OSError):
                kept.close()


_kept: Any = None


def _descriptor(stream: Any) -> int:
    try:
        return int(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return -1


def _out() -> Any:
    return sys.stdout if _kept is None else _kept


def is_coloured(stream: Any) -> bool:
    """Return whether a stream is a terminal that shows colours and moves its cursor.

    `NO_COLOR` (https://no-color.org) and a `TERM` that is empty or dumb switch that off.
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb")
    return bool(stream.isatty()) and not plain


def wrap_width() -> int:
    """Return where lines for people are broken: earlier on a terminal that is narrow."""
    from pytest_reflex.reports.lines import WIDTH

    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError, AttributeError):  # no terminal, closed, no file
            columns = os.get_terminal_size(stream.fileno()).columns
            return max(min(WIDTH, columns), _NARROWEST) if columns else WIDTH
    return WIDTH


def width_of(stream: Any) -> int:
    """Return where lines on a stream are broken; 0, nowhere, where it is not a terminal."""
    with suppress(OSError, ValueError, AttributeError):
        return wrap_width() if stream.isatty() else 0
    return 0


def say(text: str) -> None:
    """Write a line for people on stderr; a closed stderr is ignored."""
    try:
        click.echo(text, err=True, color=is_coloured(sys.stderr))
        sys.stderr.flush()
    except (OSError, ValueError):
        _let_go(sys.stderr)


def give(text: str) -> None:
    """Write a line or more of data to stdout; raises StateError where it cannot be written."""
    with _name_stdout_errors():
        out = _out()
        click.echo(text, out, nl=not text.endswith("\n"), color=is_coloured(out))


def give_json(document: Any) -> None:
    """Write one JSON document to stdout; raises StateError where it cannot be written."""
    from pytest_reflex.model.plain import visible_json

    give(visible_json(document, indent=2))


def give_artifact(artifact: str | bytes) -> None:
    """Write an artifact to stdout, as it is or as a terminal may have it; raises StateError."""
    data = artifact.encode() if isinstance(artifact, str) else artifact
    out = _out()
    buffer = getattr(out, "buffer", None)
    if buffer is None or out.isatty():
        from pytest_reflex.model.plain import escape_control

        give(escape_control(data.decode(errors="backslashreplace").replace("\r\n", "\n")))
        return
    if _is_build_log(out):
        token = os.urandom(16).hex().encode()
        end = b"" if data.endswith(b"\n") or not data else b"\n"
        data = b"::stop-commands::%s\n%s%s::%s::\n" % (token, data, end, token)
    with _name_stdout_errors():
        out.flush()
        buffer.write(data)
        buffer.flush()


def _is_build_log(out: Any) -> bool:
    """Return whether GitHub Actions may read what is written to stdout."""
    if os.environ.get("GITHUB_ACTIONS", "").lower() != "true":
        return False
    try:
        return not stat.S_ISREG(os.fstat(out.fileno()).st_mode)
    except (OSError, ValueError):
        return True


@contextmanager
def verdict(status: int) -> Iterator[None]:
    """Print what led to an exit status that is a verdict: it stays where stdout takes no more."""
    try:
        yield
    except (OutputError, BrokenPipeError) as error:
        close_stdout()
        why = error.strerror if isinstance(error, OSError) else error.why
        say(f"pytest-reflex: {_UNWRITTEN}: {why}; the exit status is that of the verdict")
        raise click.exceptions.Exit(status) from None


class OutputError(StateError):
    """Standard output is closed or full."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{_UNWRITTEN}: {why}")
        self.why = why


def flush() -> None:
    """Write what is left for stdout; raises StateError where it cannot be written."""
    with _name_stdout_errors():
        _out().flush()


@contextmanager
def _name_stdout_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        close_stdout()
        closed = error.errno == errno.EBADF
        raise OutputError("it is closed" if closed else error.strerror or str(error)) from None


def close_stdout() -> None:
    """Let the interpreter leave quietly when the reader of its output is gone."""
    _let_go(_out())


def _whole(stream: Any) -> Any:
    """Return a stream that writes all it is given, or raises.

    With PYTHONUNBUFFERED there is no buffer below it, and what a pipe did not take in one go would
    be lost without an error.
    """
    ours = stream in (sys.__stdout__, sys.__stderr__)
    if not ours or not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        return stream
    encoding, errors = stream.encoding, stream.errors
    return io.TextIOWrapper(io.BufferedWriter(stream.detach()), encoding, errors, "")


def _let_go(stream: Any) -> None:
    """Have a stream lead nowhere from now on, with what is in its buffer."""
    with suppress(OSError, ValueError, AttributeError):  # it is not one of a process
        descriptor = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _closed_stream() -> io.TextIOWrapper:
    """Return a stream that refuses what is written, as its closed descriptor did."""
    return open(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), "w", encoding="utf-8")
