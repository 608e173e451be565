"""F35: a flow is killed at every commit and at every write of its state, and resumed.

Commits are made by git: a hook of the repository kills the run before one, behind it, and between
it and what git does after it. All else that the run changes on disk it changes itself: it is killed
before each such call.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from tests.faults.aftermath import spread
from tests.faults.figure import Figure, of_cases
from tests.faults.flow_runs import BOUNDARIES, FlowGround, flow_ground
from tests.faults.killed_calls import killed_at_calls
from tests.faults.project import faults_of

SAMPLE = 4
# The run is the parent of the git that runs the hook; the guard ends what it leaves.
_HOOK = """\
[ -e .git/was-killed ] && exit 0
echo x >> .git/{hook}-count
if [ "$(grep -c x .git/{hook}-count)" = {at} ]; then
    touch .git/was-killed
    kill -9 $(ps -o ppid= -p $PPID)
    sleep 30
fi
"""
_HOOKS = ("pre-commit", "commit-msg", "post-commit")


def figure(full: bool) -> Figure:
    """Kill at every point; the sample takes a few."""
    with flow_ground() as place:
        return of_cases([*killed_at_calls(place, SAMPLE, full), *_commits(place, full)])


def _commits(place: FlowGround, full: bool) -> Iterator[tuple[str, list[str]]]:
    points = [(hook, at) for hook in _HOOKS for at in range(1, len(BOUNDARIES) + 1)]
    for hook, at in points if full else spread(points, SAMPLE):
        project = place.project(hook=hook, script=_HOOK.format(hook=hook, at=at))
        ran = place.run(project)
        wrong = [] if ran.status == -9 else [f"it was not killed: exit {ran.status}"]
        wrong += faults_of(ran) if ran.status != -9 else []
        yield f"{hook} of commit {at}", wrong + place.wrong_after(project)
        shutil.rmtree(project.folder)
