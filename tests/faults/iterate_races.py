"""F15 for the iteration loop: of two that drive one procedure at once, one does, and it alone."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from pytest_reflex.errors import ExitCode
from tests.faults.figure import Figure, of_cases
from tests.faults.iterating import RESUME, RUN, Iterating
from tests.faults.memory import memory_folder
from tests.faults.project import faults_of
from tests.faults.warm import Job, Warm, warm_interpreter

_ROUNDS = 200
_JITTER = 0.05  # seconds
# Who finds another one at work says so.
_AGENT = """\
cat > /dev/null
mkdir busy 2>/dev/null || echo clash >> clashes
echo "$PYTEST_REFLEX_ITERATION" >> rounds.log
sleep 0.05
rmdir busy
echo "did it"
"""
_FRESH = (*RUN, "--fresh")
_ALLOWED = (ExitCode.OK, ExitCode.USAGE, ExitCode.LOCKED)


def figure(full: bool) -> Figure:
    pairs = {"run and run": (RUN, RUN), "run and --fresh": (RUN, _FRESH)}
    pairs |= {"resume and resume": (RESUME, RESUME), "resume and --fresh": (RESUME, _FRESH)}
    chance = random.Random(15)
    with memory_folder() as folder:
        warm = warm_interpreter()
        return of_cases(
            (f"{name} {number}", _raced(warm, folder / f"{n}-{number}", verbs, chance))
            for n, (name, verbs) in enumerate(pairs.items())
            for number in range(_ROUNDS // len(pairs) if full else 1)
        )


def _raced(
    warm: Warm, folder: Path, verbs: tuple[tuple[str, ...], ...], chance: random.Random
) -> list[str]:
    project = Iterating(folder)
    (folder / "agent.sh").write_text(_AGENT)
    if RESUME in verbs:
        project.leave()
    jobs = [Job(argv=verb, cwd=folder, delay=chance.random() * _JITTER) for verb in verbs]
    results = warm.run(*jobs)
    wrong = [fault for ran in results for fault in faults_of(ran, _ALLOWED)]
    if all(ran.status != ExitCode.OK for ran in results):
        wrong.append(f"nobody won: {[ran.stderr[-120:] for ran in results]}")
    if (folder / "clashes").exists():
        wrong.append("two were at work at once")
    if project.state.exists():
        wrong.append("a state is left")
    shutil.rmtree(folder)
    return wrong
