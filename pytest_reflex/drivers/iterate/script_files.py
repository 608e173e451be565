"""Files that may be scripts: what they hold, how they begin, and where a name leads."""

from __future__ import annotations

import os

_LONGEST_SCRIPT = 256_000


def contents(path: str, most: int = _LONGEST_SCRIPT) -> str:
    """Return the beginning of a file as text; empty where it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(most).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def first_line(path: str) -> list[str]:
    """Return the interpreter that a script names, with its arguments."""
    line = contents(path, 512).partition("\n")[0]
    return line[2:].split() if line.startswith("#!") else []


def is_built(path: str) -> bool:
    """Return whether a program looks as if a compiler made it."""
    return not os.path.islink(path) and "\0" in contents(path, 512)


def joined(folder: str, name: str) -> str:
    """Return the path of a name; empty where it can be none."""
    if not name or "\0" in name or "\n" in name or len(name) > 1_000:
        return ""
    return os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
