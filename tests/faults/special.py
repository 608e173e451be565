"""T04: links, pipes and devices in place of state files are refused or replaced, never followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_reflex.errors import ExitCode
from tests.faults.aftermath import Ground, ground
from tests.faults.figure import Figure, of_cases
from tests.faults.project import Project, faults_of, overpaid

PLACES = {
    "run.json": "run/run.json",
    "history.jsonl": "run/history.jsonl",
    "artifact.md": "run/artifact.md",
    "current.json": "current.json",
    "temporary name": "run/.run.json.0123456789ab.tmp",
    "kept tail": "run/history.jsonl.torn-1",
    "run folder": "run",
}
KINDS: dict[str, Callable[[Path, Path], object]] = {
    "link to a file": lambda path, victims: path.symlink_to(victims / "file"),
    "link to a folder": lambda path, victims: path.symlink_to(victims / "folder"),
    "dangling link": lambda path, victims: path.symlink_to(victims / "nothing"),
    "named pipe": lambda path, victims: os.mkfifo(path),
    "link to a device": lambda path, victims: path.symlink_to("/dev/zero"),
    "hard link": lambda path, victims: path.hardlink_to(victims / "file"),
}
VERBS = tuple(
    ("loop", *words.split())
    for words in ("status", "resume run --quiet", "list", "show run", "history run", "status run")
)


def figure(full: bool) -> Figure:
    """Put each kind in each place of a run that was killed; the sample is one kind per place."""
    with ground() as place:
        killed = place.killed("torn")
        kinds, verbs = list(KINDS), VERBS if full else VERBS[:2]
        return of_cases(
            (f"{kind} as {name}", _tried(place, killed, PLACES[name], kind, verbs))
            for number, name in enumerate(PLACES)
            for at, kind in enumerate(kinds)
            if full or at == number % len(kinds)
        )


def _tried(
    place: Ground, killed: Project, name: str, kind: str, verbs: Sequence[Sequence[str]]
) -> list[str]:
    """Each verb ends with a word; what a link names, or a second name stands for, is untouched."""
    project = place.copy(killed)
    victims = project.folder / "victims"
    (victims / "folder").mkdir(parents=True)
    (victims / "file").write_text("mine\n")
    path = project.root / name
    if path.is_dir():
        shutil.move(path, victims / "folder" / "run")
    else:
        path.unlink(missing_ok=True)
    KINDS[kind](path, victims)
    before = _contents(victims)
    wrong = []
    for verb in verbs:
        ran = place.warm.one(verb, project.folder)
        wrong += [f"{' '.join(verb)}: {why}" for why in faults_of(ran)]
        if ran.status == ExitCode.INTERNAL:
            wrong.append(f"{' '.join(verb)}: {ran.stderr}")
    if _contents(victims) != before:
        wrong.append("the victim was changed")
    # What stands in place of the artifact may be a person's text, and is judged.
    if name != PLACES["artifact.md"] and len(project.calls()) > len(killed.calls()):
        wrong += overpaid(project.calls())
    shutil.rmtree(project.folder)
    return wrong


def _contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return permissions and bytes of everything below a folder."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }
