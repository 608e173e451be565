"""F14: a clock that jumps, stands or tells nonsense changes neither the order nor the verdict."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from tests.faults.figure import Figure, of_cases
from tests.faults.warm import ROOT

TRUE = datetime.datetime
BEGIN = TRUE(2026, 10, 25, 0, 59, 58, tzinfo=UTC)  # two seconds before summer time ends in Europe
_HOUR, _YEARS = timedelta(hours=1), timedelta(days=3653)

# What the clock shows at its n-th reading; the jump comes in the middle of a run.
CLOCKS: dict[str, Callable[[int], datetime.datetime]] = {
    "an hour back": lambda n: BEGIN + timedelta(seconds=n) - _HOUR * (n > 6),
    "ten years on": lambda n: BEGIN + timedelta(seconds=n) + _YEARS * (n > 6),
    "summer time ends": lambda n: BEGIN + timedelta(seconds=n / 2),
    "leap second": lambda n: (
        TRUE(2016, 12, 31, 23, 59, 58, tzinfo=UTC) + timedelta(seconds=n - (n > 3))
    ),
    "before 1980": lambda n: TRUE(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=n),
    "frozen": lambda n: BEGIN,
    "backwards": lambda n: BEGIN - timedelta(seconds=n),
    "after 2038": lambda n: TRUE(2106, 2, 7, 6, 28, 14, tzinfo=UTC) + timedelta(seconds=n),
}

SAMPLE = ("an hour back", "ten years on", "before 1980")


def figure(full: bool) -> Figure:
    """Run the clocks in one interpreter whose clock is replaced before our code is loaded."""
    argv = [sys.executable, "-m", "tests.faults.clock", *(CLOCKS if full else SAMPLE)]
    ran = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    return of_cases((name, wrong) for name, wrong in json.loads(ran.stdout).items())


class Shown(datetime.datetime):
    """A datetime whose present is what `clock` shows at each reading."""

    clock: Callable[[int], datetime.datetime] = CLOCKS["frozen"]
    readings: Iterator[int] = count()

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls.clock(next(cls.readings)).astimezone(tz)


@contextmanager
def _clock(name: str) -> Iterator[None]:
    Shown.clock, Shown.readings = staticmethod(CLOCKS[name]), count()
    yield


def _main(names: list[str]) -> dict[str, list[str]]:
    datetime.datetime = Shown  # type: ignore[misc]
    from tests.faults.memory import memory_folder

    with memory_folder() as folder:
        return {name: _played(folder / str(at), name) for at, name in enumerate(names)}


def _played(project: Path, name: str) -> list[str]:
    """Play half a run, and the rest after a resume; time is budgeted, and agents took none."""
    from tests.drivers.reflex.stage import Script, Stage, history_of

    project.mkdir()
    stage = Stage(project)
    better: Any = ["alpha\n", "alpha beta\n", "alpha beta gamma\n"]
    script = Script(produce=lambda r: r.artifact or "draft\n", refine=better)
    (project / "pytest-reflex.toml").write_text("[loop]\nbudget = { seconds = 600 }\n")
    with _clock(name):
        with stage.begin(script) as loop:
            for event in history_of(loop):
                if event.seq == 9:
                    break
        with stage.resume(script) as loop:
            list(history_of(loop))
            events = list(loop.files.latest_events())
    return [*_wrong_of(stage, events), *_stamps(events, name)]


def _wrong_of(stage: Any, events: Any) -> list[str]:
    from pytest_reflex.drivers.reflex.catalog import status_text
    from pytest_reflex.drivers.reflex.run_status import find_run

    state = stage.run_json()
    wrong = []
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        wrong.append("the numbers of the events do not rise one by one")
    if state["stop"] != {"passed": True, "reason": "threshold_reached"}:
        wrong.append(f"it ended as {state['stop']}")
    if "completed" not in status_text(find_run(stage.root, None)):
        wrong.append("status does not say that it completed")
    durations = [row["duration"] for row in state["evaluation"]["rule_results"]]
    if not all(0 <= seconds < 60 for seconds in durations):
        wrong.append(f"durations of {durations} seconds")
    if not 0 <= state["spend"]["seconds"] < 60:
        wrong.append(f"{state['spend']['seconds']} seconds spent")
    return wrong


def _stamps(events: Any, name: str) -> list[str]:
    """The stamps are what the clock showed: if they were in order, nothing would be shown here."""
    stamps = [TRUE.strptime(event.ts, "%Y-%m-%dT%H:%M:%SZ") for event in events]
    jumps = name in ("an hour back", "backwards")
    return ["the clock did not jump"] * (jumps and stamps == sorted(stamps))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_main(sys.argv[1:])))
