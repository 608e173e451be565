"""What strace sees of a run: no call writes state past the functions that faults are put in."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.faults import traced
from tests.faults.iterating import RUN, iterate_ground
from tests.faults.project import Project
from tests.faults.warm import Warm

pytestmark = pytest.mark.long

ORDER = ("--sequential",)
SYSTEM = {"replace": "rename", "unlink": "unlink", "mkdir": "mkdir"}


@pytest.mark.skipif(not shutil.which("strace"), reason=traced.MISSING)
def test_the_kernel_sees_the_calls_that_we_count(tmp_path: Path) -> None:
    with Warm() as warm:
        counted = Project(tmp_path / "counted")
        # Side by side, two calls that begin together may be written down by one write.
        calls = warm.one(counted.new(*ORDER), counted.folder, below=counted.state).calls
    seen = Project(tmp_path / "seen")
    assert traced.trace(seen, traced.SYSTEM_CALLS, tmp_path / "log", more=ORDER) == 0
    points = traced.points_of(seen, tmp_path / "log")
    # current.json is written where a second has passed: that often is left open here.
    ours = Counter(_kind(call) for call in calls if "current.json" not in call)
    theirs = Counter(_kind(point.name) for point in points if "current.json" not in point.what)
    assert {kind: n for kind, n in theirs.items() if kind != "fsync"} == {
        kind: n for kind, n in ours.items() if kind != "fsync"
    }


@pytest.mark.skipif(not shutil.which("strace"), reason=traced.MISSING)
def test_the_kernel_sees_the_calls_of_an_iteration_loop_too(tmp_path: Path) -> None:
    log = tmp_path / "log"
    names = ",".join(f"?{name}" for name in traced.SYSTEM_CALLS)
    strace = ["strace", "-qq", "-y", "-s", "0", "-o", str(log), "-e", f"trace={names}"]
    with iterate_ground() as place:
        project = place.project()
        argv = [*strace, sys.executable, "-m", "pytest_reflex", *RUN]
        subprocess.run(argv, cwd=project.folder, capture_output=True, check=True)
        lines = log.read_text().splitlines()
        # The folder of the runs is made under another name: no state is in it yet.
        made = [line for line in lines if f"{project.root}.new" in line]
        calls = [line for line in lines if str(project.root) in line and line not in made]
    theirs = [call.partition("(")[0] for call in calls if traced.writes(call)]
    assert Counter(map(_kind, theirs)) == Counter(map(_kind, place.calls))


def _kind(call: str) -> str:
    """Return the kind of a call by our name or the kernel's."""
    name = call.split()[0].removesuffix("at2").removesuffix("at").removesuffix("64")
    return SYSTEM.get(name, name)
