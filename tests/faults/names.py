"""T03: names that would leave the state folder, or that some system takes for a device: refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from pytest_reflex.errors import UsageError
from pytest_reflex.storage.folders import create_run_folder, run_folder
from tests.faults.figure import Figure, of_cases
from tests.faults.memory import memory_folder

FULL, SAMPLE = 200, 40
BASES = (
    *("..", ".", "", "/", "../x", "../../etc/passwd", "run/../..", "/etc/passwd", "~", "~root"),
    *("C:run", "C:\\run", "\\\\host\\share", "//host/share", "..\\..\\x", "a\\b\\c", "%2e%2e"),
    *("%2e%2e%2fx", "..%2f", "..%c0%af", "run\0", "run\0.json", "run.", "run ", " run", "run\n"),
    *("run\r", "run\t", "-run", "--all", "run-", "-", "con", "prn", "aux", "nul", "com1", "lpt9"),
    *(
        "CON",
        "Run",
        "RUN",
        "run.json",
        ".hidden",
        ".git",
        "run*",
        "run?",
        "[run]",
        "{run}",
        "$HOME",
    ),
    *("$(id)", "`id`", "run;id", "run|id", "run&", "run>x", "run<x", "run'x", 'run"x', "run:x"),
    *(
        "rün",
        "ru\u0308n",
        "run\u200b",
        "\u202enur",
        "r\uff55n",
        "ｒｕｎ",
        "кun",
        "run\ud800",
        "run\x1b[2J",
    ),
    *(
        "a",
        "ab",
        "a" * 65,
        "a" * 300,
        "a" * 5_000,
        "...",
        "....//",
        "run//x",
        "run/.",
        "@",
        "run@x",
    ),
)


def figure(full: bool) -> Figure:
    """Give each name to the two functions through which every alias goes."""
    with memory_folder() as folder:
        root = folder / "project" / "state"
        root.mkdir(parents=True)
        (folder / "project" / "mine").write_text("mine\n")
        chosen = list(_names())
        if not full:
            chosen = random.Random(3).sample(chosen, SAMPLE)
        return of_cases((repr(name)[:60], _given(folder, root, name)) for name in chosen)


def _names() -> Iterator[str]:
    """Yield the bases, and pairs of them glued by what splits paths, 200 in all."""
    yield from BASES
    dice, seen = random.Random(1), set(BASES)
    while len(seen) < FULL:
        name = dice.choice("/\\:.").join(dice.sample(BASES, 2))
        if name not in seen:
            seen.add(name)
            yield name


def _given(folder: Path, root: Path, name: str) -> list[str]:
    wrong = []
    before = sorted(folder.rglob("*"))
    for word, use in (("made", _make), ("looked for", run_folder)):
        try:
            use(root, name)
        except UsageError as error:
            if "is not an alias" not in str(error):
                wrong.append(f"{word}: {error}")
        else:
            wrong.append(f"it was {word}")
    if sorted(folder.rglob("*")) != before:
        wrong.append("something was made")
    return wrong


def _make(root: Path, name: str) -> Path:
    return create_run_folder(root, "a task", name)
