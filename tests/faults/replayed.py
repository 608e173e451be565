"""F02: a power cut may leave the disk in many states; a run resumes from each of them."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.run_status import find_run
from pytest_reflex.errors import ReflexError, StateError, UsageError
from tests.drivers.reflex.stage import Script, Stage, history_of
from tests.faults.disk import Recorder, lay_out
from tests.faults.figure import Figure, of_cases
from tests.faults.intercepted import Intercepted
from tests.faults.memory import memory_folder

SAMPLE = 12
KEYS = ("status", "iteration", "phase", "plan", "stop", "last_score_exact", "artifact")


def figure(full: bool) -> Figure:
    with memory_folder() as folder:
        stage, script = _stage(folder / "recorded"), _script()
        # What a run has paid for is known to the outside, and so is an event that it told of.
        told: list[int] = []
        recorder = Recorder(stage.project, lambda: (len(script.requests), len(told)))
        with Intercepted(stage.project, recorder), stage.begin(script, sequential=True) as loop:
            for event in history_of(loop):
                told.append(event.seq)
        states = list(recorder.states())
        chosen = states if full else random.Random(2).sample(states, SAMPLE)
        whole, paid = _outcome(stage), len(script.requests)
        return of_cases(
            (
                (word, _resumed(folder / str(number), stage, whole, paid, mark, tree))
                for number, (word, mark, tree) in enumerate(chosen)
            ),
            note=f"{len(recorder.operations)} changes, {len(states)} states of the disk",
        )


def _stage(project: Path) -> Stage:
    project.mkdir()
    return Stage(project)


def _script() -> Script:
    """An agent of three iterations whose answers follow from what it is asked."""
    return Script(
        produce=lambda request: request.artifact or "draft\n",
        refine=lambda request: {"draft\n": "alpha\n", "alpha\n": "alpha beta\n"}.get(
            request.artifact or "", "alpha beta gamma\n"
        ),
    )


def _outcome(stage: Stage) -> dict[str, Any]:
    folder = stage.root / "words"
    found = [json.loads(line) for line in (folder / "history.jsonl").read_bytes().splitlines()]
    events = [one["event"] for one in found if not one["payload"].get("interrupted")]
    state = stage.run_json()
    return {
        **{key: state[key] for key in KEYS},
        "events": events,
        "more": state["last_seq"] - len(found),
        "text": stage.artifact(),
        "pointer": (stage.root / "current.json").exists(),
    }


def _resumed(
    project: Path,
    recorded: Stage,
    whole: Mapping[str, Any],
    price: int,
    mark: tuple[int, int] | None,
    tree: Mapping[str, bytes | None],
) -> list[str]:
    stage, again = _stage(project), _script()
    lay_out(tree, recorded.project, project)
    paid, told = mark or (0, 0)
    try:
        wrong = _judged(stage, again, whole, told if paid or told else -1)
    except ReflexError as error:
        wrong = [f"it could not be resumed: {error}"]
    if paid + len(again.requests) > price + 1:
        wrong.append(f"{paid} calls were paid, and {len(again.requests)} more")
    shutil.rmtree(project)
    return wrong


def _judged(stage: Stage, again: Script, whole: Mapping[str, Any], told: int) -> list[str]:
    """Resume a run of which `told` events were reported (-1: it never asked anyone)."""
    try:
        shown = find_run(stage.root, "words").state
    except (UsageError, StateError):
        if told >= 0:
            raise
        return []  # it never began
    wrong = []
    if shown.last_seq < told:
        wrong.append(f"{shown.last_seq} of {told} events that were reported are left")
    try:
        with stage.resume(again) as loop:
            # A call that was lost leaves an event, and is in the spend that is shown.
            same: dict[str, Any] = {"last_seq": shown.last_seq, "updated_at": shown.updated_at}
            if replace(loop.state, **same) != shown:
                wrong.append("status shows another state than the one resumed")
            list(history_of(loop))
    except UsageError as error:
        if "has ended" not in str(error):
            raise
    if (outcome := _outcome(stage)) != whole:
        wrong.append(f"it ended as {outcome}")
    names = {path.name for path in (stage.root / "words").iterdir()}
    if {n for n in names if ".torn-" not in n and ".corrupt-" not in n} != _FILES:
        wrong.append(f"its files are {sorted(names)}")
    return wrong


_FILES = {"run.json", "history.jsonl", "artifact.md"}
