"""One vocabulary of events over all drivers: what --events writes, and what it never costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.drivers.common.events import DriverEvent, DriverEventKind, event_log
from tests.drivers.iterate.project import Project as Procedure
from tests.drivers.pytest_loop.stage import Project as Session

pytestmark = [pytest.mark.long, pytest.mark.variants]

CRITERIA = """\
name: words
rules:
  - id: a.x.alpha
    description: says alpha
    severity: fail
    check: {type: content, search: alpha}
    fix: {insert_text: {text: "alpha\\n", at: start}}
  - {id: b.x.hi, description: says hi, severity: fail, check: {type: content, search: hi}}
"""
SECRET = "opensesame-of-ours"
KINDS = {kind.value for kind in DriverEventKind}
STOPPED = "stopped"


@dataclass(frozen=True)
class Driven:
    """How one driver is begun in a folder, by a command; `flag` is its option for events."""

    driver: str
    run: str
    flag: str
    prepare: Callable[[Path], object]
    begin: tuple[str, ...]
    again: tuple[str, ...]

    def start(
        self, folder: Path, *more: str, new: bool = True, out: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *(self.begin if new else self.again), *more],
            cwd=folder,
            env={**environment(), "A_TOKEN": SECRET},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )


def environment() -> dict[str, str]:
    left_out = ("CI", "PYTEST_ADDOPTS")
    found = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**found, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "80"}


def words(folder: Path) -> None:
    (folder / "words.yaml").write_text(CRITERIA)
    (folder / "draft.md").write_text(f"hi, {SECRET}\n")


def procedure(folder: Path) -> None:
    gate = f'[iterate.gates.there]\ncommand = "echo {SECRET}; test -e agent.sh"\n'
    chosen = '[iterate.procedures.build]\ngates = ["there"]\n'
    Procedure(folder, "fail", "ok", more=gate + chosen)


def session(folder: Path) -> None:
    project = Session(folder)
    project.write("sums.py", f"# {SECRET}\n{project.read()}")


PYTEST = ("pytest", "-p", "pytest_reflex.plugin", "-p", "no:cacheprovider", "--reflex-loop")
DRIVERS = {
    one.driver: one
    for one in (
        Driven(
            "loop", "words", "--events", words,
            ("pytest_reflex", "loop", "new", "say words", "--criteria", "words.yaml", "--input",
             "draft.md", "--alias", "words", "--yes"),
            ("pytest_reflex", "loop", "extend", "words", "--yes", "--max-iterations", "+2"),
        ),
        Driven(
            "iterate", "build", "--events", procedure,
            ("pytest_reflex", "iterate", "run", "build", "-n", "3"),
            ("pytest_reflex", "iterate", "resume", "build", "--budget", "calls=+5"),
        ),
        Driven(
            "pytest-loop", "make-the-tests-pass", "--reflex-events", session,
            (*PYTEST, "--reflex-artifact=sums.py", "--reflex-yes"),
            (*PYTEST, "--reflex-resume", "--reflex-yes", "--reflex-max-iterations=+2"),
        ),
    )
}  # fmt: skip


@pytest.fixture(params=[*DRIVERS.values()], ids=[*DRIVERS])
def driven(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Driven, Path]:
    folder = tmp_path / "project"
    folder.mkdir()
    request.param.prepare(folder)
    return request.param, folder


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_driver_writes_the_same_kinds_in_a_sensible_order(
    driven: tuple[Driven, Path],
) -> None:
    driver, folder = driven
    done = driver.start(folder, driver.flag, "events.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    found = lines(folder / "events.jsonl")
    kinds = [one["kind"] for one in found]
    assert {(one["driver"], one["run"]) for one in found} == {(driver.driver, driver.run)}
    assert [*found[0]] == ["time", "driver", "run", "kind", "iteration", "fields"]
    assert kinds[0] == "started"
    assert kinds[-1] == STOPPED
    assert set(kinds) <= KINDS
    assert {"waiting", "acted", "measured", "iteration"} <= set(kinds)
    assert kinds.count("started") == kinds.count(STOPPED) == 1
    assert [one["time"] for one in found] == sorted(one["time"] for one in found)
    numbers = [one["iteration"] for one in found if one["kind"] != "waiting"]
    assert numbers == sorted(numbers)
    ended = [one for one in found if one["kind"] == "iteration"]
    assert [one["iteration"] for one in ended] == [*range(1, numbers[-1] + 1)]
    outcomes = [one["fields"]["outcome"] for one in ended]
    assert (outcomes[0], outcomes[-1]) == ("failure", "success")
    # What is measured belongs to an iteration that has begun, and has not ended.
    for place, one in enumerate(found):
        if one["kind"] == "measured":
            before = [two for two in found[:place] if two["kind"] == "iteration"]
            assert one["iteration"] == len(before) + 1
    last = found[-1]["fields"]
    assert last["reason"]
    assert last["status"] == "completed"
    assert last["exit_code"] == 0


def test_standard_output_may_be_for_events_alone(driven: tuple[Driven, Path]) -> None:
    driver, folder = driven
    done = driver.start(folder, driver.flag, "-")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert (found[0]["kind"], found[-1]["kind"]) == ("started", STOPPED)
    assert done.stderr


def test_a_secret_of_ours_is_in_no_line(driven: tuple[Driven, Path]) -> None:
    driver, folder = driven
    driver.start(folder, f"{driver.flag}=events.jsonl")
    text = (folder / "events.jsonl").read_text("utf-8")
    assert SECRET not in text
    assert driver.driver == "iterate" or "$A_TOKEN" in text


@pytest.mark.parametrize("place", ["no/such/folder.jsonl", ".", "agent.sh/x", ""])
def test_what_cannot_be_written_is_refused_before_anything_is_paid(
    driven: tuple[Driven, Path], place: str
) -> None:
    driver, folder = driven
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = driver.start(folder, f"{driver.flag}={place}")
    assert done.returncode == 4
    assert f"{driver.flag}" in done.stderr
    assert "cannot be written: " in done.stderr or place == ""
    assert "Traceback" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_the_events_of_a_run_that_goes_on_are_appended(driven: tuple[Driven, Path]) -> None:
    driver, folder = driven
    limit = {
        "loop": ["--max-iterations", "1"],
        "iterate": ["--budget", "calls=1"],
        "pytest-loop": ["--reflex-max-iterations", "1"],
    }[driver.driver]
    assert driver.start(folder, driver.flag, "events.jsonl", *limit).returncode != 0
    first = lines(folder / "events.jsonl")
    assert first[-1]["kind"] == STOPPED
    assert first[-1]["fields"]["status"] != "completed"
    done = driver.start(folder, driver.flag, "events.jsonl", new=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = lines(folder / "events.jsonl")
    assert found[: len(first)] == first
    again = found[len(first) :]
    assert (again[0]["kind"], again[0]["fields"]["resumed"]) == ("started", True)
    assert again[-1]["fields"]["status"] == "completed"


def test_a_document_and_events_cannot_share_standard_output(tmp_path: Path) -> None:
    words(tmp_path)
    done = DRIVERS["loop"].start(tmp_path, "--events", "-", "--json")
    assert done.returncode == 4
    assert "--json and --events - cannot be combined" in done.stderr
    assert not (tmp_path / ".ai-factory").exists()


def test_a_dry_run_writes_no_events(tmp_path: Path) -> None:
    words(tmp_path)
    assert DRIVERS["loop"].start(tmp_path, "--events", "e.jsonl", "--dry-run").returncode == 0
    assert not (tmp_path / "e.jsonl").exists()


EVENT = DriverEvent(
    driver="x", run="y", kind=DriverEventKind.STEP, iteration=1, fields={"a": ["b"]}
)


def test_what_fails_is_told_once_and_stops_nothing() -> None:
    told: list[str] = []

    def full(line: str) -> None:
        raise OSError(28, "No space left on device")

    with event_log("-", flag="--events", out=full, warn=told.append) as log:
        log(EVENT)
        log(EVENT)
    (line,) = told
    assert "standard output (No space left on device): going on" in line


def test_a_pipe_and_a_device_can_be_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with event_log(str(pipe), flag="--events", out=print, warn=print) as log:
            log(EVENT)
        assert json.loads(os.read(reader, 10_000))["kind"] == "step"
    finally:
        os.close(reader)
    with event_log("/dev/null", flag="--events", out=print, warn=print) as log:
        log(EVENT)


def test_without_a_place_nothing_is_written() -> None:
    with event_log(None, flag="--events", out=pytest.fail, warn=pytest.fail) as log:
        log(EVENT)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_run_goes_on_where_its_events_cannot_be_written(driven: tuple[Driven, Path]) -> None:
    driver, folder = driven
    done = driver.start(folder, f"{driver.flag}=/dev/full")
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout + done.stderr
    assert told.count("events could not be written to /dev/full") == 1


def test_whoever_reads_may_go_away(driven: tuple[Driven, Path]) -> None:
    driver, folder = driven
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = driver.start(folder, driver.flag, "-", out=writer)
    finally:
        os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "events could not be written to standard output" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_plugin_prints_is_not_among_the_events(tmp_path: Path) -> None:
    words(tmp_path)
    (tmp_path / "noisy.py").write_text('def pytest_reflex_record(event):\n    print("noise")\n')
    (tmp_path / "pytest-reflex.toml").write_text('plugins = ["noisy"]\n')
    for place in (["--events", "-"], ["--events=-"]):
        done = DRIVERS["loop"].start(tmp_path, *place, "--quiet", "--alias", f"run-{len(place)}")
        assert done.returncode == 0, done.stderr
        assert {json.loads(line)["driver"] for line in done.stdout.splitlines()} == {"loop"}
        assert "noise" in done.stderr
