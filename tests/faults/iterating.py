"""Runs of the iteration loop that meet faults: a project of three rounds, and what must hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_reflex.drivers.iterate.model import State
from pytest_reflex.drivers.iterate.state import dump
from tests.faults.memory import memory_folder
from tests.faults.project import faults_of
from tests.faults.warm import Ran, Warm, warm_interpreter

RUN = ("iterate", "run", "build", "-n", "3")
RESUME, STATUS = ("iterate", "resume", "build"), ("iterate", "status", "build")
ROUNDS = ["1", "2", "3"]
# The second round fails, so that a count of failures has to be kept too.
_AGENT = """\
cat > /dev/null
echo "$PYTEST_REFLEX_ITERATION" >> rounds.log
[ "$PYTEST_REFLEX_ITERATION" != 2 ] && echo "did it"
"""
_CONFIG = """\
[iterate]
agent = "script"
unchanged = 0
[agents.script]
command = ["sh", "agent.sh"]
"""


class Iterating:
    """A folder in which the procedure `build` runs, well or not."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "agent.sh").write_text(_AGENT)
        (folder / "pytest-reflex.toml").write_text(_CONFIG)

    @property
    def root(self) -> Path:
        return self.folder / ".rooda"

    @property
    def state(self) -> Path:
        return self.root / "state/build.json"

    def leave(self) -> None:
        """Leave the state of a run behind that was killed after its first round."""
        at = "2026-02-06T10:00:00Z"
        state = State(
            procedure_name="build", max_iterations=3, failure_threshold=3, started_at=at,
            iteration=1, last_iteration_at=at, elapsed=(1.0,),
        )  # fmt: skip
        self.state.parent.mkdir(parents=True)
        self.state.write_bytes(dump(state))

    def rounds(self) -> list[str]:
        log = self.folder / "rounds.log"
        return log.read_text().split() if log.exists() else []


class IterateGround:
    """Where faults are tried: a place for projects, a warm interpreter, the calls of a good run."""

    def __init__(self, folder: Path, warm: Warm) -> None:
        self.warm, self._folder, self._made = warm, folder, 0
        project = self.project()
        ran = self.run(project)
        assert ran.status == 0, ran.stderr
        assert project.rounds() == ROUNDS
        self.calls = ran.calls

    def project(self) -> Iterating:
        self._made += 1
        return Iterating(self._folder / f"p{self._made}")

    def run(self, project: Iterating, **more: object) -> Ran:
        return self.warm.one(RUN, project.folder, below=project.root, **more)

    def wrong_after(self, project: Iterating) -> list[str]:
        """Return what does not hold of a run that was killed; it is resumed, or begun again."""
        wrong = faults_of(self.warm.one(STATUS, project.folder), [0])
        wrong += _miscounted(project)
        there = project.state.exists()
        if there:
            wrong += faults_of(self.warm.one(RESUME, project.folder), [0])
        elif not project.rounds():
            wrong += faults_of(self.warm.one(RUN, project.folder), [0])
        return wrong + self.wrong_at_end(project, most=1 if there else 0)

    def wrong_at_end(self, project: Iterating, *, most: int = 0) -> list[str]:
        """Return what does not hold of a run at its end; `most` rounds may have begun twice."""
        rounds = project.rounds()
        wrong = [] if sorted(set(rounds)) == ROUNDS else [f"its rounds were {rounds}"]
        if rounds != sorted(rounds) or len(rounds) > len(ROUNDS) + most:
            wrong.append(f"rounds were run again: {rounds}")
        left = sorted(path.name for path in project.state.parent.iterdir())
        return wrong if left == ["build.lock"] else [*wrong, f"it left {left}"]


def _miscounted(project: Iterating) -> list[str]:
    """Return whether a state counts rounds that did not end, or not those that did."""
    if not project.state.exists():
        return []
    state, begun = json.loads(project.state.read_bytes()), len(project.rounds())
    done = state["iteration"]
    told = (done, len(state["elapsed_per_iteration"]), state["consecutive_failures"])
    if done in (begun, begun - 1) and told == (done, done, int(done == 2)):
        return []
    return [f"after {begun} rounds the state says {told}"]


@contextmanager
def iterate_ground() -> Iterator[IterateGround]:
    """Yield a place in memory where there is one."""
    with memory_folder() as folder:
        yield IterateGround(folder, warm_interpreter())


def named(calls: Sequence[str], at: int) -> str:
    return f"call {at} ({calls[at - 1]})"
