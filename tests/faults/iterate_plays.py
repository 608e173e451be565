"""Ways in which an iteration loop goes when it meets faults, and what must hold of each at its end.

`plain` runs three iterations; `budget` is used up after two; in `requests` a person has asked to
stop and said something while the second was at work; `resume` goes on behind the first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_reflex.errors import ExitCode
from tests.faults.iterating import RESUME, ROUNDS, RUN, STATUS, IterateGround, Iterating
from tests.faults.project import faults_of
from tests.faults.warm import Ran

SAID = "Say it louder"
# A request comes once, as `iterate stop` and `feedback` leave it.
_ASKED = """\
prompt=$(cat)
case $prompt in *"Say it louder"*) echo "$PYTEST_REFLEX_ITERATION" >> heard.log ;; esac
echo "$PYTEST_REFLEX_ITERATION" >> rounds.log
if [ "$PYTEST_REFLEX_ITERATION" = 2 ] && [ ! -e asked ]; then
    touch asked
    said='{"id": "a1", "text": "Say it louder"}'
    echo '{"stop_requested": "enough", "feedback": ['"$said"']}' > asked.json
    mv asked.json .rooda/state/build.control.json
fi
[ "$PYTEST_REFLEX_ITERATION" != 2 ] && echo "did it"
"""
_MORE = (*RESUME, "--budget", "calls=+5")


@dataclass(frozen=True, slots=True)
class Play:
    """A command line that meets a fault, and the status that it has without one."""

    name: str
    argv: Sequence[str] = RUN
    status: ExitCode = ExitCode.OK

    def project(self, place: IterateGround) -> Iterating:
        project = place.project()
        if self.name == "requests":
            (project.folder / "agent.sh").write_text(_ASKED)
        if self.name == "resume":
            project.leave()
            (project.folder / "rounds.log").write_text("1\n")
        return project

    def run(self, place: IterateGround, project: Iterating, **more: object) -> Ran:
        return place.warm.one(self.argv, project.folder, below=project.root, **more)

    def calls(self, place: IterateGround) -> tuple[str, ...]:
        """Return the write-side calls of a run without a fault."""
        project = self.project(place)
        ran = self.run(place, project)
        assert ran.status == self.status, ran.stderr
        assert not self.wrong_after(place, project)
        return ran.calls

    def wrong_after(self, place: IterateGround, project: Iterating) -> list[str]:
        """Return what does not hold of a run that was broken off, and of what follows."""
        if self.name in ("plain", "resume"):
            return place.wrong_after(project)
        wrong = faults_of(place.warm.one(STATUS, project.folder), [0])
        there = project.state.exists()
        if not there and not project.rounds():
            wrong += faults_of(place.warm.one(self.argv, project.folder), [self.status])
        wrong += _overcounted(project)
        if self.name == "budget":
            for _ in range(2):
                wrong += faults_of(place.warm.one(RESUME, project.folder), [self.status])
            wrong += _unbudgeted(project)
            wrong += faults_of(place.warm.one(_MORE, project.folder), [0])
        else:
            if not (project.folder / "asked").exists():  # it is asked while the resume is at work
                wrong += faults_of(place.warm.one(RESUME, project.folder), [self.status])
            wrong += faults_of(place.warm.one(RESUME, project.folder), [0])
            if (heard := _heard(project)).count("3") != 1 or set(heard) - {"2", "3"}:
                wrong.append(f"what was said was heard in {heard}")
        return wrong + place.wrong_at_end(project, most=1)


PLAYS = (
    Play("plain"),
    Play("budget", (*RUN, "--budget", "calls=2"), ExitCode.BUDGET_EXCEEDED),
    Play("requests", RUN, ExitCode.USER_STOP),
    Play("resume", RESUME),
)


def _state(project: Iterating) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(project.state.read_bytes())
    return found


def _heard(project: Iterating) -> list[str]:
    path = project.folder / "heard.log"
    return path.read_text().split() if path.exists() else []


def _overcounted(project: Iterating) -> list[str]:
    """Return whether a state has other iterations, or another price, than those that ended."""
    if not project.state.exists():
        return ["no state is left"]
    state, begun = _state(project), len(project.rounds())
    done = (state["iteration"], state.get("spend", {"calls": 0})["calls"])
    return [] if done in {(n, n) for n in (begun, begun - 1)} else [f"it counts {done} of {begun}"]


def _unbudgeted(project: Iterating) -> list[str]:
    """Return whether a budget of two calls was not kept, or spent twice."""
    state = _state(project)
    spent = state.get("spend", {}).get("calls")
    told = (spent, state.get("outcome"), state["status"])
    wrong = [] if told == (2, "budget", "interrupted") else [f"the state says {told}"]
    # A call that was under way at the kill was paid: then the other one did the first iteration.
    rounds, done = project.rounds(), state["iteration"]
    if done not in (1, 2) or not set(rounds) <= set(ROUNDS[:2]) or len(rounds) > 2:
        wrong.append(f"{done} iterations are done of {rounds}")
    return wrong
