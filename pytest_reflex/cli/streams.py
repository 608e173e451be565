"""The standard streams as they come: closed, full, a terminal, or of another encoding than UTF-8.

Promises: what cannot be written to stderr stops nothing; a verdict keeps its exit status where
stdout takes no more; an artifact reaches a pipe or a file byte for byte, and a terminal without
what it would act on.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from pytest_reflex.errors import StateError
from pytest_reflex.model.plain import visible, visible_json

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
        sys.stdout = _closed()
    if sys.stderr is None:
        sys.stderr = _closed()
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


def is_coloured(stream: Any) -> bool:
    """Return whether a stream is a terminal that shows colours and moves its cursor.

    `NO_COLOR` (https://no-color.org) and a `TERM` that is empty or dumb switch that off.
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb")
    return bool(stream.isatty()) and not plain


def terminal_width() -> int:
    """Return the columns of the terminal that people read, 0 where there is none."""
    for stream in (sys.stderr, sys.stdout):
        with suppress(OSError, ValueError, AttributeError):  # no terminal, closed, no file
            return os.get_terminal_size(stream.fileno()).columns
    return 0


def say(text: str) -> None:
    """Tell a person something on stderr, as long as somebody is there to read it."""
    try:
        click.echo(text, err=True, color=is_coloured(sys.stderr))
        sys.stderr.flush()
    except (OSError, ValueError):
        _let_go(sys.stderr)


def give(text: str) -> None:
    """Write a line or more of data to stdout; raises StateError where it cannot be written."""
    with _named():
        click.echo(text, nl=not text.endswith("\n"), color=is_coloured(sys.stdout))


def give_json(document: Any) -> None:
    """Write one JSON document to stdout; raises StateError where it cannot be written."""
    give(visible_json(document, indent=2))


def give_artifact(artifact: str | bytes) -> None:
    """Write an artifact to stdout, as it is or as a terminal may have it; raises StateError."""
    data = artifact.encode() if isinstance(artifact, str) else artifact
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None or sys.stdout.isatty():
        give(visible(data.decode(errors="backslashreplace").replace("\r\n", "\n")))
        return
    with _named():
        sys.stdout.flush()
        buffer.write(data)
        buffer.flush()


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
    with _named():
        sys.stdout.flush()


@contextmanager
def _named() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        close_stdout()
        closed = error.errno == errno.EBADF
        raise OutputError("it is closed" if closed else error.strerror or str(error)) from None


def close_stdout() -> None:
    """Let the interpreter leave quietly when nobody takes what it has to write."""
    _let_go(sys.stdout)


def _whole(stream: Any) -> Any:
    """Return a stream that writes all it is given, or raises.

    With PYTHONUNBUFFERED there is no buffer below it, and what a pipe did not take in one go would
    be lost without a word.
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


def _closed() -> io.TextIOWrapper:
    """Return a stream that refuses what is written, as its closed descriptor did."""
    return open(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), "w", encoding="utf-8")
