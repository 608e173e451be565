"""F04, F05, F06: history.jsonl and run.json cut at every byte, and damaged in other ways."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.reflex.run_status import read_run
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.drivers.reflex.steps import phase_error
from pytest_reflex.errors import StateError
from pytest_reflex.model.enums import Step
from pytest_reflex.storage.journal import read_journal
from pytest_reflex.storage.lines import decode
from tests.drivers.reflex.stage import Line, Script, Stage, history_of
from tests.faults.figure import Figure, of_cases
from tests.faults.memory import memory_folder
from tests.storage.test_journal import damage

Case = tuple[str, list[str]]
SAMPLE, DAMAGES = 15, 300
AHEAD = 5  # every so many cuts with a run.json that knows of later events


def figure(full: bool) -> Figure:
    """Cut and damage the files of a finished run and of one that was left, and open each."""
    with memory_folder() as folder:
        runs = [
            _recorded(folder / word, left_after)
            for word, left_after in (("finished", 99), ("left", 21))
        ]
        return of_cases(
            case
            for run in runs
            for case in (
                *_history_cuts(run, full),
                *_run_json_cuts(run, full),
                *_special(run),
                *_damages(run, DAMAGES if full else SAMPLE),
            )
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run on disk, and what its run.json and artifact.md were after each of its events."""

    folder: Path
    history: bytes
    run_json: bytes
    states: tuple[bytes, ...]
    texts: tuple[str, ...]


def _recorded(project: Path, most: int) -> Recorded:
    """Play a run with retries and four iterations; leave it after `most` events."""
    project.mkdir()
    stage = Stage(project)
    better: list[Line] = ["alpha\n", "alpha beta\n", "alpha beta gam\n", "x\n"]
    script = Script(plan=["not JSON", _PLAN], produce=lambda r: r.artifact or "x\n", refine=better)
    states, texts = [], []
    with stage.begin(script, {"loop.oscillation": "false"}, sequential=True) as loop:
        for event in history_of(loop):
            states.append((stage.root / "words/run.json").read_bytes())
            texts.append(loop.files.artifact_text())
            if event.seq == most:
                break
    folder = stage.root / "words"
    assert len(states) >= min(most, 20), f"a run of {len(states)} events is too short"
    history, run_json = (folder / "history.jsonl").read_bytes(), states[-1]
    return Recorded(folder, history, run_json, tuple(states), tuple(texts))


_PLAN = json.dumps({"plan": ["say alpha", "say beta", "say gamma"]})


def _laid_out(run: Recorded, history: bytes, run_json: bytes | None, text: str) -> Path:
    for path in run.folder.iterdir():
        path.unlink()
    (run.folder / "history.jsonl").write_bytes(history)
    if run_json is not None:
        (run.folder / "run.json").write_bytes(run_json)
    if text:
        (run.folder / "artifact.md").write_text(text, encoding="utf-8")
    return run.folder


def _places(length: int, full: bool) -> list[int]:
    everywhere = range(length + 1)
    if full:
        return list(everywhere)
    return sorted(random.Random(length).sample(everywhere, SAMPLE))


def _history_cuts(run: Recorded, full: bool) -> Iterator[Case]:
    ends = [at + 1 for at, byte in enumerate(run.history) if byte == 10]
    for cut in _places(len(run.history), full):
        # A line that lacks its end only is whole.
        whole = sum(end - 1 <= cut for end in ends)
        name = f"{run.folder.parents[2].name}: history cut at {cut}"
        yield name, _cut(run, cut, whole)
        if not full or not cut % AHEAD:
            yield f"{name}, run.json ahead", _cut_with_run_ahead(run, cut, whole)


def _cut(run: Recorded, cut: int, whole: int) -> list[str]:
    """A crash cuts the last line, and run.json is of the event before it."""
    data = run.history[:cut]
    if not whole:
        folder = _laid_out(run, data, None, "")
        return _refused(folder, "is empty", folder / "history.jsonl")
    folder = _laid_out(run, data, run.states[whole - 1], run.texts[whole - 1])
    files = RunFiles.open(folder)
    try:
        wrong = _mismatch(folder, run.states[whole - 1], run.texts[whole - 1])
        if len(files.latest_events()) != whole:
            wrong.append(f"{len(files.latest_events())} of {whole} events are left")
        files.commit(phase_error(Step.PLAN, "an event after the cut"))
    finally:
        files.close()
    content = read_journal(folder / "history.jsonl")
    if not content.whole or len(content.records) != whole + 1:
        wrong.append(f"after the next event: {len(content.records)} records, {content.damages}")
    if not (folder / "history.jsonl").read_bytes().startswith(data):
        wrong.append("what was there is not there any more")
    return wrong


def _mismatch(folder: Path, state: bytes, text: str) -> list[str]:
    """Return where the files of an opened run are not as they were at that event."""
    wrong = []
    if (folder / "run.json").read_bytes() != state:
        wrong.append("run.json is not as it was")
    artifact = folder / "artifact.md"
    if (artifact.read_text("utf-8") if artifact.exists() else "") != text:
        wrong.append("artifact.md is not as it was")
    return wrong


def _cut_with_run_ahead(run: Recorded, cut: int, whole: int) -> list[str]:
    """Events that run.json knows of are gone: it is told, unless one torn line explains it."""
    last = len(run.states)
    torn = decode(run.history[:cut]).torn
    folder = _laid_out(run, run.history[:cut], run.run_json, run.texts[-1])
    if whole + bool(torn) >= last:
        RunFiles.open(folder).close()
        return []
    message = "the history has lost events" if whole else "is empty"
    return _refused(folder, message, folder / "history.jsonl", folder / "run.json")


def _refused(folder: Path, message: str, *untouched: Path) -> list[str]:
    before = [path.read_bytes() for path in untouched]
    try:
        RunFiles.open(folder).close()
    except StateError as error:
        wrong = [] if message in str(error) else [f"it says: {error}"]
    else:
        wrong = ["it was opened"]
    if [path.read_bytes() for path in untouched] != before:
        wrong.append("it was changed")
    return wrong


def _run_json_cuts(run: Recorded, full: bool) -> Iterator[Case]:
    for cut in _places(len(run.run_json) - 2, full):
        name = f"{run.folder.parents[2].name}: run.json cut at {cut}"
        yield name, _rebuilt(run, run.run_json[:cut], kept=True)


def _rebuilt(run: Recorded, found: bytes, *, kept: bool) -> list[str]:
    """From an intact history run.json is as it was; what stood there is kept."""
    folder = _laid_out(run, run.history, found, run.texts[-1])
    shown = read_run(folder).state
    with_lock = RunFiles.open(folder)
    with_lock.close()
    wrong = _mismatch(folder, run.run_json, run.texts[-1])
    if with_lock.state != shown:
        wrong.append("status shows another state than the one resumed")
    evidence = [path.read_bytes() for path in folder.glob("run.json.corrupt-*")]
    if evidence != [found] * kept:
        wrong.append(f"kept aside: {evidence!r:.80}")
    return wrong


def _special(run: Recorded) -> Iterator[Case]:
    document = json.loads(run.run_json)

    def with_(**keys: Any) -> bytes:
        return json.dumps({**document, **keys}).encode()

    older = {key: value for key, value in document.items() if key != "schema_version"}
    cases: dict[str, tuple[bytes, bool]] = {
        "empty": (b"", True),
        "filled with NUL": (b"\0" * len(run.run_json), True),
        "a list": (b"[1]", True),
        "null": (b"null", True),
        "a text": (b'"running"', True),
        "an empty object": (b"{}", True),
        "twice": (run.run_json * 2, True),
        "in UTF-16": (run.run_json.decode().encode("utf-16"), False),
        "nested too deep": (b"[" * 100_000, True),
        "of another run": (with_(run_id="other-20260101-000000"), True),
        "with a last event that is not a number": (with_(last_seq="seven"), True),
        "of an older version": (json.dumps(older).encode(), False),
        "of an event before": (run.states[-2], False),
    }
    for word, (found, kept) in cases.items():
        name = f"{run.folder.parents[2].name}: run.json {word}"
        yield name, _rebuilt(run, found, kept=kept)
    folder = _laid_out(run, run.history, with_(schema_version=99), run.texts[-1])
    newer = _refused(folder, "newer version", folder / "history.jsonl", folder / "run.json")
    yield f"{run.folder.parents[2].name}: run.json of a newer version", newer


def _damages(run: Recorded, most: int) -> Iterator[Case]:
    dice = random.Random(5)
    for number in range(most):
        broken = damage(run.history, dice)
        name = f"{run.folder.parents[2].name}: damage {number}"
        yield name, _damaged(run, broken)


def _damaged(run: Recorded, broken: bytes) -> list[str]:
    """No event is lost without a word: the line is named, or all events are there."""
    content = decode(broken)
    told = len(content.records) + len(content.damages) + len(content.sealed)
    lines = broken.count(b"\n")
    wrong = [f"{told} of {lines} lines are reported"] * (told != lines)
    folder = _laid_out(run, broken, run.run_json, run.texts[-1])
    history = folder / "history.jsonl"
    try:
        RunFiles.open(folder).close()
    except StateError as error:
        if "line " not in str(error) and "lost events" not in str(error):
            wrong.append(f"no line is named: {error}")
        if history.read_bytes() != broken:
            wrong.append("the damaged history was changed")
    else:
        if len(content.records) + bool(content.torn) < len(run.states):
            wrong.append("events are gone without a word")
    return wrong
