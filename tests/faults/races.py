"""F15: two processes at once on one state folder: one writer for each run, and no event is lost."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_reflex.drivers.reflex.run_status import aliases, read_run
from pytest_reflex.errors import ExitCode
from pytest_reflex.storage.journal import read_journal
from tests.faults.aftermath import Ground, ground
from tests.faults.figure import Figure, of_cases
from tests.faults.project import Project, differences, faults_of, overpaid
from tests.faults.warm import Job, Ran

ROUNDS, SAMPLE = 200, 1
OK, USAGE, LOCKED, STOPPED = ExitCode.OK, ExitCode.USAGE, ExitCode.LOCKED, ExitCode.USER_STOP
RESUME = ("loop", "resume", "run", "--quiet")
SAID = "Say it louder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two command lines on a run that was killed, and what may come of them.

    `outcomes` are pairs of exit statuses that may be; `jitter` the longest head start in seconds.
    """

    first: Sequence[str]
    second: Sequence[str]
    outcomes: frozenset[tuple[int, int]]
    jitter: float = 0.005
    check: Callable[[Ground, Project, Ran, Ran], list[str]]


def figure(full: bool) -> Figure:
    with ground() as place:
        killed = place.killed()
        dice = random.Random(15)
        return of_cases(
            (f"{name}, round {number}", _race(place, killed, pair, dice))
            for name, pair in PAIRS.items()
            for number in range(ROUNDS if full else SAMPLE)
        )


def _race(place: Ground, killed: Project, pair: Pair, dice: random.Random) -> list[str]:
    project = place.copy(killed)
    delays = [0.0, dice.random() * pair.jitter]
    if pair.jitter < 0.1:
        dice.shuffle(delays)
    first, second = place.warm.run(
        Job(argv=pair.first, cwd=project.folder, delay=delays[0]),
        Job(argv=pair.second, cwd=project.folder, delay=delays[1]),
    )
    wrong = [*faults_of(first), *faults_of(second)]
    if (first.status, second.status) not in pair.outcomes:
        said = f"{first.stderr.strip()[-200:]} | {second.stderr.strip()[-200:]}"
        wrong.append(f"exits {first.status} and {second.status}: {said}")
    wrong += [why for alias in aliases(project.root) for why in _broken(project, alias)]
    wrong += pair.check(place, project, first, second)
    shutil.rmtree(project.folder)
    return wrong


def _broken(project: Project, alias: str) -> Iterator[str]:
    """Yield what two writers would leave: a history with gaps, temporary files, a lock."""
    folder = project.root / alias
    content = read_journal(folder / "history.jsonl")
    numbers = [record["seq"] for record in content.records]
    if not content.whole or content.torn or any(b != a + 1 for a, b in pairwise(numbers)):
        yield f"{alias}: its history is broken: {content.damages or content.breaks or numbers}"
    if strays := [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]:
        yield f"{alias}: {strays} is left"
    run = read_run(folder)
    if run.alive:
        yield f"{alias}: its lock is held"
    if json.loads((folder / "run.json").read_bytes())["last_seq"] != run.state.last_seq:
        yield f"{alias}: run.json is not of its last event"


def _both_started(place: Ground, project: Project, first: Ran, second: Ran) -> list[str]:
    """Two new runs of one name get a folder each, and both come to their end."""
    found = set(aliases(project.root))
    if found != {"run", "run-2", "run-3"}:
        return [f"the runs are {sorted(found)}"]
    return [why for alias in ("run-2", "run-3") for why in _complete(place, project, alias)]


def _start_beside(place: Ground, project: Project, first: Ran, second: Ran) -> list[str]:
    wrong = [why for alias in ("run", "other") for why in _complete(place, project, alias)]
    if (project.root / "current.json").exists():
        wrong.append("current.json is left though no run goes on")
    return wrong


def _complete(place: Ground, project: Project, alias: str) -> Iterator[str]:
    events = read_journal(project.root / alias / "history.jsonl").records
    if sorted(event["event"] for event in events) != place.story:
        yield f"{alias}: its history tells another story"


def _one_resumed(place: Ground, project: Project, first: Ran, second: Ran) -> list[str]:
    return [*differences(project, place.unbroken, kept=True), *overpaid(project.calls())]


def _cleaned(place: Ground, project: Project, first: Ran, second: Ran) -> list[str]:
    """Either the run is there and whole, or it is gone, and who came late was reported."""
    if second.status != OK:
        return _one_resumed(place, project, first, second)
    wrong = []
    if any(project.root.iterdir()):
        wrong.append(f"left: {[path.name for path in project.root.rglob('*')]}")
    if first.status != OK and len(project.calls()) > len(place.killed_calls):
        wrong.append("it was cleaned while it was driven")
    return wrong


def _stopped(place: Ground, project: Project, first: Ran, second: Ran) -> list[str]:
    """The run has ended, once."""
    kinds = [event["event"] for event in project.events()]
    ends = kinds.count("stopped")
    wrong = [f"{ends} events end it"] if ends != 1 or kinds[-1] != "stopped" else []
    stop = read_run(project.run).state.stop.reason
    if first.status == STOPPED and stop != "user_stop":
        wrong.append(f"it stopped for {stop}")
    return wrong


def _heard(place: Ground, project: Project, first: Ran, second: Ran) -> list[str]:
    """What was taken is in the history, once; what was refused is not."""
    heard = sum(
        SAID in json.dumps(event["payload"])
        for event in project.events()
        if event["event"] == "feedback_given"
    )
    expected = 1 if second.status == OK else 0
    wrong = [f"heard {heard} times"] if heard != expected else []
    if read_run(project.run).state.status.value != "completed":
        wrong.append("it did not complete")
    return wrong


PAIRS: dict[str, Pair] = {
    "start/start": Pair(
        first=Project.new(),
        second=Project.new(),
        outcomes=frozenset({(OK, OK)}),
        check=_both_started,
    ),
    "start/resume": Pair(
        first=Project.new("--alias", "other"),
        second=RESUME,
        outcomes=frozenset({(OK, OK)}),
        check=_start_beside,
    ),
    "resume/resume": Pair(
        first=RESUME,
        second=RESUME,
        outcomes=frozenset({(OK, LOCKED), (LOCKED, OK), (OK, USAGE), (USAGE, OK)}),
        check=_one_resumed,
    ),
    "resume/clean": Pair(
        first=RESUME,
        second=("loop", "clean", "run", "--yes", "--force"),
        outcomes=frozenset({(OK, OK), (OK, LOCKED), (USAGE, OK), (LOCKED, OK)}),
        check=_cleaned,
    ),
    "loop/stop": Pair(
        first=RESUME,
        second=("loop", "stop", "--alias", "run"),
        outcomes=frozenset({(STOPPED, OK), (OK, OK), (OK, USAGE), (USAGE, OK), (LOCKED, OK)}),
        jitter=0.2,
        check=_stopped,
    ),
    "loop/feedback": Pair(
        first=RESUME,
        second=("loop", "feedback", "run", SAID),
        outcomes=frozenset({(OK, OK), (OK, USAGE)}),
        jitter=0.2,
        check=_heard,
    ),
}
