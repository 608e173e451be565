"""Where what earlier code left is kept, and how a project is made of it again.

A file is kept where it differs from what the project was made with, and from the last commit; the
history of a repository as ``git fast-export`` prints it. Folders of the person who ran it, which
lie beside the project, are kept too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest_reflex
from pytest_reflex.storage.lines import NO_LINE, digest_of, encode
from pytest_reflex.storage.user_state import place_of
from tests.earlier.inputs import INPUTS, REPOSITORIES

HOME = "/earlier"
"""What the folder of a project is called in what is kept; snapshots get the real one again."""
NOTHING = {"CALLS": "", "KILL_AT": "", "KILL_BY": "", "FAIL": ""}
DATA = Path(__file__).parent / "data"
USER = {"XDG_STATE_HOME": "user-state", "XDG_CACHE_HOME": "user-cache"}
"""Folders of the person, by the variables that name them."""
AS_WRITTEN = ("settings.json",)
"""Files of whose bytes a sum is kept elsewhere."""
CHAINED = ("history.jsonl", "calls.jsonl")
"""Files whose lines hold hashes of each other."""
# Kept under names that no tool takes for its own.
_KEPT_AS = {
    **{name: name[1:] for name in (".ai-factory", ".rooda", ".pytest-reflex", ".loop", ".ai-loop")},
    **{name: name[1:] for name in (".gitignore", ".claude")},
    "sums.py": "sums.py.txt",
}
_NAMES = {name: original for original, name in _KEPT_AS.items()}
_NOT_KEPT = {"__pycache__", ".pytest_cache", ".git"}
_HISTORY, _BRANCH = "git-history", "git-branch"
_LONG_AGO = 1_700_000_000
_WHEN = "2026-11-29T12:00:00+00:00"
GIT = {
    **{f"GIT_{who}_NAME": "Tester" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "tester@example.org" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": _WHEN for who in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""Who commits, and when: equal commits have equal ids."""


def versions_with(kind: str) -> list[str]:
    """Return the versions of which there are runs of a kind."""
    return sorted({path.parent.name for path in DATA.glob(f"*/{kind}*")})


def calls_after(project: Path) -> list[str]:
    """Return whom the agent was asked for since earlier code left the project."""
    path = project.parent / "calls"
    return path.read_text().split() if path.exists() else []


def git(project: Path, *words: str, given: bytes | None = None) -> bytes:
    """Return what git prints in a project."""
    environment = {**os.environ, **GIT}
    argv = ["git", *words]
    ran = subprocess.run(
        argv, cwd=project, env=environment, input=given, stdout=subprocess.PIPE, check=True
    )
    return ran.stdout


def write_inputs(kind: str, folder: Path, *, commit: bool = True) -> None:
    """Make the project of a kind of driver, without any run."""
    for name, text in INPUTS[kind].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):  # votes are kept by the time of a program
            path.chmod(0o755)
            os.utime(path, (_LONG_AGO, _LONG_AGO))
    if kind in REPOSITORIES:
        git(folder, "init", "--quiet", "--initial-branch", "main", "--template", "")
    if kind in REPOSITORIES and commit:
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "first")


def keep(kind: str, project: Path, kept: Path) -> None:
    """Copy what a run has left in a project, and what it has changed there."""
    shutil.rmtree(kept, ignore_errors=True)
    for path in _files(project):
        name = path.relative_to(project)
        if not _is_known(kind, project, name):
            _copy(path, kept / Path(*(_KEPT_AS.get(part, part) for part in name.parts)))
    for folder in USER.values():
        top = project.parent / folder / "pytest-reflex"
        for path in _files(top):
            below = str(path.relative_to(top))
            for theirs, owner in _owners(project).items():
                below = below.replace(theirs, owner)
            _copy(path, kept / folder / below)
    if kind in REPOSITORIES:
        (kept / _HISTORY).write_bytes(git(project, "fast-export", "--all"))
        (kept / _BRANCH).write_bytes(git(project, "symbolic-ref", "HEAD"))


def _is_known(kind: str, project: Path, name: Path) -> bool:
    """Return whether a file is as the project was made, or as it was committed."""
    data = (project / name).read_bytes()
    if kind not in REPOSITORIES:
        return INPUTS[kind].get(str(name), "").encode() == data and str(name) in INPUTS[kind]
    argv = ["git", "cat-file", "blob", f"HEAD:{name}"]
    ran = subprocess.run(argv, cwd=project, capture_output=True)
    return ran.returncode == 0 and ran.stdout == data


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(path.read_bytes())


def bring_back(kind: str, kept: Path, project: Path) -> Path:
    """Make a project in which a run has been; return it."""
    write_inputs(kind, project, commit=False)
    if kind in REPOSITORIES:
        git(project, "fast-import", "--quiet", given=(kept / _HISTORY).read_bytes())
        git(project, "symbolic-ref", "HEAD", (kept / _BRANCH).read_text().strip())
        git(project, "reset", "--quiet", "--hard")
    for path in _files(kept):
        name = path.relative_to(kept)
        if name.parts[0] not in (_HISTORY, _BRANCH):
            to = _place(project, name)
            to.parent.mkdir(parents=True, exist_ok=True)
            data = path.read_bytes()
            if to.suffix == ".json" and to.name not in AS_WRITTEN:
                data = data.replace(HOME.encode(), str(project.parent).encode())
            to.write_bytes(data)
    for folder in USER.values():  # what others can write counts for nothing
        for one in (project.parent / folder).rglob("*"):
            one.chmod(0o700 if one.is_dir() else 0o600)
    if kind == "session":
        # Held are files outside the project that are no installed packages: with an editable
        # installation our own are.
        ours = sorted(map(str, Path(pytest_reflex.__file__).parent.rglob("*.py")))
        for history in project.rglob("history.jsonl"):
            rewrite(history, lambda value: _with_ours(value, ours))
    return project


def _place(project: Path, name: Path) -> Path:
    """Return where a file that is kept belongs."""
    if name.parts[0] not in USER.values():
        return project / Path(*(_NAMES.get(part, part) for part in name.parts))
    folder, *rest = name.parts
    below = "/".join(rest)
    for theirs, owner in _owners(project).items():
        below = below.replace(owner, theirs)
    return project.parent / folder / "pytest-reflex" / below


def _owners(project: Path) -> dict[str, str]:
    """Return how a person's folders name what belongs to a project, and how it is kept."""
    owners = {"SETTINGS": project / ".claude", "PROJECT": project}
    return {str(place_of(folder, Path())): owner for owner, folder in owners.items()}


def rewrite(journal: Path, change: Callable[[Any], Any]) -> None:
    """Write a journal with other values, and with sums and links that fit."""
    last, lines = NO_LINE, list[bytes]()
    for line in journal.read_text("utf-8").splitlines():
        record = json.loads(line)
        kept = {key: change(record[key]) for key in record if key not in ("seq", "prev", "crc")}
        lines.append(encode(kept, record["seq"], last))
        last = digest_of(lines[-1][:-1])
    journal.write_bytes(b"".join(lines))


def _with_ours(value: Any, ours: list[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: [*one, *ours] if key == "read" else _with_ours(one, ours) for key, one in value.items()
    }


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not set(path.relative_to(folder).parts) & _NOT_KEPT:
            yield path
