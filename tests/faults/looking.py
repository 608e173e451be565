"""Who looks at loops writes nothing: no call but to the standard streams, whatever lies there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.faults.dryrun import interrupted, tree, writes
from tests.faults.figure import Figure
from tests.faults.iterating import Iterating
from tests.faults.project import Project
from tests.faults.traced import MISSING, SYSTEM_CALLS

VERBS: tuple[tuple[str, ...], ...] = (
    *(("status",), ("status", "--json"), ("status", "--watch"), ("list",), ("list", "--json")),
    *(("history",), ("history", "--json"), ("show",), ("show", "--json")),
    ("show", "--iteration", "1"),
)
OF_PROCEDURES: tuple[tuple[str, ...], ...] = (
    *(("list",), ("list", "--json"), ("info", "build"), ("info", "build", "--json")),
    *(("status",), ("status", "--json"), ("status", "build"), ("status", "build", "--json")),
)
COMPLETION = {
    "_PYTEST_REFLEX_COMPLETE": "bash_complete",
    "COMP_WORDS": "pytest-reflex loop show ",
    "COMP_CWORD": "3",
}
_SAMPLE, _SAMPLED = slice(None, None, 3), ("leftovers",)


def figure(full: bool) -> Figure:
    """Look at loops that ended, were interrupted and are damaged; with `full` under strace."""
    if full and not shutil.which("strace"):
        return Figure(good=0, total=1, failures=(MISSING,))
    wrong: list[str] = []
    total = 0
    with tempfile.TemporaryDirectory(prefix="reflex-looking-") as place:
        for name, folder in grounds(Path(place), SPOILT if full else _SAMPLED):
            for verb in VERBS if full else VERBS[_SAMPLE]:
                total += 1
                wrong += [f"{name}, {' '.join(verb)}: {why}" for why in looked(folder, verb, full)]
            total += 1
            wrong += [f"{name}, completion: {why}" for why in looked(folder, (), full)]
        for name, folder in _procedures(Path(place), full=full):
            for verb in OF_PROCEDURES if full else OF_PROCEDURES[_SAMPLE]:
                total += 1
                found = looked(folder, verb, full, group="iterate")
                wrong += [f"{name}, iterate {' '.join(verb)}: {why}" for why in found]
    failed = len({line.partition(": ")[0] for line in wrong})
    note = "no call but to the standard streams" if full else "trees compared"
    return Figure(good=total - failed, total=total, note=note, failures=tuple(wrong))


def grounds(place: Path, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Yield folders with a loop in each of the states that a look may meet."""
    project = Project(place / "ended")
    command = [sys.executable, "-m", "pytest_reflex", *project.new()]
    subprocess.run(command, cwd=project.folder, env=_environment(), capture_output=True, check=True)
    yield "ended", project.folder
    for name in names:
        folder = place / name.replace(" ", "-")
        interrupted(project, folder, 8)
        SPOILT[name](folder / project.run.relative_to(project.folder))
        yield name, folder


def _procedures(place: Path, *, full: bool) -> Iterator[tuple[str, Path]]:
    """Yield folders of the iteration loop: untouched, with a run left behind, with a damage."""
    left = Iterating(place / "left")
    left.leave()
    yield "left", left.folder
    if full:
        yield "untouched", Iterating(place / "untouched").folder
        damaged = Iterating(place / "damaged-state")
        damaged.leave()
        damaged.state.write_bytes(damaged.state.read_bytes()[:57])
        yield "damaged", damaged.folder


def _torn(run: Path) -> None:
    path = run / "history.jsonl"
    path.write_bytes(path.read_bytes()[:-9])


def _damaged(run: Path) -> None:
    path = run / "history.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"seq":3', b'"seq":4'))


def _leftovers(run: Path) -> None:
    (run / ".artifact.md.0123456789ab.tmp").touch()
    (run.parent / ".words.0123456789ab.gone").mkdir()
    (run.parent / "current.json").write_text('{"active_run_id": "gone", "task_alias": "gone"}')


SPOILT: dict[str, Callable[[Path], object]] = {
    "interrupted": lambda run: None,
    "torn": _torn,
    "damaged": _damaged,
    "run.json corrupt": lambda run: (run / "run.json").write_text("{"),
    "history missing": lambda run: (run / "history.jsonl").rename(run / "run.json"),
    "leftovers": _leftovers,
}


def looked(
    folder: Path, verb: tuple[str, ...], traced: bool, *, group: str = "loop"
) -> Iterator[str]:
    """Yield what a command did that it must not; without a verb the shell asks for aliases."""
    before = tree(folder)
    log = folder.parent / "strace.log"
    calls = ",".join(f"?{name}" for name in SYSTEM_CALLS)
    strace = ("strace", "-f", "-qq", "-y", "-s", "0", "-o", str(log), "-e", f"trace={calls}")
    words = ("-m", "pytest_reflex", group, *verb) if verb else ("-c", _COMPLETE)
    done = subprocess.run(
        [*(strace if traced else ()), sys.executable, *words],
        cwd=folder,
        env=_environment() | ({} if verb else COMPLETION),
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode not in (0, 4, 12) or b"Traceback" in done.stderr:
        yield f"exit status {done.returncode}: {done.stderr.decode()[-300:]}"
    if tree(folder) != before:
        yield f"the folder changed: {sorted(set(tree(folder)) ^ set(before))}"
    if traced:
        yield from writes(log)


_COMPLETE = "from pytest_reflex.cli.main import main; raise SystemExit(main())"


def _environment() -> dict[str, str]:
    checkout = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": checkout, "PYTHONDONTWRITEBYTECODE": "1"}
