"""A file that a person wrote for a prompt, read whole, or refused in one line."""

from __future__ import annotations

from pathlib import Path

from pytest_reflex.errors import UsageError, for_cause, is_file, read_twice

LONGEST = 100_000  # bytes


def read_own_text(path: Path, what: str, *, longest: int = LONGEST, hint: str = "") -> str:
    """Return the text of a file in UTF-8, without a byte-order mark, with line feeds only.

    Raises UsageError, which calls it `what`, for a file that is not there, no regular one, longer
    than `longest` bytes, in another encoding, or without text; `hint` says what to fix.
    """
    called = f"{path}: {what}"
    try:
        if not read_twice(lambda: is_file(path)):
            fault = "is not a regular file" if path.exists() else "is not there"
            raise UsageError(f"{called} {fault}", hint=hint)
        data = read_twice(lambda: _start_of(path, longest + 1))
    except OSError as error:
        found = UsageError(f"{called} cannot be read: {error.strerror}")
        raise for_cause(found, error) from None
    if len(data) > longest:
        raise UsageError(f"{called} is longer than {longest:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{called} is not UTF-8: byte 0x{data[error.start]:02x}") from None
    if not text.strip() or "\0" in text:
        raise UsageError(f"{called} holds no text")
    return text.replace("\r\n", "\n")


def _start_of(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
