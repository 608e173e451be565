"""Orders of a person's own: files that take the place of how a step is told to go about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_reflex.errors import UsageError

LONGEST = 100_000  # bytes


def read_orders(files: Mapping[str, str], project: Path) -> dict[str, str]:
    """Return the texts of files by step; raises UsageError for one that cannot be used."""
    return {step: _read(step, project / name) for step, name in files.items()}


def _read(step: str, path: Path) -> str:
    what = f"{path}: the prompt of {step}"
    if not path.is_file():
        fault = "is no regular file" if path.exists() else "is not there"
        raise UsageError(f"{what} {fault}", hint="mend loop.prompts in the configuration")
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
    except OSError as error:
        raise UsageError(f"{what} cannot be read: {error.strerror}") from None
    if len(data) > LONGEST:
        raise UsageError(f"{what} is longer than {LONGEST:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} is not UTF-8: byte 0x{data[error.start]:02x}") from None
    if not text.strip() or "\0" in text:
        raise UsageError(f"{what} holds no text")
    return text
