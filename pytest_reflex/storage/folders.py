"""The folder of a run: its name, made from the task or given, and its exclusive creation."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from contextlib import suppress
from pathlib import Path

from pytest_reflex.errors import StateError, UsageError
from pytest_reflex.storage.atomic import sync_folder

MAX_ALIAS = 64
_SLUG_LENGTH = 40
_ALIAS = re.compile(r"[a-z0-9](?:[a-z0-9-]{1,62})[a-z0-9]")
_DEVICES = frozenset(("con", "prn", "aux", "nul")) | {
    f"{name}{number}" for name in ("com", "lpt") for number in range(10)
}


def slug(task: str) -> str:
    """Return an alias made of a task's first words; `loop-<hash8>` where none can be made."""
    alias = words_of(task, _SLUG_LENGTH)
    if is_alias(alias):
        return alias
    return "loop-" + hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def words_of(task: str, most: int) -> str:
    """Return a task's first words in ASCII, joined by hyphens; maybe empty.

    Of `most` characters no word is cut, unless the first one is longer.
    """
    plain = unicodedata.normalize("NFKD", task).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain[:1000]))
    if len(words) <= most:
        return words
    return words[: most + 1].rpartition("-")[0] or words[:most]


def check_alias(alias: str) -> str:
    """Return the alias; raises UsageError where it is none."""
    if not is_alias(alias):
        raise UsageError(
            f"{alias!r} is not an alias: 3 to {MAX_ALIAS} lower-case letters, digits and hyphens, "
            "no hyphen at an end, no name of a device",
            hint=f"try {slug(alias)}",
        )
    return alias


def is_alias(alias: str) -> bool:
    """Return whether a name can be that of a run."""
    return bool(_ALIAS.fullmatch(alias)) and alias not in _DEVICES


def create_run_folder(root: Path, task: str, alias: str | None = None) -> Path:
    """Make the folder of a new run and return it; only this process has made it.

    The name is `alias`, or made from the task; one that exists gets `-2`, `-3` and so on.
    Raises UsageError for a bad alias, StateError where nothing can be made.
    """
    name = slug(task) if alias is None else check_alias(alias)
    try:
        make_folder(root)
        for number in range(1, 10_000):
            folder = root / _numbered(name, number)
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            folder.chmod(0o700)
            sync_folder(root)
            return folder
    except OSError as error:
        raise StateError(
            f"no folder for the run could be made in {root}: {error.strerror}",
            hint="make it writable, or choose another state folder",
        ) from None
    raise StateError(f"{root} holds too many runs named {name}", hint="choose another --alias")


def make_folder(root: Path) -> None:
    """Make a state folder and what leads to it, each name durable: a run below could be lost."""
    for folder in (*reversed(root.parents), root):
        if folder.exists():
            continue
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700 if folder == root else 0o777)
        sync_folder(folder.parent)


def _numbered(name: str, number: int) -> str:
    if number == 1:
        return name
    suffix = f"-{number}"
    return name[: MAX_ALIAS - len(suffix)].rstrip("-") + suffix


def run_folder(root: Path, alias: str) -> Path:
    """Return the folder that an alias names; raises UsageError, or StateError for a link."""
    folder = root / check_alias(alias)
    if folder.is_symlink():
        raise StateError(f"{folder} is a symbolic link", hint="the folder of a run is never a link")
    return folder
