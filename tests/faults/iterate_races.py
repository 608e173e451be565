"""F15 for the iteration loop: of two that drive one procedure at once, one does, and it alone.

Who asks a run to stop beside that stops it, or is reported why not; what is said is heard once.
"""

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
_JITTER, _BESIDE = 0.05, 0.6  # seconds
_SAID = "Say it louder"
# Who finds another one at work says so.
_AGENT = """\
case $(cat) in *"Say it louder"*) echo "$PYTEST_REFLEX_ITERATION" >> heard ;; esac
mkdir busy 2>/dev/null || echo clash >> clashes
echo "$PYTEST_REFLEX_ITERATION" >> rounds.log
sleep 0.05
rmdir busy
echo "did it"
"""
_FRESH = (*RUN, "--fresh")
_STOP = ("iterate", "stop", "build", "--wait", "30")
_SAY = ("iterate", "feedback", "build", _SAID, "--wait", "30")
_ALLOWED = (ExitCode.OK, ExitCode.USAGE, ExitCode.LOCKED)


def figure(full: bool) -> Figure:
    pairs: dict[str, tuple[tuple[str, ...], ...]] = {
        "run and run": (RUN, RUN),
        "run and --fresh": (RUN, _FRESH),
    }
    pairs |= {"resume and resume": (RESUME, RESUME), "resume and --fresh": (RESUME, _FRESH)}
    asking = {"run and stop": _STOP, "run and feedback": _SAY, "resume and stop": _STOP}
    chance = random.Random(15)
    with memory_folder() as folder:
        warm = warm_interpreter()
        raced = [
            (f"{name} {number}", _raced(warm, folder / f"{n}-{number}", verbs, chance))
            for n, (name, verbs) in enumerate(pairs.items())
            for number in range(_ROUNDS // len(pairs) if full else 1)
        ]
        asked = [
            (f"{name} {number}", _asked(warm, folder / f"{name}{number}", verb, chance))
            for name, verb in asking.items()
            for number in range(_ROUNDS // len(pairs) if full else 1)
        ]
        return of_cases([*raced, *asked])


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


def _asked(warm: Warm, folder: Path, verb: tuple[str, ...], chance: random.Random) -> list[str]:
    """Return what does not hold of a run of which something is asked at any moment."""
    project = Iterating(folder)
    (folder / "agent.sh").write_text(_AGENT)
    resumes = folder.name.startswith("resume")
    if resumes:
        project.leave()
    jobs = [Job(argv=RESUME if resumes else RUN, cwd=folder)]
    jobs.append(Job(argv=verb, cwd=folder, delay=chance.random() * _BESIDE))
    ran, asking = warm.run(*jobs)
    wrong = faults_of(ran, [ExitCode.OK, ExitCode.USER_STOP])
    wrong += faults_of(asking, [ExitCode.OK, ExitCode.USAGE])
    if ran.status == ExitCode.USER_STOP and (verb != _STOP or asking.status):
        wrong.append(f"it stopped, and who asked was reported {asking.stderr.strip()[-200:]}")
    heard = folder / "heard"
    times = len(heard.read_text().split()) if heard.exists() else 0
    if verb == _SAY and not asking.status and times != 1 and "too late" not in ran.stderr:
        wrong.append(f"it was heard {times} times")
    if project.state.exists():
        wrong += faults_of(warm.one(RESUME, folder), [0])
    left = sorted(path.name for path in project.state.parent.iterdir())
    wrong += [] if left == ["build.lock"] else [f"it left {left}"]
    begun = project.rounds()
    wrong += [] if begun == ["1", "2", "3"][resumes:] else [f"its iterations were {begun}"]
    shutil.rmtree(folder)
    return wrong
