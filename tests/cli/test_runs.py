"""``pytest-reflex runs``: the runs of all drivers in one list, which writes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.model.run import Spend
from pytest_reflex.reports.runs import status_text
from tests.cli.terminal import Terminal
from tests.drivers.iterate.project import Project as IterateProject
from tests.drivers.iterate.project import left_behind
from tests.drivers.pytest_loop.stage import Project
from tests.drivers.reflex.stage import Script, Stage, history_of

pytestmark = pytest.mark.long

Captured = pytest.CaptureFixture[str]
GOOD = "alpha beta gamma\n"
ROOT = ".ai-factory/evolution"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("CI", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return folder


def rows(capsys: Captured, *flags: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["runs", "--json", *flags]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["runs"]
    return found


def lines(capsys: Captured, *flags: str) -> list[list[str]]:
    capsys.readouterr()
    assert main(["runs", *flags]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def left_loop(folder: Path, alias: str) -> None:
    """Leave a loop behind its first evaluation."""
    with Stage(folder).begin(Script(produce="x\n"), alias=alias) as loop:
        for event in history_of(loop):
            if event.kind == "evaluation_done":
                break


def test_the_runs_of_all_drivers_are_in_one_list(folder: Path, capsys: Captured) -> None:
    assert Project(folder).play() == 0
    IterateProject(folder, "ok", more="")
    main(["iterate", "run", "build", "-n", "1"])
    Stage(folder).play(Script(produce=GOOD), alias="words")
    left_loop(folder, "left")
    found = {(one["driver"], one["name"]): one for one in rows(capsys)}
    assert list(found) == [
        ("loop", "left"),
        ("pytest-loop", "make-the-tests-pass"),
        ("loop", "words"),
        ("iterate", "build"),
    ]
    words, left = found["loop", "words"], found["loop", "left"]
    assert (words["status"], words["score_exact"]) == ("completed, not verified", "1/1")
    assert (left["status"], left["interrupted"]) == ("running (interrupted)", True)
    session = found["pytest-loop", "make-the-tests-pass"]
    assert (session["iteration"], session["max_iterations"]) == (2, 4)
    assert session["spend"]["calls"] == 1
    build = found["iterate", "build"]
    assert (build["status"], build["iteration"], build["max_iterations"]) == ("completed", 1, 1)
    assert (build["score"], build["spend"]["unknown_cost_calls"]) == (None, 1)
    for one in found.values():
        assert one["started_at"] <= one["changed_at"]
        assert one["seconds"] >= 0
        assert "problem" not in one


@pytest.mark.parametrize(
    ("driver", "names"),
    [("loop", ["one"]), ("iterate", ["build"]), ("pytest-loop", [])],
)
def test_the_runs_of_one_driver(
    folder: Path, capsys: Captured, driver: str, names: list[str]
) -> None:
    left_loop(folder, "one")
    left_behind(IterateProject(folder), "interrupted")
    assert [one["name"] for one in rows(capsys, "--driver", driver)] == names


@pytest.mark.parametrize(("word", "meant"), [("lop", "loop"), ("Iterate", "iterate")])
def test_another_driver_is_refused(capsys: Captured, word: str, meant: str) -> None:
    assert main(["runs", "--driver", word]) == 4
    assert f"there is no driver {word!r} (did you mean {meant}?)" in capsys.readouterr().err


def test_a_pipe_gets_nine_fields_with_tabs(folder: Path, capsys: Captured) -> None:
    left_loop(folder, "one")
    left_behind(IterateProject(folder), "interrupted")
    loop, iterate = lines(capsys)
    assert [len(loop), len(iterate)] == [9, 9]
    assert loop[:3] == ["loop", "one", "running (interrupted)"]
    assert loop[5:] == ["1/4", "unknown", "0.000", "say words"]
    assert iterate == [
        *("iterate", "build", "interrupted", "2026-02-06T10:00:00Z", "5m32s", "5/10", "", "", ""),
    ]


@pytest.mark.parametrize(
    ("verb", "driver"), [(("loop", "list"), "loop"), (("iterate", "status"), "iterate")]
)
def test_the_list_of_a_driver_has_the_lines_of_the_list_of_all(
    folder: Path, capsys: Captured, verb: tuple[str, ...], driver: str
) -> None:
    left_loop(folder, "one")
    left_loop(folder, "two")
    left_behind(IterateProject(folder), "aborted", done=7, limit=0)
    every = lines(capsys)
    assert main([*verb]) == 0
    own = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert own == [line for line in every if line[0] == driver]


@pytest.mark.parametrize(
    ("verb", "first"),
    [
        (("loop", "status"), "Loop: one (running (interrupted))"),
        (("iterate", "status", "build"), "Procedure: build (interrupted)"),
    ],
)
def test_the_status_of_all_drivers_has_one_form(
    folder: Path, capsys: Captured, verb: tuple[str, ...], first: str
) -> None:
    left_loop(folder, "one")
    project = IterateProject(folder)
    left_behind(project, "interrupted")
    spend = {"calls": 2, "usd": 0.5}
    project.state_file.write_text(json.dumps({**project.state(), "spend": spend}))
    capsys.readouterr()
    assert main([*verb]) == 0
    told = capsys.readouterr().out.splitlines()
    labels = [line.partition(": ")[0] for line in told]
    shared = ["Iteration", "Started", "Time", "Spent", "Continue with"]
    assert told[0] == first
    assert [label for label in labels if label in shared] == shared


def test_a_terminal_gets_a_table(folder: Path) -> None:
    left_behind(IterateProject(folder), "aborted", done=7, limit=0)
    with Terminal(["runs"], folder, columns=120) as terminal:
        terminal.end()
        shown = terminal.everything
    head, _, row = [line.split() for line in shown.splitlines() if line.strip()]
    assert head == ["driver", "name", "status", "started", "duration", "iteration", "cost", "score"]
    assert row == ["iterate", "build", "aborted", "2026-02-06T10:00:00Z", "5m32s", "7"]


SPENDS = [
    ({"calls": 0}, ""),
    ({"calls": 2, "usd": 0.5}, "$0.5000"),
    ({"calls": 2, "usd": None, "unknown_cost_calls": 2}, "unknown"),
    ({"calls": 3, "usd": 0.25, "unknown_cost_calls": 1}, "at least $0.2500"),
]


@pytest.mark.parametrize(("spend", "cost"), SPENDS)
def test_what_a_run_cost_is_told_as_far_as_it_is_known(
    folder: Path, capsys: Captured, spend: dict[str, Any], cost: str
) -> None:
    project = IterateProject(folder)
    left_behind(project, "interrupted")
    project.state_file.write_text(json.dumps({**project.state(), "spend": spend}))
    ((*_, shown, _, _),) = lines(capsys)
    assert shown == cost


def break_history(folder: Path) -> str:
    left_loop(folder, "one")
    path = folder / ROOT / "one/history.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"seq"', b'"sqe"', 1))
    return "loop"


def lose_history(folder: Path) -> str:
    left_loop(folder, "one")
    (folder / ROOT / "one/history.jsonl").unlink()
    return "loop"


def break_state(folder: Path) -> str:
    left_behind(IterateProject(folder), "frozen")
    return "iterate"


def break_log(folder: Path) -> str:
    path = folder / ".rooda/log/build/20260206T100000Z.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("no JSON\n")
    return "iterate"


DAMAGES = [
    (break_history, "history.jsonl"),
    (lose_history, "its history is missing; run.json is kept"),
    (break_state, "status is 'frozen', not one of"),
    (break_log, "20260206T100000Z.jsonl holds no line of a log"),
]


@pytest.mark.parametrize(("damage", "problem"), DAMAGES)
def test_a_damaged_run_is_listed_with_what_is_wrong(
    folder: Path, capsys: Captured, damage: Any, problem: str
) -> None:
    driver = damage(folder)
    left_loop(folder, "whole")
    bad, whole = sorted(rows(capsys), key=lambda one: one["name"] == "whole")
    assert (bad["driver"], bad["status"]) == (driver, "damaged")
    assert problem in bad["problem"]
    assert "problem" not in whole
    shown = next(line for line in lines(capsys) if line[2] == "damaged")
    assert problem in shown[-1]


def test_two_runs_of_one_procedure_are_two_rows(folder: Path, capsys: Captured) -> None:
    project = IterateProject(folder, "ok")
    main(["iterate", "run", "build", "-n", "2"])
    (log,) = (folder / ".rooda/log/build").glob("*.jsonl")
    log.rename(log.with_name("20200101T000000Z.jsonl"))
    project.plan("fail")
    main(["iterate", "run", "build", "-n", "9"])
    found = [(one["status"], one["iteration"], one["max_iterations"]) for one in rows(capsys)]
    assert found == [("completed", 2, 2), ("aborted", 3, 9)]


def test_a_run_whose_log_has_no_end_was_interrupted(folder: Path, capsys: Captured) -> None:
    IterateProject(folder, "ok")
    main(["iterate", "run", "build", "-n", "1"])
    (log,) = (folder / ".rooda/log/build").glob("*.jsonl")
    whole = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole[:-1]) + whole[-1][:20])
    (one,) = rows(capsys)
    assert (one["status"], one["interrupted"], one["max_iterations"]) == ("interrupted", True, 1)


def test_an_empty_folder_has_none(folder: Path, capsys: Captured) -> None:
    assert rows(capsys) == []
    assert main(["runs"]) == 0
    assert f"There are no runs in {folder}" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("flags", [(), ("--json",), ("--watch",)])
def test_nothing_is_written(folder: Path, flags: tuple[str, ...]) -> None:
    left_loop(folder, "one")
    break_state(folder)
    break_log(folder)
    before = list(everything(folder))
    assert main(["runs", *flags]) == 0
    assert list(everything(folder)) == before


def everything(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    for path in sorted(folder.rglob("*")):
        yield str(path), path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b""


@pytest.mark.parametrize("word", ["soon", "0", "0.01"])
def test_what_is_no_time_between_two_looks_is_refused(capsys: Captured, word: str) -> None:
    assert main(["runs", f"--watch={word}"]) == 4
    assert "expected" in capsys.readouterr().err


def test_the_list_is_watched_until_no_run_is_at_work(folder: Path) -> None:
    project = IterateProject(folder)
    (folder / "agent.sh").write_text(
        "cat > prompt; touch hanging; while [ ! -e go ]; do sleep 0.01; done; echo did it\n"
    )
    with project.start("run", "build", "-n", "1") as run:
        project.wait_for("hanging")
        argv = [sys.executable, "-m", "pytest_reflex", "runs", "--watch", "0.1"]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None
            first = watch.stdout.readline().split("\t")
            (folder / "go").touch()
            last = watch.stdout.read().strip().splitlines()[-1].split("\t")
        assert (watch.returncode, run.wait()) == (0, 0)
    assert (first[2], last[2]) == ("running", "completed")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-02-06T10:00:00", "2026-02-06T10:00:00Z"),
        ("2026-02-06T12:00:00+02:00", "2026-02-06T10:00:00Z"),
        ("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59-12:00"),
        ("soon", "soon"),
        (7, "7"),
        (None, ""),
    ],
)
def test_a_time_is_shown_in_utc_and_one_that_is_none_as_it_is(text: Any, shown: str) -> None:
    run = {"name": "r", "status": "running", "started_at": text, "seconds": None,
           "iteration": None, "max_iterations": 0}  # fmt: skip
    told = status_text("Run", run, spend=Spend())
    started = [line for line in told.splitlines() if line.startswith("Started")]
    assert started == ([f"Started: {shown}"] if shown else [])
